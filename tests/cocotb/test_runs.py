"""Start and end of runs, and the files they leave. For this simulator only."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from openstellar.cocotb import Runner
from openstellar.cocotb.results import read_results
from openstellar.cocotb.runner import precision_exponent
from openstellar.designs import designs, write
from simulators import BENCHES, OpenStellar, import_path


@pytest.fixture(autouse=True)
def ours(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--simulator") != "openstellar":
        pytest.skip("about this project's simulator")


def run(tmp_path: Path, verilog: Path, tests: list[str]) -> tuple[object, Path]:
    """Runs tests of bench_endings; returns the status of the process and the results."""
    runner = Runner("ports")
    runner.build(sources=[verilog / "counter.v"], hdl_toplevel="counter", build_dir=tmp_path)
    results = tmp_path / "results.xml"
    with import_path(BENCHES), pytest.raises(SystemExit) as ended:
        runner.test("bench_endings", "counter", testcase=tests, results_xml=str(results))
    return ended.value.code, results


def test_a_failing_test_fails_the_process_and_leaves_its_results(tmp_path: Path, verilog: Path) -> None:
    status, results = run(tmp_path, verilog, ["good", "failing"])
    assert status == 1
    outcomes = read_results(results)
    assert outcomes["bench_endings.good"].passed
    failed = outcomes["bench_endings.failing"]
    assert not failed.passed and "the count is not 200" in failed.message


@pytest.mark.parametrize("ending", ["finishing", "running_dry"])
def test_a_simulation_that_ends_by_itself_fails_the_test(tmp_path: Path, verilog: Path, capfd: pytest.CaptureFixture[str], ending: str) -> None:
    status, results = run(tmp_path, verilog, [ending])
    assert status == 1
    assert not read_results(results)[f"bench_endings.{ending}"].passed
    if ending == "finishing":
        assert "the simulation stopped itself: " in capfd.readouterr().err


def test_waves_and_coverage_are_written(tmp_path: Path, verilog: Path) -> None:
    runner = OpenStellar(tmp_path).runner("ports")
    runner.build(sources=[verilog / "counter.v"], hdl_toplevel="counter", build_dir=tmp_path, waves=True, build_args=["--coverage-line"])
    with import_path(BENCHES):
        runner.test("bench_counter", "counter", testcase="sleeping_is_exact", waves=True)
    assert (tmp_path / "dump.fst").stat().st_size > 100
    assert "counter" in (tmp_path / "coverage.dat").read_text()


def test_the_lane_starts_in_two_seconds(tmp_path: Path) -> None:
    """The model is built already. The test measures processor time of the simulation's process, because the machine may be busy."""
    runner = Runner()
    top = runner.build_design("rx_lane_512", build_dir=tmp_path)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with import_path(BENCHES):
        runner.test("bench_start", top)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2


def test_a_built_model_is_used_again(tmp_path: Path, verilog: Path) -> None:
    """The same sources elsewhere give the same model."""
    copy = tmp_path / "elsewhere" / "counter.v"
    copy.parent.mkdir()
    copy.write_text((verilog / "counter.v").read_text())
    manifests = []
    for number, source in enumerate((verilog / "counter.v", copy)):
        directory = tmp_path / str(number)
        Runner("ports").build(sources=[source], hdl_toplevel="counter", build_dir=directory)
        manifests.append((directory / "openstellar.json").read_text())
    assert manifests[0] == manifests[1]


def test_designs_are_written_as_verilog(tmp_path: Path) -> None:
    """Two blocks in one file: modules that they share are defined once."""
    tops, path = write(tmp_path, "dma_write_512", "dma_read_512")
    text = path.read_text()
    modules = re.findall(r"^module (\w+) ", text, re.MULTILINE)
    assert set(tops) < set(modules) and len(set(modules)) == len(modules)
    assert write(tmp_path, "dma_read_512")[0] == tops[1:]
    assert {"rx_lane_512", "nic"} < designs().keys()
    with pytest.raises(ValueError, match='no design "rx_lane_300"; closest: rx_lane_'):
        write(tmp_path, "rx_lane_300")
    with pytest.raises(ValueError, match='no design "nik"; closest: nic'):
        Runner().build_design("nik", build_dir=tmp_path)
    with pytest.raises(ValueError, match="at least one design"):
        write(tmp_path)


def test_the_pytest_plugin_of_cocotb_runs_here(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "cocotb_tools._pytest.plugin", "-p", "openstellar.cocotb.pytest_plugin"]
    command += ["-p", "no:cacheprovider", "-rA", "--rootdir", ".", "--confcutdir", ".", f"--cocotb-build-dir={tmp_path}", "test_example.py"]
    example = Path(__file__).parent / "plugin_example"
    done = subprocess.run(command, cwd=example, capture_output=True, text=True, check=False, env=plain_environment())
    # The summary: the lines of a verbose run may be mixed, because the results of the simulation come from another process.
    assert "PASSED test_example.py::test_simulation::::test_counts" in done.stdout, done.stdout + done.stderr
    assert "FAILED test_example.py::test_simulation::::test_fails" in done.stdout, done.stdout + done.stderr
    assert "assert 5 == 77" in done.stdout and done.returncode == 1


def plain_environment() -> dict[str, str]:
    """Without the settings of this pytest."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COCOTB"))}


def test_a_wrong_build_says_what_is_wrong(tmp_path: Path, verilog: Path) -> None:
    def build(**arguments: object) -> None:
        Runner(arguments.pop("signals", "ports")).build(build_dir=tmp_path, **arguments)

    broken = tmp_path / "broken.v"
    broken.write_text("module broken(input clk);\n  wire a = ;\nendmodule\n")
    with pytest.raises(RuntimeError, match=r"broken\.v:2.*syntax error"):
        build(sources=[broken], hdl_toplevel="broken")
    with pytest.raises(RuntimeError, match="there is no Verilog source .*absent.v"):
        build(sources=[tmp_path / "absent.v"], hdl_toplevel="absent")
    with pytest.raises(ValueError, match="pass hdl_toplevel"):
        build(sources=[verilog / "counter.v"])
    with pytest.raises(ValueError, match="Verilog sources only"):
        build(sources=[tmp_path / "entity.vhd"], hdl_toplevel="entity")
    with pytest.raises(ValueError, match="'all' or 'ports', not 'some'"):
        build(sources=[verilog / "counter.v"], hdl_toplevel="counter", signals="some")
    with pytest.raises(ValueError, match="'1parsec' is no time precision"):
        build(sources=[verilog / "counter.v"], hdl_toplevel="counter", timescale=("1ns", "1parsec"))


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "openstellar.process", str(tmp_path / "absent.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "absent.json" in done.stderr and "build the model first" in done.stderr


@pytest.mark.parametrize(("precision", "exponent"), [("1ps", -12), ("100 ns", -7), ("10fs", -14), ("1s", 0)])
def test_precisions_are_powers_of_ten(precision: str, exponent: int) -> None:
    assert precision_exponent(("1ns", precision)) == exponent
