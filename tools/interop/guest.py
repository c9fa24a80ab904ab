"""A Linux guest under QEMU: Debian's kernel, an initial file system of ours, one script, and the script's output.

QEMU emulates the processor in software, so it needs no privileges and no special hardware. QEMU and the kernel come from Debian packages, which are
unpacked and not installed.
"""

from __future__ import annotations

import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from initramfs import Initramfs
from modules import closure
from packages import PackageSet, Unavailable, provide

# vfio-user-pci is in QEMU from 10.1 on.
QEMU = PackageSet("qemu", ("trixie", "trixie-backports"), ("qemu-system-x86",))
KERNEL = PackageSet("guest", ("trixie",), ("linux-image-amd64", "busybox-static"))

# The first program in the guest. The first serial line is the console; the second carries the script's output, byte for byte.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r file parameters; do
    insmod "/modules/$file" $parameters || echo "stellar: module $file: not loaded"
done < /modules/list
stty -F /dev/ttyS1 raw
echo "stellar: script begins"
sh /script >/dev/ttyS1 2>/dev/console
status=$?
echo "stellar: script ended with $status"
poweroff -f
"""
BEGUN, ENDED = "stellar: script begins", "stellar: script ended with "


class GuestError(Exception):
    """The guest did not do what it was started for."""


@dataclass
class Guest:
    """What a guest is started with: script, files, kernel modules and devices."""

    script: str
    programs: dict[str, Path] = field(default_factory=dict)
    # Further files by their paths in the guest.
    files: dict[str, Path] = field(default_factory=dict)
    # Modules and their parameters.
    modules: dict[str, str] = field(default_factory=dict)
    kernel_parameters: list[str] = field(default_factory=list)
    machine: str = "q35"
    memory_mib: int = 768
    # Further arguments of QEMU.
    devices: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """Result of a guest that has ended."""

    output: str
    status: int
    # Wall time, seconds: until the script began, and until the machine was off.
    booted: float
    ended: float


@dataclass(frozen=True)
class Emulator:
    """QEMU and a guest's kernel, unpacked."""

    qemu: Path
    kernel: Path

    @classmethod
    def provide(cls, state: Path) -> Emulator:
        """Downloads missing packages. Raises Unavailable."""
        return cls(provide(state, QEMU), provide(state, KERNEL))

    def command(self, *arguments: str) -> list[str]:
        """QEMU with arguments. It has its own C library, so it is started through the loader of that library."""
        usr = self.qemu / "usr"
        loader = [str(usr / "lib64/ld-linux-x86-64.so.2"), "--library-path", str(usr / "lib/x86_64-linux-gnu")]
        firmware = ["-L", str(usr / "share/qemu"), "-L", str(usr / "share/seabios")]
        return [*loader, str(usr / "bin/qemu-system-x86_64"), *firmware, *arguments]

    def version(self) -> str:
        """QEMU's version."""
        return self._ask("--version").splitlines()[0]

    def require_device(self, name: str) -> None:
        """Raises Unavailable if this QEMU has no such device."""
        if f'name "{name}"' not in self._ask("-device", "help"):
            raise Unavailable(f"{self.version()} has no device {name}")

    def _ask(self, *arguments: str) -> str:
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise GuestError(f"QEMU {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def initramfs(self, guest: Guest) -> bytes:
        """The guest's file system."""
        files = Initramfs()
        for directory in ("bin", "dev", "proc", "sys", "tmp"):
            files.directory(directory)
        files.file("bin/busybox", (self.kernel / "usr/bin/busybox").read_bytes(), 0o755)
        files.file("init", INIT.encode(), 0o755)
        files.file("script", guest.script.encode())
        for name, path in guest.programs.items():
            files.program(name, path)
        for name, path in guest.files.items():
            files.file(name, path.read_bytes(), 0o755)
        loaded = closure(one(self.kernel, "usr/lib/modules/*"), list(guest.modules))
        parameters = {name.replace("-", "_"): text for name, text in guest.modules.items()}
        files.file("modules/list", "".join(f"{name}.ko {parameters.get(name, '')}\n" for name, _ in loaded).encode())
        for name, data in loaded:
            files.file(f"modules/{name}.ko", data)
        return files.packed()

    @contextmanager
    def start(self, guest: Guest, directory: Path) -> Iterator[Running]:
        """Starts a guest, and terminates it at the end of the block if it still runs. Its logs and those of QEMU stay in `directory`."""
        initramfs, console, output, words = (directory / name for name in ("initramfs.gz", "console.log", "output.log", "qemu.log"))
        initramfs.write_bytes(self.initramfs(guest))
        for log in (console, output):
            log.write_bytes(b"")
        command = self.command(
            *("-machine", f"{guest.machine},accel=tcg,memory-backend=memory", "-cpu", "max", "-smp", "1", "-m", f"{guest.memory_mib}M"),
            # Memory is a file, so that other processes can map it for their devices.
            *("-object", f"memory-backend-memfd,id=memory,size={guest.memory_mib}M,share=on"),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-serial", f"file:{console}", "-serial", f"file:{output}"),
            *("-kernel", str(one(self.kernel, "boot/vmlinuz-*")), "-initrd", str(initramfs)),
            *("-append", " ".join(["console=ttyS0", "panic=-1", "quiet", *guest.kernel_parameters])),
            *guest.devices,
        )
        (directory / "command.log").write_text(shlex.join(command) + "\n")
        with words.open("wb") as log:
            running = Running(directory, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log), time.monotonic())
            try:
                yield running
            finally:
                end(running.process)

    def run(self, guest: Guest, directory: Path, seconds: float) -> Outcome:
        """Starts a guest and waits until it has powered off.

        Raises GuestError if the guest or its script does not end in time.
        """
        with self.start(guest, directory) as running:
            return running.outcome(seconds)


