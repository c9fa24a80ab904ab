"""Programs that run with libraries of unpacked Debian packages, not with those of this machine.

The unpacked packages are the compiler's `--sysroot`, so a program links with the libraries it will find in the guest, whatever release this machine has.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

LIBRARIES = "usr/lib/x86_64-linux-gnu"
LOADER = "lib64/ld-linux-x86-64.so.2"


class BuildError(Exception):
    """The program could not be built; the message says why."""


def prepare(root: Path) -> None:
    """Makes the links of a merged /usr. Debian's packages expect them from the package `base-files`, which nothing here depends on."""
    for name in ("lib", "lib64"):
        link = root / name
        if not link.exists():
            # Another process may do the same at this moment.
            temporary = root / f".{name}.{os.getpid()}"
            temporary.symlink_to(f"usr/{name}")
            temporary.replace(link)


def compile_program(root: Path, sources: Path, libraries: Iterable[str], into: Path) -> None:
    """Compiles all C files of a directory. Raises BuildError."""
    prepare(root)
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror"]
    files = sorted(str(path) for path in sources.glob("*.c"))
    root = root.resolve()
    # Without these two, the linker finds this machine's start files and C library beside the compiler first.
    places = [f"-B{root}/{LIBRARIES}/", f"-L{root}/{LIBRARIES}"]
    command = ["gcc", f"--sysroot={root}", *places, *flags, "-o", str(into), *files, *(f"-l{name}" for name in libraries)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"gcc cannot build {into.name}:\n{done.stderr.strip()}")


def needed(program: Path) -> list[str]:
    """Names of the shared libraries that a program or library asks for (`DT_NEEDED`)."""
    done = subprocess.run(["readelf", "-d", str(program)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"readelf {program}: {done.stderr.strip()}")
    return re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout)


def closure(root: Path, programs: dict[str, Path]) -> dict[str, Path]:
    """The programs, by their paths in the guest, and every library of `root` that they need, the loader too.

    Raises BuildError for a library that is not there.
    """
    files, waiting = dict(programs), list(programs.values())
    files[LOADER] = root / "usr" / LOADER
    while waiting:
        for name in needed(waiting.pop()):
            place = f"{LIBRARIES}/{name}"
            if place in files or name == Path(LOADER).name:
                continue
            path = root / place
            if not path.is_file():
                raise BuildError(f"{name} is not in {root}; remove the directory to have it made anew")
            files[place] = path
            waiting.append(path)
    return files
