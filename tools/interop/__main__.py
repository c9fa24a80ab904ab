"""`./stellar interop`: the project's cards and driver with software of others."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))


def positive(text: str) -> float:
    """Parses a number above 0."""
    if not (number := float(text)) > 0:
        raise argparse.ArgumentTypeError("it takes a number above 0")
    return number


def bit(text: str) -> str:
    """Parses a bit of a header. Returns it in the syntax of stellar-cli."""
    if not re.fullmatch(r"\d+\.[0-7]", text):
        raise argparse.ArgumentTypeError(f"'{text}' names no bit; write BYTE.BIT, counted from the base transport header on")
    return text


def add_common(command: argparse.ArgumentParser, seconds: float) -> None:
    """Adds the options that every command has."""
    command.add_argument("--seconds", type=positive, default=seconds, help="longest the guest may run, on the wall (default: %(default)s)")
    command.add_argument("--required", action="store_true", help="fail where QEMU or a guest cannot be had, instead of skipping")


def arguments() -> argparse.ArgumentParser:
    """Parses the command line."""
    parser = argparse.ArgumentParser(prog="./stellar interop", description="the cards and the driver with other people's software")
    commands = parser.add_subparsers(dest="command", required=True)
    vfio = commands.add_parser("vfio", help="the driver in a Linux guest, through its kernel's VFIO, on Verilated cards")
    add_common(vfio, 300)
    rxe = commands.add_parser("rxe", help="a Verilated card against the soft-RoCE of a Linux guest, packet by packet (docs/interop.md)")
    chosen = rxe.add_mutually_exclusive_group()
    chosen.add_argument("--short", action="store_true", help="only the cases of the short form, which ./stellar test runs")
    chosen.add_argument("--case", action="append", default=[], metavar="NAME", help="only this case; may be given several times")
    chosen.add_argument("--list", action="store_true", help="name the cases and run none; those of the short form have a star")
    rxe.add_argument("--seed", type=int, help="seed of all data and of the link's faults (default: 1)")
    rxe.add_argument("--sim-mode", choices=("plain", "gated", "on-change"), help="how the card is simulated; plain: nothing is rewritten, slow (default: STELLAR_SIM_MODE, else on-change)")
    rxe.add_argument("--link", choices=("dgram", "stream"), default="dgram", help="kind of QEMU's socket (default: %(default)s)")
    rxe.add_argument("--flip", type=bit, metavar="BYTE.BIT", help="make a header bit of all packets of the card wrong: every case is to fail")
    rxe.add_argument("--directory", type=Path, default=Path("out/interop_rxe"), help="where the captures go (default: %(default)s)")
    add_common(rxe, 900)
    return parser


def run_rxe(options: argparse.Namespace, target: Path) -> int:
    """Runs `interop rxe`."""
    from programs import build
    from rxe import interop_rxe

    if options.list:
        return subprocess.run([build(target, "--bin", "stellar-cli") / "stellar-cli", "interop-rxe", "--list"], check=False).returncode
    passed = ["--directory", str(options.directory), *(["--short"] if options.short else [])]
    for name in options.case:
        passed += ["--case", name]
    for name in ("seed", "sim-mode", "flip"):
        if (value := getattr(options, name.replace("-", "_"))) is not None:
            passed += [f"--{name}", str(value)]
    return interop_rxe(ROOT / ".stellar/interop", target, passed, options.link, options.seconds)


def run_vfio(options: argparse.Namespace, target: Path) -> int:
    """Runs `interop vfio`."""
    from vfio import interop_vfio

    return interop_vfio(ROOT / ".stellar/interop", target, options.seconds)


def report(run: Callable[[], int], required: bool) -> int:
    """Runs a command, prints what prevents it from running, and returns the exit status."""
    from guest import GuestError
    from packages import Unavailable
    from sysroot import BuildError

    try:
        return run()
    except Unavailable as error:
        if not required:
            print(f"skipped: QEMU with a Linux guest cannot be had here: {error}")
            return 0
        print(f"error: {error}", file=sys.stderr)
    except (GuestError, BuildError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 1


def main() -> int:
    """Runs the command of the command line."""
    options = arguments().parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    run = run_rxe if options.command == "rxe" else run_vfio
    return report(lambda: run(options, target), options.required)


if __name__ == "__main__":
    sys.exit(main())
