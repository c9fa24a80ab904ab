"""A cocotb runner for OpenStellar's simulator."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, TextIO

from cocotb_tools import runner as cocotb_runner

from openstellar import _native

MANIFEST = "openstellar.json"
WAVES = "dump.fst"

_UNITS = {"s": 0, "ms": -3, "us": -6, "ns": -9, "ps": -12, "fs": -15}
# Options of Verilator that are settings of a model here, because they decide how the model is loaded.
_SETTINGS = {
    "--trace": "waves",
    "--trace-fst": "waves",
    "--coverage": "coverage",
    "--coverage-line": "coverage",
    "--assert": "assertions",
}


def precision_exponent(timescale: tuple[str, str] | None) -> int:
    """The precision of a timescale as an exponent of ten, in seconds: -12 for `("1ns", "1ps")`, and for none."""
    if timescale is None:
        return -12
    match = re.fullmatch(r"(1|10|100)\s*(s|ms|us|ns|ps|fs)", timescale[1])
    if match is None:
        raise ValueError(
            f"{timescale[1]!r} is no time precision: write 1, 10 or 100 and one of {', '.join(_UNITS)}, such as '1ps'"
        )
    return _UNITS[match[2]] + len(match[1]) - 1


class Runner(cocotb_runner.Runner):
    """Builds Verilated models and runs cocotb tests on them, in a process per call of `test`.

    `signals` decides what a test can reach: "all" signals by their hierarchical names, or only the "ports" of the top module, which makes the
    model faster, and quicker to build. `short_run` compiles the model in a third of the time, to run at two thirds of the speed. Both may be set
    until `build` is called.

    Models are kept in a cache by their content: building the same sources again takes a moment, wherever the build directory is.
    """

    supported_gpi_interfaces: ClassVar[dict[str, list[str]]] = {"verilog": ["vpi"]}

    def __init__(self, signals: Literal["all", "ports"] = "all", *, short_run: bool = False) -> None:
        super().__init__()
        self.signals = signals
        self.short_run = short_run

    def build_design(self, name: str, *, build_dir: str | Path = "sim_build", waves: bool = False, wave_levels: int | None = None) -> str:
        """Builds one of the project's own blocks (`openstellar.designs.designs()`) from its Verilog as emitted: the model of simulation mode plain. With
        `short_run` it is the very model that the tests of the block simulate.

        Its ports are accessible. With `wave_levels`, waves contain the outermost levels of the hierarchy only: 1 is the top module. Returns the name of
        the top module, for `test`. Raises ValueError with the closest names if the block does not exist.
        """
        self.build_dir = cocotb_runner.get_abs_path(build_dir)
        self.build_dir.mkdir(parents=True, exist_ok=True)
        return _native.build_design(self.build_dir / MANIFEST, name, waves=waves, wave_levels=wave_levels, short_run=self.short_run)

    def _simulator_in_path(self) -> None:
        # The simulator is this package.
        return

    def _check_hdl_toplevel_lang(self, hdl_toplevel_lang: str | None) -> str:
        if hdl_toplevel_lang not in (None, "verilog"):
            raise ValueError(f"OpenStellar simulates Verilog, not {hdl_toplevel_lang!r}")
        return "verilog"

    def _set_env_common(self) -> None:
        # Neither the GPI nor libpython is loaded.
        self.env.update(os.environ)
        self.env["PYTHONPATH"] = os.pathsep.join(sys.path)

    def _set_env_test(self) -> None:
        super()._set_env_test()
        self.env.setdefault("COCOTB_TRUST_INERTIAL_WRITES", "1")

    def _waves_file(self) -> str:
        return WAVES

    def _build_command(self) -> Sequence[list[str]]:
        sources = self._sources + self._verilog_sources
        for source in sources:
            if source.tag is not cocotb_runner.Verilog:
                raise ValueError(f"OpenStellar builds Verilog sources only: {source.value} is none")
        if self.hdl_toplevel is None:
            raise ValueError("OpenStellar needs the name of the top module: pass hdl_toplevel to build()")
        if self.signals not in ("all", "ports"):
            raise ValueError(f"signals must be 'all' or 'ports', not {self.signals!r}")
        settings = {_SETTINGS[arg] for arg in self.build_args if arg in _SETTINGS}
        _native.build_sources(
            self.build_dir / MANIFEST,
            top=self.hdl_toplevel,
            sources=[source.value for source in sources],
            includes=list(self.includes),
            defines=_as_text(self.defines),
            parameters=_as_text(self.parameters),
            timescale="/".join(self.timescale) if self.timescale else None,
            precision=precision_exponent(self.timescale),
            signals=self.signals == "all",
            waves=self.waves or "waves" in settings,
            coverage="coverage" in settings,
            assertions="assertions" in settings,
            short_run=self.short_run,
            verilator_arguments=[arg for arg in self.build_args if arg not in _SETTINGS],
        )
        return []

    def _test_command(self) -> Sequence[list[str]]:
        if self.pre_cmd:
            raise ValueError("pre_cmd has no meaning for OpenStellar: there is no command language")
        command = [sys.executable, "-m", "openstellar.process", str(self.build_dir / MANIFEST)]
        if self.waves or self.gui:
            command += ["--waves", str(self.test_dir / WAVES)]
        return [[*self._get_sim_cmd_prefix(), *command, "--", *self.test_args, *self.plusargs]]

    def _execute_cmds(self, cmds: Sequence[list[str]], cwd: os.PathLike[str] | str, stdout: TextIO | None = None) -> None:
        __tracebackhide__ = True
        for command in cmds:
            stderr = None if stdout is None else subprocess.STDOUT
            # A failing simulation leaves results; with this error test() reads them.
            subprocess.run(command, cwd=cwd, env=self.env, check=True, stdout=stdout, stderr=stderr)

    # Options reach the model through build_sources, not through a command line.
    def _get_include_options(self, includes: Sequence[os.PathLike[str] | str]) -> list[str]:
        return [f"-I{include}" for include in includes]

    def _get_define_options(self, defines: Mapping[str, object]) -> list[str]:
        return [f"-D{name}={value}" for name, value in defines.items()]

    def _get_parameter_options(self, parameters: Mapping[str, object]) -> list[str]:
        return [f"-G{name}={value}" for name, value in parameters.items()]


def _as_text(values: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in values.items()]