@dataclass
class Running:
    """A running guest."""

    directory: Path
    process: subprocess.Popen
    # Start time on the monotonic clock, in seconds.
    began: float
    # Seconds from the start to the beginning of the script, after it has begun.
    booted: float | None = None

    def age(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    def console(self) -> str:
        """The console's output."""
        return (self.directory / "console.log").read_text(errors="replace")

    def is_off(self) -> bool:
        """Whether the guest is off. Also records when the script begins."""
        off = self.process.poll() is not None
        if self.booted is None and BEGUN in self.console():
            self.booted = self.age()
        return off

    def outcome(self, seconds: float) -> Outcome:
        """Waits until the guest is off, at most `seconds` after its start. Raises GuestError if it does not end, or its script has not ended."""
        while not self.is_off() and self.age() < seconds:
            time.sleep(0.05)
        end(self.process)
        ended = self.age()
        if self.booted is None:
            raise GuestError(f"the guest did not come up in {ended:.0f} s\n{last_words(self.directory)}")
        _, found, rest = self.console().partition(ENDED)
        if not found:
            raise GuestError(f"the guest's script did not end in {ended:.0f} s\n{last_words(self.directory)}")
        output = (self.directory / "output.log").read_text(errors="replace")
        return Outcome(output, int(rest.split()[0]), self.booted, ended)


def one(directory: Path, pattern: str) -> Path:
    """The only path that matches a pattern."""
    found = list(directory.glob(pattern))
    if len(found) != 1:
        raise GuestError(f"{directory}: {len(found)} paths are like {pattern}; remove the directory to have it made anew")
    return found[0]


def end(process: subprocess.Popen) -> None:
    """Ends a process that this module started, if it still runs."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def last_words(directory: Path) -> str:
    """The last lines of the output of a guest and its QEMU."""
    said = []
    for name in ("qemu.log", "console.log", "output.log"):
        path = directory / name
        lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
        said += [f"--- {path}", *lines[-15:]]
    return "\n".join(said)
