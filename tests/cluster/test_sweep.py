"""`openstellar.sweep`: results do not depend on workers, kills or what was there before; what fails is named."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask
import pyarrow.parquet
import pytest

from openstellar import cluster, sweep
from openstellar.sweep.__main__ import main

SMALL = {"topology": cluster.leaf_spine(leaves=2, hosts=4, spines=4), "workload": cluster.permutation(bytes=100_000)}


def points(seeds: int = 3) -> list[dict[str, object]]:
    return [SMALL | point for point in sweep.grid(policy=["obs", "single"], seed=range(1, seeds + 1))]


def square(point: dict[str, int]) -> dict[str, object]:
    """A row, an error, or no row."""
    if point["x"] == 2:
        raise RuntimeError("two is too much")
    if point["x"] == 3:
        return [3]  # type: ignore[return-value]
    return {"y": point["x"] ** 2, "list": [1, 2], "none": None, "bad": object() if point["x"] == 4 else 0}


def slow(point: dict[str, int]) -> dict[str, object]:
    """A row after some time; says so in a file."""
    time.sleep(0.3)
    with Path(point["log"]).open("a") as log:
        log.write(f"{point['x']}\n")
    return {"y": point["x"]}


def leave(point: dict[str, int]) -> dict[str, object]:
    """Ends the process of its worker for one point."""
    if point["x"] == 1:
        os._exit(9)
    return {"y": point["x"]}


def threads(function: object, chosen: list[dict[str, object]], directory: Path, workers: int = 2) -> sweep.Sweep:
    return sweep.run(function, chosen, directory=directory, workers=workers, processes=False, progress=False)  # type: ignore[arg-type]


def test_rows_do_not_depend_on_workers_and_are_found_again(tmp_path: Path) -> None:
    one = threads(sweep.cluster_row, points(), tmp_path / "one", 1)
    many = sweep.run(sweep.cluster_row, points()[::-1], directory=tmp_path / "many", workers=2, progress=False)
    assert one.failed == many.failed == []
    assert one.rows == many.rows[::-1]
    assert [row["hash"] for row in one.rows] == [cluster.run(**point).hash for point in points()]
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "many").iterdir())
    again = threads(sweep.cluster_row, points(4), tmp_path / "one")
    assert (again.reused, len(again.rows)) == (6, 8)
    table = again.table()
    assert table.rows == 8
    assert table["policy"].tolist() == ["obs"] * 4 + ["single"] * 4
    assert table.pandas().groupby("policy")["flows.fct_us.mean"].mean()["obs"] > 0


def test_failed_points_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    chosen = [{"x": x} for x in range(6)]
    result = threads(square, chosen, tmp_path)
    assert [row["y"] for row in result.rows] == [0, 1, 25]
    raised, no_row, unkept = result.failed
    assert (raised.point, raised.error) == ({"x": 2}, "RuntimeError: two is too much")
    assert "in square" in raised.traceback
    assert "the row of a point is a dictionary" in no_row.error
    assert "cannot be kept" in unkept.error
    with pytest.raises(RuntimeError, match=r'(?s)3 of 6 points failed.*"x":2.*two is too much'):
        result.raise_failures()
    # They are tried again, the others are not.
    assert threads(square, chosen, tmp_path).reused == 3
    assert not list(tmp_path.glob("*.part"))


def test_an_unknown_policy_is_a_failed_point(tmp_path: Path) -> None:
    result = threads(sweep.cluster_row, [SMALL | {"policy": "nope"}, SMALL], tmp_path)
    assert len(result.rows) == 1
    assert 'unknown policy "nope": use one of' in result.failed[0].error


def test_a_worker_that_ends_is_a_failed_point(tmp_path: Path) -> None:
    # Dask runs a point on four workers before it says that it ends them; here on two, because each takes a second to start.
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        result = sweep.run(leave, [{"x": x} for x in range(4)], directory=tmp_path, workers=1, progress=False)
    assert [row["y"] for row in result.rows] == [0, 2, 3]
    assert [failure.point for failure in result.failed] == [{"x": 1}]
    assert "KilledWorker" in result.failed[0].error


def test_broken_files_are_set_aside_and_run_again(tmp_path: Path) -> None:
    chosen = [{"x": 0}, {"x": 1}, {"x": 5}]
    threads(square, chosen, tmp_path)
    short, other, good = sorted(tmp_path.glob("*.parquet"))
    rows = {path: pyarrow.parquet.read_table(path).to_pylist() for path in (short, other, good)}
    short.write_bytes(short.read_bytes()[:100])
    other.write_bytes(good.read_bytes())
    result = threads(square, chosen, tmp_path)
    assert (result.reused, len(result.rows), len(result.broken)) == (1, 3, 2)
    assert {path.suffix for path in result.broken} == {".broken"}
    assert {path: pyarrow.parquet.read_table(path).to_pylist() for path in (short, other, good)} == rows


SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
from openstellar import sweep
from test_sweep import slow
if __name__ == "__main__":
    points = [{{"x": x, "log": {log!r}}} for x in range(8)]
    sweep.run(slow, points, directory={directory!r}, workers=1, processes=False, progress=False)
"""


