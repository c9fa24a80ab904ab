"""Results of a guest. QEMU is a stand-in here: a script in the loader's place that writes to the serial lines."""

from pathlib import Path

import pytest
from guest import Emulator, Guest, GuestError, one
from kernels import kernel
from packages import Unavailable

# The serial lines are files named by two arguments.
QEMU = """#!/bin/sh
for argument; do case $argument in file:*console*) console=${argument#file:} ;; file:*) output=${argument#file:} ;; esac; done
"""


@pytest.fixture
def emulator(tmp_path: Path) -> Emulator:
    kernel(tmp_path / "kernel")
    return Emulator(tmp_path / "qemu", tmp_path / "kernel")


def behave(emulator: Emulator, text: str) -> None:
    """Sets what the stand-in for QEMU does."""
    loader = emulator.qemu / "usr/lib64/ld-linux-x86-64.so.2"
    loader.parent.mkdir(parents=True, exist_ok=True)
    loader.write_text(QEMU + text)
    loader.chmod(0o755)


def run(emulator: Emulator, directory: Path, seconds: float = 20):
    return emulator.run(Guest(script="true\n", modules={"vfio-pci": "a=1"}), directory, seconds)


def test_output_and_status_come_back(emulator: Emulator, tmp_path: Path) -> None:
    behave(emulator, 'printf "a\\nb\\n" >"$output"; echo "stellar: script begins" >"$console"; sleep 0.2; echo "stellar: script ended with 3" >>"$console"')
    outcome = run(emulator, tmp_path)
    assert (outcome.output, outcome.status) == ("a\nb\n", 3)
    assert 0 < outcome.booted <= outcome.ended


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("echo panic >$console", "did not come up(.|\n)*panic"),
        ("echo 'no such device' >&2; exit 1", "did not come up(.|\n)*no such device"),
        ("echo 'stellar: script begins' >$console; exec sleep 60", "script did not end in"),
    ],
)
def test_a_guest_that_fails_is_told_of(emulator: Emulator, tmp_path: Path, text: str, message: str) -> None:
    behave(emulator, text)
    with pytest.raises(GuestError, match=message):
        run(emulator, tmp_path, 1)


def test_modules_are_listed_in_order_with_parameters(emulator: Emulator) -> None:
    from test_initramfs import entries

    files = {name: data for name, _, data in entries(emulator.initramfs(Guest(script="echo\n", modules={"vfio-pci": "a=1"})))}
    lines = [line.split() for line in files["modules/list"].decode().splitlines()]
    assert lines == [["vfio.ko"], ["irqbypass.ko"], ["vfio_pci_core.ko"], ["vfio_pci.ko", "a=1"]]
    assert all(f"modules/{line[0]}" in files for line in lines)
    assert files["script"] == b"echo\n"


def test_a_device_that_qemu_has_not_is_named(emulator: Emulator) -> None:
    behave(emulator, """case "$*" in *--version) echo 'QEMU emulator version 7.2' ;; *) echo 'name "vfio-pci", bus PCI' ;; esac""")
    emulator.require_device("vfio-pci")
    with pytest.raises(Unavailable, match="QEMU emulator version 7.2 has no device vfio-user-pci"):
        emulator.require_device("vfio-user-pci")


def test_what_is_there_twice_is_not_chosen(tmp_path: Path) -> None:
    for name in ("vmlinuz-1", "vmlinuz-2"):
        (tmp_path / name).touch()
    with pytest.raises(GuestError, match="2 paths are like vmlinuz-"):
        one(tmp_path, "vmlinuz-*")
