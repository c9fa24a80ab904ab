"""Programs for the guest: the libraries they are built against, and their dependencies."""

import shutil
from pathlib import Path

import pytest
import sysroot
from sysroot import LIBRARIES, LOADER, BuildError, closure, compile_program, prepare


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An unpacked tree with libraries that depend on each other, and a `readelf` that reads text files."""
    libraries = tmp_path / "root" / LIBRARIES
    libraries.mkdir(parents=True)
    (tmp_path / "root/usr/lib64").mkdir()
    for name, asks in {"libverbs.so.1": "libnl.so.3 libc.so.6", "libnl.so.3": "libc.so.6", "libc.so.6": "ld-linux-x86-64.so.2"}.items():
        (libraries / name).write_text(asks)
    return tmp_path / "root"


@pytest.fixture(autouse=True)
def needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysroot, "needed", lambda path: path.read_text().split())


def test_a_program_brings_all_it_needs_and_the_loader(root: Path, tmp_path: Path) -> None:
    program = tmp_path / "peer"
    program.write_text("libverbs.so.1 libc.so.6")
    files = closure(root, {"bin/peer": program})
    libraries = {f"{LIBRARIES}/{name}" for name in ("libverbs.so.1", "libnl.so.3", "libc.so.6")}
    assert set(files) == libraries | {"bin/peer", LOADER}
    assert all(files[name] == root / name for name in libraries)


def test_a_library_that_is_missing_is_named(root: Path, tmp_path: Path) -> None:
    program = tmp_path / "peer"
    program.write_text("libmissing.so.7")
    with pytest.raises(BuildError, match=r"libmissing\.so\.7 is not in"):
        closure(root, {"bin/peer": program})


def test_links_of_a_merged_usr_are_made_once(root: Path) -> None:
    for _ in range(2):
        prepare(root)
    assert (root / "lib" / "x86_64-linux-gnu/libc.so.6").is_file()
    assert sorted(path.name for path in root.iterdir()) == ["lib", "lib64", "usr"]


def test_what_the_compiler_says_is_told(root: Path, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "bad.c").write_text("int main(void) { return nothing; }\n")
    with pytest.raises(BuildError, match=r"gcc cannot build peer:(.|\n)*nothing"):
        compile_program(root, sources, [], tmp_path / "peer")


def test_readelf_reads_a_real_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert any(name.startswith("libc.so") for name in sysroot.needed(Path(shutil.which("gcc")).resolve()))