def test_a_sweep_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    log, directory, script = tmp_path / "log", tmp_path / "sweep", tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(Path(__file__).parent), log=str(log), directory=str(directory)))
    with subprocess.Popen([sys.executable, script]) as process:
        deadline = time.monotonic() + 60
        while len(list(directory.glob("*.parquet"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    kept = [pyarrow.parquet.read_table(path)["y"][0].as_py() for path in directory.glob("*.parquet")]
    assert 2 <= len(kept) < 8
    finished = threads(slow, [{"x": x, "log": str(log)} for x in range(8)], directory, 1)
    assert (finished.reused, [row["y"] for row in finished.rows]) == (len(kept), list(range(8)))
    runs = [int(x) for x in log.read_text().split()]
    assert set(runs) == set(range(8))
    assert [runs.count(x) for x in kept] == [1] * len(kept)


def test_wrong_calls_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="axis 'seed' has no values"):
        sweep.grid(policy=["obs"], seed=[])
    with pytest.raises(ValueError, match="JSON cannot hold the point"):
        threads(square, [{"x": object()}], tmp_path)
    with pytest.raises(ValueError, match=r'the point \{"x":1\} is there twice'):
        threads(square, [{"x": 1}, {"x": 1}], tmp_path)
    with pytest.raises(ValueError, match="workers=2 with scheduler"):
        sweep.run(square, [], directory=tmp_path, workers=2, scheduler="tcp://localhost:1")
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at 'nowhere': start one with `dask scheduler`"):
        sweep.run(square, [{"x": 1}], directory=tmp_path, scheduler="nowhere", progress=False)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"a sweep needs distributed: pip install 'openstellar-cluster\[sweep\]'"):
        threads(square, [{"x": 1}], tmp_path)


def test_the_command_reads_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    file, table = tmp_path / "s.toml", tmp_path / "all.parquet"

    base = "[base.workload.permutation]\nbytes = 10000\n[base.topology.leaf-spine]\nleaves = 2\nhosts = 2\nspines = 2\n"
    file.write_text(base + '[grid]\npolicy = ["obs", "nope"]\n')
    monkeypatch.setattr(sys, "argv", ["sweep", str(file), "--directory", str(tmp_path / "out"), "--table", str(table), "--workers", "1"])
    assert main() == 1
    said = capsys.readouterr()
    assert "1 of 2 points" in said.out
    assert 'failed: {"policy":"nope"' in said.err
    assert pyarrow.parquet.read_table(table).num_rows == 1
    for text, message in (
        ("[grid]\nseed = 3\n", "s.toml: grid.seed is no list: write seed = [3]"),
        ("[gird]\n", "s.toml: unknown key 'gird'"),
        ("=", "s.toml"),
    ):
        file.write_text(text)
        assert main() == 1
        assert message in capsys.readouterr().err
