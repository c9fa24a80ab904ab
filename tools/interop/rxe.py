"""`./stellar interop rxe`: a simulated card against the soft-RoCE of a Linux kernel.

The guest runs rdma_rxe on a network card of QEMU, and the program rdma_peer, which executes verbs commands from a serial port. `stellar-cli interop-rxe`
runs beside it with the simulated card. A bridge joins the card's port to QEMU's network card. That program controls both ends and judges the results.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import sysroot
from guest import Emulator, Guest, GuestError, end, last_words
from packages import PackageSet, provide, say
from programs import build, processor_time

RDMA = PackageSet("rdma", ("trixie",), ("ibverbs-providers", "iproute2", "libc6-dev", "libibverbs-dev"))
SOURCES = Path(__file__).parent / "rdma_peer"
# The provider library that libibverbs loads at run time, and the file that names it.
DRIVER, DRIVER_LIBRARY = "etc/libibverbs.d/rxe.driver", "librxe-rdmav34.so"

# The guest's end. The card's addresses end in 1 (sim/interop/src/card_end.rs).
MAC, IPV4, IPV6 = "02:00:00:00:00:02", "10.0.0.2", "fd00::2"
# Bytes of an IP packet: a path MTU of 4,096 and the headers of RoCEv2.
MTU = 4200
# rdma_rxe requests the algorithm crc32 by name. Its module file does not list that dependency.
MODULES = ("virtio_net", "virtio_console", "ipv6", "crc32_generic", "rdma_rxe", "ib_uverbs")
# Longest time in seconds until the guest has powered off after its last command, and until the program has ended after the guest.
FAREWELL = 30

SCRIPT = f"""
echo 0 >/proc/sys/net/ipv6/conf/eth0/router_solicitations
echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_ra
echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
ip link set lo up
ip link set eth0 mtu {MTU} up
ip addr add {IPV4}/24 dev eth0
ip addr add {IPV6}/64 dev eth0
rdma link add rxe0 type rxe netdev eth0
rdma_peer {IPV4} {IPV6}
"""


@dataclass(frozen=True)
class Sockets:
    """Sockets between guest and card. Their paths must be short enough for UNIX sockets."""

    directory: Path

    def __getattr__(self, name: str) -> Path:
        return self.directory / name

    def card(self, link: str) -> str:
        """The bridge's socket in the syntax of stellar-cli."""
        return f"dgram:{self.net}:{self.guest_net}" if link == "dgram" else f"listen:{self.net}"

    def netdev(self, link: str) -> str:
        """The bridge's socket in the syntax of QEMU."""
        if link == "dgram":
            return f"dgram,id=net,local.type=unix,local.path={self.guest_net},remote.type=unix,remote.path={self.net}"
        return f"stream,id=net,server=off,addr.type=unix,addr.path={self.net}"


def guest(files: dict[str, Path], sockets: Sockets, link: str) -> Guest:
    """A machine with a network card and a serial port for commands."""
    return Guest(
        script=SCRIPT,
        files=files,
        modules=dict.fromkeys(MODULES, ""),
        # Without the kernel's self-tests of its ciphers, the emulated guest boots in four fifths of the time.
        kernel_parameters=["cryptomgr.notests"],
        memory_mib=512,
        devices=[
            *("-netdev", sockets.netdev(link), "-device", f"virtio-net-pci,netdev=net,mac={MAC},romfile="),
            *("-chardev", f"socket,id=control,path={sockets.control},server=on,wait=off"),
            *("-device", "virtio-serial-pci", "-device", "virtserialport,chardev=control,name=control"),
            *("-qmp", f"unix:{sockets.qmp},server=on,wait=off"),
        ],
    )


def guest_files(state: Path, program: Path) -> dict[str, Path]:
    """The guest's program and all files it needs, by their paths in the guest. Raises Unavailable, BuildError."""
    root = provide(state, RDMA)
    sysroot.compile_program(root, SOURCES, ["ibverbs"], program)
    programs = {
        "bin/rdma_peer": program,
        "bin/rdma": root / "usr/bin/rdma",
        f"{sysroot.LIBRARIES}/libibverbs/{DRIVER_LIBRARY}": root / sysroot.LIBRARIES / "libibverbs" / DRIVER_LIBRARY,
    }
    return sysroot.closure(root, programs) | {DRIVER: root / DRIVER}


class CardEnd:
    """The host program with the simulated card."""

    def __init__(self, program: Path, arguments: list[str]):
        self.process = subprocess.Popen([program, "interop-rxe", *arguments], stdin=subprocess.DEVNULL)

    def __enter__(self) -> CardEnd:
        return self

    def __exit__(self, *_: object) -> None:
        end(self.process)

    def wait_for(self, socket: Path) -> bool:
        """Waits until a socket exists. Returns false if the program ends first. Building the model may take minutes."""
        while not socket.exists():
            if self.process.poll() is not None:
                return False
            time.sleep(0.05)
        return True

    def wait(self, logs: Path) -> int:
        """Waits for the end of the program and returns its exit status. `logs` is the directory of the guest's logs."""
        try:
            return self.process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            raise GuestError(f"the guest has ended, and the program with the card has not\n{last_words(logs)}") from None


def interop_rxe(state: Path, target: Path, options: list[str], link: str, seconds: float) -> int:
    """Runs it and returns the exit status. Raises Unavailable where there is no QEMU."""
    emulator = Emulator.provide(state)
    logs = state / "rxe"
    logs.mkdir(parents=True, exist_ok=True)
    files = guest_files(state, logs / "rdma_peer")
    program = build(target, "--bin", "stellar-cli") / "stellar-cli"
    began, worked = time.monotonic(), processor_time()
    with tempfile.TemporaryDirectory(prefix="stellar-") as short:
        sockets = Sockets(Path(short))
        arguments = ["--net", sockets.card(link), "--control", str(sockets.control), "--qmp", str(sockets.qmp), *options]
        with CardEnd(program, arguments) as card:
            if not card.wait_for(sockets.net):
                return card.process.wait()
            with emulator.start(guest(files, sockets, link), logs) as running:
                while card.process.poll() is None and not running.is_off():
                    if running.age() > seconds:
                        raise GuestError(f"not done after {seconds:.0f} s; --seconds allows more\n{last_words(logs)}")
                    time.sleep(0.05)
                status = card.wait(logs)
                if running.booted is None:
                    raise GuestError(f"the guest has not come up\n{last_words(logs)}")
                if status == 0 and (there := running.outcome(running.age() + FAREWELL)).status != 0:
                    raise GuestError(f"rdma_peer ended with {there.status} in the guest\n{last_words(logs)}")
    wall, worked = time.monotonic() - began, processor_time() - worked
    say(f"{emulator.version()}: the guest's script began after {running.booted:.1f} s")
    say(f"all of it: {wall:.1f} s, in which processors worked for {worked:.1f} s (logs: {os.path.relpath(logs)})")
    return status
