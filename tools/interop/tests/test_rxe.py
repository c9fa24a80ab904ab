"""Results of guest and card, both of them stand-ins: the guest is the script of test_guest, the card a shell script."""

from pathlib import Path

import pytest
import rxe
from guest import Emulator, GuestError
from kernels import kernel
from test_guest import behave

BEGINS, ENDS = 'echo "stellar: script begins" >"$console"; ', '; echo "stellar: script ended with 0" >>"$console"'


@pytest.fixture
def emulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Emulator:
    tree = kernel(tmp_path / "kernel")
    (tree / "modules.builtin").write_text("".join(f"kernel/{name}.ko\n" for name in rxe.MODULES))
    emulator = Emulator(tmp_path / "qemu", tmp_path / "kernel")
    monkeypatch.setattr(rxe.Emulator, "provide", lambda _: emulator)
    monkeypatch.setattr(rxe.Emulator, "version", lambda _: "a stand-in")
    monkeypatch.setattr(rxe, "guest_files", lambda *_: {})
    monkeypatch.setattr(rxe, "build", lambda *_: tmp_path)
    monkeypatch.setattr(rxe, "FAREWELL", 1)
    return emulator


def run(tmp_path: Path, card: str, link: str = "dgram", seconds: float = 20) -> int:
    """`card` is the script of the stand-in for stellar-cli; `$net` is its socket."""
    program = tmp_path / "stellar-cli"
    program.write_text(f'#!/bin/sh\necho "$@" >"{tmp_path}/arguments"\nnet=${{3#*:}}; net=${{net%%:*}}\n{card}\n')
    program.chmod(0o755)
    return rxe.interop_rxe(tmp_path / "state", tmp_path, ["--short"], link, seconds)


@pytest.mark.parametrize("link", ["dgram", "stream"])
def test_the_status_is_that_of_the_program_with_the_card(emulator: Emulator, tmp_path: Path, link: str) -> None:
    behave(emulator, BEGINS + "sleep 1" + ENDS)
    assert run(tmp_path, 'touch "$net"; sleep 0.3; exit 0', link) == 0
    assert run(tmp_path, 'touch "$net"; sleep 0.3; exit 1', link) == 1
    words = (tmp_path / "arguments").read_text().split()
    assert words[:2] == ["interop-rxe", "--net"] and words[-1] == "--short"
    assert words[2].startswith("dgram:" if link == "dgram" else "listen:")
    netdev = (tmp_path / "state/rxe/command.log").read_text()
    assert f"{link},id=net" in netdev


def test_a_program_that_fails_first_needs_no_guest(emulator: Emulator, tmp_path: Path) -> None:
    behave(emulator, 'touch "$console.started"')
    assert run(tmp_path, "exit 2") == 2
    assert not list((tmp_path / "state/rxe").glob("*.started"))


@pytest.mark.parametrize(
    ("guest", "card", "message"),
    [
        ("echo 'no such device' >&2", 'touch "$net"; exec sleep 30', "the program with the card has not(.|\n)*no such device"),
        ("echo 'no such device' >&2; sleep 0.3", 'touch "$net"; sleep 0.6; exit 1', "has not come up(.|\n)*no such device"),
        (BEGINS + "exec sleep 30", 'touch "$net"; exec sleep 30', "not done after 1 s"),
        (BEGINS + "exec sleep 30", 'touch "$net"; sleep 0.5; exit 0', "script did not end"),
        (BEGINS + "sleep 0.3" + ENDS.replace("with 0", "with 1"), 'touch "$net"; sleep 0.2; exit 0', "rdma_peer ended with 1"),
    ],
)
def test_what_goes_wrong_is_told(emulator: Emulator, tmp_path: Path, guest: str, card: str, message: str) -> None:
    behave(emulator, guest)
    with pytest.raises(GuestError, match=message):
        run(tmp_path, card, seconds=1)
