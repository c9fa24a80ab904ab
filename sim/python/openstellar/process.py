"""One simulation in this process: `python -m openstellar.process MODEL [--waves FILE] -- [ARGUMENT...]`.

The process does what a simulator usually does for cocotb: it loads the model, loads cocotb, runs the tests named by cocotb's environment variables
(`COCOTB_TEST_MODULES`, `COCOTB_TOPLEVEL`, `COCOTB_RESULTS_FILE` and the others), and ends with status 1 if one failed.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path

from openstellar import _native

# This module must not import cocotb before its finder is in place, because cocotb imports its simulator when it is imported itself.
SIMULATOR = "cocotb.simulator"
COVERAGE = "coverage.dat"


class SimulatorFinder(MetaPathFinder):
    """Provides the native library of this package for `import cocotb.simulator`.

    It is a finder and not an entry in `sys.modules`, because only the import system also makes the module an attribute of `cocotb`.
    """

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname != SIMULATOR:
            return None
        library = _native.__file__
        return spec_from_file_location(fullname, library, loader=ExtensionFileLoader(fullname, library))


def simulate(model: Path, arguments: list[str], waves: Path | None = None) -> bool:
    """Runs the tests that the environment names on `model`, and returns whether all of them passed.

    Raises RuntimeError if this process already had a simulation.
    """
    os.environ.setdefault("COCOTB_TRUST_INERTIAL_WRITES", "1")
    if SIMULATOR not in sys.modules:
        sys.meta_path.insert(0, SimulatorFinder())
    from cocotb import simulator

    simulator.load(model, [str(model), *arguments], waves)
    from pygpi.entry import load_entry

    load_entry()
    stopped = simulator.run()
    if stopped is not None:
        print(f"the simulation stopped itself: {stopped}", file=sys.stderr)
    if simulator.has_coverage():
        simulator.write_coverage(Path(COVERAGE))
    return stopped is None and _all_passed()


def _all_passed() -> bool:
    from cocotb_tools.check_results import get_results

    results = Path(os.environ.get("COCOTB_RESULTS_FILE", "results.xml"))
    if "PYGPI_USERS" in os.environ and not results.is_file():
        # A regression manager other than cocotb's reports in its own way.
        return True
    try:
        _, failed = get_results(results)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return False
    return failed == 0


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m openstellar.process",
        usage="%(prog)s MODEL [--waves FILE] [-- ARGUMENT...]",
        description="Runs the cocotb tests that the environment names on a model.",
    )
    parser.add_argument("model", type=Path, help="the description that Runner.build() wrote")
    parser.add_argument("--waves", type=Path, metavar="FILE", help="write waves (FST) to this file")
    own, arguments = _split(sys.argv[1:])
    options = parser.parse_args(own)
    return 0 if simulate(options.model, arguments, options.waves) else 1


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The arguments before `--`, and those after it, which are the simulation's (also plusargs)."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


if __name__ == "__main__":
    sys.exit(main())
