"""Tests the guest's file system: another parser reads it back."""

import gzip
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from initramfs import Initramfs, shared_libraries


def entries(packed: bytes) -> list[tuple[str, int, bytes]]:
    """Names, modes and contents of an archive, in order, its end included."""
    archive, at, found = gzip.decompress(packed), 0, []
    while at < len(archive):
        assert archive[at : at + 6] == b"070701" and at % 4 == 0
        fields = [int(archive[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, length = fields[1], fields[6], fields[11]
        name = archive[at + 110 : at + 110 + length]
        assert name.endswith(b"\0")
        data = (at + 110 + length + 3) & ~3
        found.append((name[:-1].decode(), mode, archive[data : data + size]))
        at = (data + size + 3) & ~3
    return found


def test_files_directories_and_links_are_read_back() -> None:
    files = Initramfs()
    files.file("/etc/motd", b"hello")
    files.file("etc/motd", b"what is there stays")
    files.symlink("bin/sh", "/bin/busybox")
    files.directory("proc")
    found = entries(files.packed())
    names = [name for name, _, _ in found]
    assert names == ["etc", "etc/motd", "bin", "bin/sh", "proc", "TRAILER!!!"]
    by_name = {name: (mode, data) for name, mode, data in found}
    assert by_name["etc/motd"] == (stat.S_IFREG | 0o644, b"hello")
    assert by_name["bin/sh"] == (stat.S_IFLNK | 0o777, b"/bin/busybox")
    assert stat.S_ISDIR(by_name["proc"][0])


def test_it_can_be_packed_twice_and_grow_between() -> None:
    files = Initramfs()
    files.file("a", b"1")
    first = files.packed()
    assert files.packed() == first
    files.file("b", b"2")
    assert [name for name, _, _ in entries(files.packed())] == ["a", "b", "TRAILER!!!"]


def test_a_program_comes_with_its_libraries() -> None:
    files = Initramfs()
    program = Path("/bin/sh").resolve()
    files.program("bin/shell", program)
    by_name = {name: data for name, _, data in entries(files.packed())}
    assert by_name["bin/shell"] == program.read_bytes()
    assert any("libc.so" in name for name in by_name)
    assert any("ld-linux" in name for name in by_name)


def test_what_loads_nothing_has_no_libraries() -> None:
    assert shared_libraries(Path(__file__)) == []


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def ldd(*_: object, **__: object) -> subprocess.CompletedProcess:
        return subprocess.CompletedProcess([], 0, "\tlinux-vdso.so.1 (0x1)\n\tlibfoo.so.2 => not found\n", "")

    monkeypatch.setattr(subprocess, "run", ldd)
    with pytest.raises(ValueError, match=r"needs libfoo\.so\.2, which is not on this machine"):
        shared_libraries(Path(sys.executable))
