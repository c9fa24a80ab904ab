"""Builds programs against the libraries of unpacked Debian packages instead of those of this machine.

The unpacked packages are the compiler's `--sysroot`. So a program links with the libraries that the guest has, whatever release this machine runs.
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
    """Creates the symbolic links of a merged /usr. Only the package `base-files` contains them, and no package here depends on it."""
    for name in ("lib", "lib64"):
        link = root / name
        if not link.exists():
            # Another process may create the link at the same time.
            temporary = root / f".{name}.{os.getpid()}"
            temporary.symlink_to(f"usr/{name}")
            temporary.replace(link)


def compile_program(root: Path, sources: Path, libraries: Iterable[str], into: Path) -> None:
    """Compiles all C files of a directory. Raises BuildError."""
    prepare(root)
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror"]
    files = sorted(str(path) for path in sources.glob("*.c"))
    root = root.resolve()
    # Without these options, the linker uses this machine's start files and C library.
    places = [f"-B{root}/{LIBRARIES}/", f"-L{root}/{LIBRARIES}"]
    command = ["gcc", f"--sysroot={root}", *places, *flags, "-o", str(into), *files, *(f"-l{name}" for name in libraries)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"gcc cannot build {into.name}:\n{done.stderr.strip()}")


def needed(program: Path) -> list[str]:
    """Names of the shared libraries that a program or library needs (`DT_NEEDED`)."""
    done = subprocess.run(["readelf", "-d", str(program)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"readelf {program}: {done.stderr.strip()}")
    return re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout)


def closure(root: Path, programs: dict[str, Path]) -> dict[str, Path]:
    """The programs and every library of `root` that they need, with the loader, by their paths in the guest.

    Raises BuildError if a library is missing.
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
