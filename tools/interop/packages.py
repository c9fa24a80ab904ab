"""Debian packages without installing them: downloaded through an apt of our own, and unpacked into a directory.

The machine's apt does not change. This module takes only three things from it: its mirror of Debian, the way to reach the mirror, and the keys that
it trusts.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# Known names of Debian releases. The packages of other distributions (Ubuntu, vendors) are unknown.
DEBIAN = ("oldstable", "stable", "testing", "bullseye", "bookworm", "trixie", "forky")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class Unavailable(Exception):
    """The packages are not available on this machine; the message has the reason."""


@dataclass(frozen=True)
class PackageSet:
    """Packages that are unpacked together, with everything they depend on.

    apt searches in `suites`; the named packages come from the last one that has them.
    """

    name: str
    suites: tuple[str, ...]
    packages: tuple[str, ...]


def say(text: str) -> None:
    """Announces a step that takes time."""
    print(f"interop: {text}", file=sys.stderr, flush=True)


def run(command: list[str], what: str, environment: dict[str, str] | None = None) -> str:
    """The output of a program. Raises Unavailable, with the end of the output, if the program fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=environment)
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or "it says nothing").splitlines()
        raise Unavailable(f"{what}: {command[0]} ended with {done.returncode}: {' / '.join(words[-3:])}")
    return done.stdout


def mirror() -> str:
    """The mirror of Debian that this machine's apt uses."""
    targets = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"], "apt's sources")
    for line in targets.splitlines():
        address, release, component = line.split()
        if release in DEBIAN and component == "main":
            return address
    raise Unavailable("none of apt's sources is a mirror of Debian")


def unpack(package: Path, into: Path) -> None:
    """Unpacks a package. Its installation scripts do not run."""
    run(["dpkg-deb", "-x", str(package), str(into)], f"unpacking {package.name}")


class PrivateApt:
    """An apt with its own sources, lists and archives below a directory. For it, no package is installed."""

    def __init__(self, directory: Path, suites: tuple[str, ...]):
        self.directory = directory
        shutil.rmtree(directory, ignore_errors=True)
        for part in ("none", "state/lists/partial", "cache/archives/partial", "log"):
            (directory / part).mkdir(parents=True)
        (directory / "status").touch()
        signed = f"[signed-by={KEYRING}] " if KEYRING.is_file() else ""
        address = mirror()
        (directory / "sources.list").write_text("".join(f"deb {signed}{address} {suite} main\n" for suite in suites))
        # Programs that the machine's apt runs after an update must not run here; its proxy settings apply.
        ways = [line for line in run(["apt-config", "dump", "Acquire"], "apt's configuration").splitlines() if line.startswith("Acquire::http")]
        places = {
            "Dir::Etc::main": "none/apt.conf",
            "Dir::Etc::parts": "none",
            "Dir::Etc::sourcelist": "sources.list",
            "Dir::Etc::sourceparts": "none",
            "Dir::Etc::preferences": "none/preferences",
            "Dir::Etc::preferencesparts": "none",
            "Dir::State": "state",
            "Dir::State::status": "status",
            "Dir::Cache": "cache",
            "Dir::Log": "log",
        }
        settings = {"Acquire::Languages": "none", "Acquire::Retries": "2", "APT::Sandbox::User": "root", "APT::Architecture": "amd64"}
        settings |= {key: str(directory / place) for key, place in places.items()}
        configuration = directory / "apt.conf"
        configuration.touch(mode=0o600)
        configuration.write_text("\n".join([*ways, *(f'{key} "{value}";' for key, value in settings.items())]) + "\n")
        self.environment = os.environ | {"APT_CONFIG": str(configuration), "DEBIAN_FRONTEND": "noninteractive"}

    def download(self, wanted: PackageSet) -> list[Path]:
        """Downloads packages and their dependencies."""
        run(["apt-get", "-q", "update"], "lists of packages", self.environment)
        install = ["apt-get", "-q", "-y", "--no-install-recommends", "--download-only", "-t", wanted.suites[-1], "install"]
        run([*install, *wanted.packages], f"packages {', '.join(wanted.packages)}", self.environment)
        return sorted((self.directory / "cache/archives").glob("*.deb"))


def check_machine() -> None:
    """Raises Unavailable if a Debian package for amd64 cannot run here."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise Unavailable(f"this is {sys.platform} on {platform.machine()}; the packages are for linux on x86_64")
    for program in ("apt-get", "apt-config", "dpkg-deb"):
        if shutil.which(program) is None:
            raise Unavailable(f"{program} is missing; this takes a Debian")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """A lock for one process at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def provide(state: Path, wanted: PackageSet) -> Path:
    """The directory in which a set of packages is unpacked. Downloads it, unless an earlier call has. Raises Unavailable."""
    check_machine()
    root, stamp = state / wanted.name, state / f"{wanted.name}.json"
    description = json.dumps([wanted.suites, wanted.packages])
    with locked(state / "lock"):
        if stamp.is_file() and stamp.read_text() == description and root.is_dir():
            return root
        if os.environ.get("STELLAR_NO_INSTALL"):
            raise Unavailable(f"the packages of '{wanted.name}' have not been downloaded, and STELLAR_NO_INSTALL is set: run this once without it")
        stamp.unlink(missing_ok=True)
        began = time.monotonic()
        say(f"downloading {', '.join(wanted.packages)} and what they need ({wanted.suites[-1]})")
        apt = PrivateApt(state / "apt", wanted.suites)
        archives = apt.download(wanted)
        say(f"unpacking {len(archives)} packages, {sum(archive.stat().st_size for archive in archives) >> 20} MiB")
        shutil.rmtree(root, ignore_errors=True)
        for archive in archives:
            unpack(archive, root)
        shutil.rmtree(apt.directory)
        stamp.write_text(description)
        say(f"packages of '{wanted.name}' are in {root} ({time.monotonic() - began:.0f} s)")
    return root
