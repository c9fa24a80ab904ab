"""An initial file system for a Linux guest: an archive in cpio's format `newc`, compressed with gzip.

The format is described in the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.
"""

from __future__ import annotations

import gzip
import stat
import subprocess
from pathlib import Path

ALIGNMENT = 4


class Initramfs:
    """Files of the guest, collected in memory."""

    def __init__(self) -> None:
        self._archive = bytearray()
        self._names: set[str] = set()

    def _add(self, name: str, mode: int, data: bytes) -> None:
        name = name.strip("/")
        if name in self._names:
            return
        parent = name.rpartition("/")[0]
        if parent:
            self._add(parent, stat.S_IFDIR | 0o755, b"")
        self._names.add(name)
        self._append(name, mode, data)

    def _append(self, name: str, mode: int, data: bytes) -> None:
        path = name.encode() + b"\0"
        number = len(self._names)
        # Inode, mode, owner, group, links, time, size, four numbers of devices, length of the name, checksum (none).
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        self._archive += b"070701" + b"".join(b"%08x" % field for field in fields) + path
        self._pad()
        self._archive += data
        self._pad()

    def _pad(self) -> None:
        self._archive += bytes(-len(self._archive) % ALIGNMENT)

    def directory(self, name: str) -> None:
        """An empty directory."""
        self._add(name, stat.S_IFDIR | 0o755, b"")

    def file(self, name: str, data: bytes, mode: int = 0o644) -> None:
        """A file. Missing directories are made; an existing file stays."""
        self._add(name, stat.S_IFREG | mode, data)

    def symlink(self, name: str, target: str) -> None:
        """A symbolic link."""
        self._add(name, stat.S_IFLNK | 0o777, target.encode())

    def program(self, name: str, path: Path) -> None:
        """A program of this machine and its shared libraries, at the paths where the program looks for them."""
        self.file(name, path.read_bytes(), 0o755)
        for library in shared_libraries(path):
            self.file(str(library), library.read_bytes(), 0o755)

    def packed(self) -> bytes:
        """The archive."""
        archive = Initramfs()
        archive._archive[:] = self._archive
        archive._append("TRAILER!!!", 0, b"")
        # The guest unpacks it under emulation, so a high compression level gains little.
        return gzip.compress(bytes(archive._archive), compresslevel=1, mtime=0)


def shared_libraries(program: Path) -> list[Path]:
    """The files that the loader loads for a program, with the loader itself; none for a static program."""
    done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        if "not a dynamic executable" in done.stderr + done.stdout:
            return []
        raise ValueError(f"ldd {program}: {done.stderr.strip()}")
    found = []
    for line in done.stdout.splitlines():
        name, _, place = line.strip().rpartition("=> ")
        if place.startswith("not found"):
            raise ValueError(f"{program} needs {name.strip()}, which is not on this machine")
        path = place.split(" (")[0]
        if path.startswith("/"):
            found.append(Path(path))
    return found
