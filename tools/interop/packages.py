"""Debian packages without installing them: downloaded through an apt of our own, and unpacked into a directory.

The machine's apt stays as it is. All that is taken from it is which mirror of Debian it uses, how it reaches that, and the keys it trusts.
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

# Releases a mirror of Debian is known by; of the others (Ubuntu's, vendors') it cannot be said what they have.
DEBIAN = ("oldstable", "stable", "testing", "bullseye", "bookworm", "trixie", "forky")
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class Unavailable(Exception):
    """The packages cannot be had on this machine; the message says why."""


@dataclass(frozen=True)
class PackageSet:
    """Packages that are unpacked together, with everything they depend on.

    `suites` are those apt looks in; what is asked for comes from the last of them if it is there.
    """

    name: str
    suites: tuple[str, ...]
    packages: tuple[str, ...]


def say(text: str) -> None:
    """Tells what takes time."""
    print(f"interop: {text}", file=sys.stderr, flush=True)


def run(command: list[str], what: str, environment: dict[str, str] | None = None) -> str:
    """What a program prints. Raises Unavailable, with its last words, if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=environment)
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or "it says nothing").splitlines()
        raise Unavailable(f"{what}: {command[0]} ended with {done.returncode}: {' / '.join(words[-3:])}")
    return done.stdout


def mirror() -> str:
    """The mirror of Debian this machine's apt uses."""
    targets = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"], "apt's sources")
    for line in targets.splitlines():
        address, release, component = line.split()
        if release in DEBIAN and component == "main":
            return address
    raise Unavailable("none of apt's sources is a mirror of Debian")


def unpack(package: Path, into: Path) -> None:
    """Unpacks a package. What it runs at its installation is not run."""
    run(["dpkg-deb", "-x", str(package), str(into)], f"unpacking {package.name}")


class PrivateApt:
    """An apt with sources, lists and archives of its own below a directory. It knows of no package that would be installed."""

    def __init__(self, directory: Path, suites: tuple[str, ...]):
        self.directory = directory
        shutil.rmtree(directory, ignore_errors=True)
        for part in ("none", "state/lists/partial", "cache/archives/partial", "log"):
            (directory / part).mkdir(parents=True)
        (directory / "status").touch()
        signed = f"[signed-by={KEYRING}] " if KEYRING.is_file() else ""
        address = mirror()
        (directory / "sources.list").write_text("".join(f"deb {signed}{address} {suite} main\n" for suite in suites))
        # Programs that apt is told to run after an update are the machine's affair; proxies and the like are ours too.
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
        """Downloads packages and what they depend on."""
        run(["apt-get", "-q", "update"], "lists of packages", self.environment)
        install = ["apt-get", "-q", "-y", "--no-install-recommends", "--download-only", "-t", wanted.suites[-1], "install"]
        run([*install, *wanted.packages], f"packages {', '.join(wanted.packages)}", self.environment)
        return sorted((self.directory / "cache/archives").glob("*.deb"))


def check_machine() -> None:
    """Raises Unavailable if no package of Debian for amd64 would run here."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise Unavailable(f"this is {sys.platform} on {platform.machine()}; the packages are for linux on x86_64")
    for program in ("apt-get", "apt-config", "dpkg-deb"):
        if shutil.which(program) is None:
            raise Unavailable(f"{program} is missing; this takes a Debian")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Held by one process at a time."""
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
