"""`./stellar interop`: the project's cards and driver with other people's software."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).parent))


def main() -> int:
    """The command line."""
    from guest import GuestError
    from packages import Unavailable
    from vfio import interop_vfio

    parser = argparse.ArgumentParser(prog="./stellar interop", description="the cards and the driver with other people's software")
    commands = parser.add_subparsers(dest="command", required=True)
    vfio = commands.add_parser("vfio", help="the driver in a Linux guest, through its kernel's VFIO, on Verilated cards")
    vfio.add_argument("--seconds", type=float, default=300, help="longest the guest may run, on the wall (default: %(default)s)")
    vfio.add_argument("--required", action="store_true", help="fail where QEMU or a guest cannot be had, instead of skipping")
    options = parser.parse_args()
    if options.seconds <= 0:
        parser.error("--seconds takes a number above 0")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    try:
        return interop_vfio(ROOT / ".stellar/interop", target, options.seconds)
    except Unavailable as error:
        if not options.required:
            print(f"skipped: QEMU with a Linux guest cannot be had here: {error}")
            return 0
        print(f"error: {error}", file=sys.stderr)
    except GuestError as error:
        print(f"error: {error}", file=sys.stderr)
    except subprocess.CalledProcessError as error:
        print(f"error: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
