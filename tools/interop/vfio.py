"""`./stellar interop vfio`: the driver through a guest's VFIO.

The same program runs twice, and must print the same. The first time it simulates the cards itself. The second time it runs in the guest and opens two
cards, whose functions are bound to vfio-pci: the guest's kernel maps their BARs into it, pins its memory and programs the virtual IOMMU. QEMU passes all of that on to
`./stellar serve`, which simulates the cards.
"""

from __future__ import annotations

import difflib
import os
import subprocess
import tempfile
import time
from pathlib import Path

from guest import Emulator, Guest, GuestError, end, last_words
from packages import say
from programs import build, processor_time

# How many times slower than a real card the simulated cards are assumed to be. The driver's timeouts are multiplied by it.
SLOWER = 2000
# Longest time in seconds of a message from QEMU to the server. A reset has to be simulated in this time.
PATIENCE = 60
# Of the control functions, which the program is given, and of the data functions, which it has to find. Their order differs.
SLOTS = ("05", "06")
DATA_SLOTS = ("08", "07")
CARDS, DATA_FUNCTIONS = ([f"0000:00:{slot}.0" for slot in slots] for slots in (SLOTS, DATA_SLOTS))

# Device control of a card: payloads of 256 bytes, reads of 512, as in the simulated hosts. Linux itself would choose payloads of 1,024 bytes, the
# card's largest, because there is no bridge above the card.
DEVICE_CONTROL, SIZES = 0x48, r"\040\040"

SCRIPT = f"""
for function in {" ".join(CARDS + DATA_FUNCTIONS)}; do
    printf '{SIZES}' | dd of=/sys/bus/pci/devices/$function/config bs=2 seek={DEVICE_CONTROL // 2} conv=notrunc 2>/dev/null
    echo vfio-pci >/sys/bus/pci/devices/$function/driver_override
    echo $function >/sys/bus/pci/drivers_probe
done
bring_up --vfio {" ".join(CARDS)} --slower {SLOWER}
"""


def guest(program: Path, sockets: list[Path]) -> Guest:
    """A machine with a virtual IOMMU and the cards at two sockets."""
    devices = ["-device", "intel-iommu,caching-mode=on,intremap=off"]
    data_sockets = [socket.with_suffix(".data.sock") for socket in sockets]
    for slot, socket in zip(SLOTS + DATA_SLOTS, sockets + data_sockets, strict=True):
        path = f'"socket":{{"type":"unix","path":"{socket}"}}'
        devices += ["-device", f'{{"driver":"vfio-user-pci",{path},"addr":"{slot}.0","x-msg-timeout":{PATIENCE * 1000}}}']
    return Guest(
        script=SCRIPT,
        programs={"bin/bring_up": program},
        # Without interrupt remapping, VFIO needs this option, which says that the guest trusts its devices.
        modules={"vfio_iommu_type1": "allow_unsafe_interrupts=1", "vfio-pci": ""},
        kernel_parameters=["intel_iommu=on"],
        devices=devices,
    )


class Server:
    """Two cards at sockets in a directory. It takes a while until the sockets exist."""

    def __init__(self, program: Path, directory: Path, log: Path):
        self.sockets = [directory / f"nic{number}.sock" for number in (0, 1)]
        self._log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen([program, "serve", directory], stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        end(self._process)

    def wait(self) -> None:
        """Returns when both sockets exist."""
        while not all(socket.exists() for socket in self.sockets):
            if self._process.poll() is not None:
                raise GuestError(f"the server of the cards has ended:\n{self._log.read_text(errors='replace')}")
            time.sleep(0.05)


def interop_vfio(state: Path, target: Path, seconds: float) -> int:
    """Runs `interop vfio`. Raises Unavailable where there is no QEMU."""
    emulator = Emulator.provide(state)
    emulator.require_device("vfio-user-pci")
    built = build(target, "--bin", "stellar-cli", "--example", "bring_up")
    server, program = built / "stellar-cli", built / "examples/bring_up"
    logs = state / "vfio"
    logs.mkdir(parents=True, exist_ok=True)
    stripped = logs / "bring_up"
    # Debug information is removed, because the guest would have to unpack it.
    subprocess.run(["strip", "-o", stripped, program], check=True)
    began, worked = time.monotonic(), processor_time()
    # The path of a socket must be short, but the path of the checkout may be long.
    with tempfile.TemporaryDirectory(prefix="stellar-") as short, Server(server, Path(short), logs / "serve.log") as cards:
        here = subprocess.run([program], capture_output=True, text=True, check=False)
        if here.returncode != 0:
            raise GuestError(f"{program.name} fails in this process:\n{here.stderr}")
        cards.wait()
        say(f"in this process, while the server starts: {time.monotonic() - began:.1f} s")
        there = emulator.run(guest(stripped, cards.sockets), logs, seconds)
    wall, worked = time.monotonic() - began, processor_time() - worked
    say(f"{emulator.version()}: the guest was up after {there.booted:.1f} s and off after {there.ended:.1f} s")
    say(f"all of it: {wall:.1f} s, in which processors worked for {worked:.1f} s")
    if there.status != 0:
        raise GuestError(f"{program.name} ended with {there.status} in the guest\n{last_words(logs)}")
    if there.output != here.stdout:
        lines = difflib.unified_diff(here.stdout.splitlines(), there.output.splitlines(), "in this process", "in the guest", lineterm="")
        raise GuestError("the guest prints something else:\n" + "\n".join(lines))
    print(here.stdout, end="")
    print(f"the same {len(here.stdout.splitlines())} lines in this process and in the guest, through the VFIO of its kernel (logs: {os.path.relpath(logs)})")
    return 0
