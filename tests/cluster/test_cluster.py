"""`openstellar.cluster`: runs, tables, and what wrong descriptions say."""

from __future__ import annotations

import builtins
import threading

import numpy
import pytest

from openstellar import cluster

SMALL = cluster.leaf_spine(leaves=2, hosts=4, spines=4)


def run(**arguments: object) -> cluster.Run:
    return cluster.run(**{"topology": SMALL, "workload": cluster.permutation(bytes=100_000)} | arguments)


def test_tables_agree_with_the_totals() -> None:
    result = run(sample_us=1)
    flows, totals = result.flows, result.totals
    assert flows.rows == totals["flows"]["total"] == 8
    assert flows["fct_us"].mean() == pytest.approx(totals["flows"]["fct_us"]["mean"])
    assert flows["fct_us"].max() == totals["flows"]["fct_us"]["max"]
    assert (flows["received_us"] < flows["fct_us"]).all()
    assert set(flows["src"]) == set(flows["dst"]) == set(range(8))
    assert result.uplinks.rows == totals["uplinks"]["count"] == 8
    assert result.uplinks["bytes"].mean() == pytest.approx(totals["uplinks"]["bytes"]["mean"])
    assert ((result.uplinks["use"] > 0) & (result.uplinks["use"] < 1)).all()
    assert {str(name) for name in result.uplinks["from"]} == {"p0.leaf0", "p0.leaf1"}
    queues = result.queues
    assert queues["with_line"].max() == totals["uplinks"]["with_line"]["max"]
    assert queues["with_line"].mean() == pytest.approx(totals["uplinks"]["with_line"]["mean"])
    assert queues["waiting"].max() <= result.uplinks["max_waiting"].max()
    # The last sample of an uplink is not beyond what it sent in all.
    for uplink in range(8):
        assert queues["sent_bytes"][queues["uplink"] == uplink].max() <= result.uplinks["bytes"][uplink]


def test_a_run_is_its_description() -> None:
    assert run(seed=3).hash == run(seed=3).hash
    assert run(seed=3).hash != run(seed=4).hash
    assert run(policy="round-robin").hash != run(policy="obs").hash


def test_the_same_tables_in_pandas_polars_and_arrow() -> None:
    flows = run(limit_us=7).flows  # ends before the last acknowledgements
    assert numpy.isnan(flows["fct_us"]).any()
    frame, lazy, arrow = flows.pandas(), flows.polars(), flows.arrow()
    assert list(frame.columns) == lazy.columns == arrow.column_names == list(flows)
    assert frame.src.tolist() == lazy["src"].to_list() == arrow["src"].to_pylist() == flows["src"].tolist()
    assert frame.fct_us.isna().sum() == lazy["fct_us"].null_count() == arrow["fct_us"].null_count > 0


def test_a_missing_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    flows = run().flows
    importing = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "polars":
            raise ImportError(name)
        return importing(name, *rest)

    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"Table.polars\(\) needs polars: pip install 'openstellar-cluster\[polars\]'"):
        flows.polars()


def test_files_and_every_pattern_run() -> None:
    for workload in (
        cluster.incast(bytes=10_000, ranks=3),
        cluster.all_to_all(bytes=10_000, ranks=3),
        cluster.ring(bytes=10_000, ranks=3),
        cluster.tree(bytes=10_000, ranks=3),
        cluster.matrix("Nodes 8\nConnections 1\n0->5 id 1 start 0 size 5000\n"),
        cluster.flow_file("1\n0 5 3 5000 0.000001\n"),
        cluster.goal("num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag 0\n}\nrank 1 {\nl1: recv 10b from 0 tag 0\n}\n"),
    ):
        totals = run(workload=workload).totals["flows"]
        assert totals["finished"] == totals["total"] > 0
    two = run(topology=cluster.leaf_spine(leaves=2, hosts=4, spines=4, planes=2))
    assert {link.split(".")[0] for link in two.uplinks["link"]} == {"p0", "p1"}
    assert two.totals["flows"]["fct_us"]["mean"] < run().totals["flows"]["fct_us"]["mean"]


def test_other_threads_go_on_during_a_run() -> None:
    done = threading.Event()
    worker = threading.Thread(target=lambda: (run(workload=cluster.permutation(bytes=40_000_000)), done.set()))
    worker.start()
    turns = 0
    while not done.wait(0.001):
        turns += 1
    worker.join()
    assert turns > 3


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        ({"policy": "nope"}, ['unknown policy "nope"', "obs", "flow-bender"]),
        ({"policy": "obs", "transport": "rc"}, ["RC has one path"]),
        ({"paths": 3}, ["3 active", "even number"]),
        ({"window": 5000}, ["5000", "4096"]),
        ({"paths": 300}, ["integer `300`", '"paths": 300']),
        ({"seed": -1}, ["integer `-1`", '"seed": -1']),
        ({"balancer": "x"}, ["balancer", "`x`", "conweave"]),
        ({"mtu": 5}, ["no path MTU of 5 bytes", "4096"]),
        ({"limit_us": 2_000_000_000}, ["2000000000 us", "at most 1000000000"]),
        ({"sample_window": (8, 7)}, ["samples every", "end that is not before the start"]),
        ({"workload": {"star": {}}}, ["`star`", "all-to-all"]),
        ({"congestion": "dcqn"}, ["`dcqn`", "`nscc`", "`dcqcn`", "`dcqcn-2015`"]),
        ({"congestion": "dcqcn", "transport": "rc"}, ["fixed window", "nscc"]),
        ({"congestion": "dcqcn", "policy": "mp-rdma"}, ["mp-rdma", "windows of its own"]),
        ({"workload": cluster.permutation(bytes=0)}, ["0 bytes"]),
        ({"workload": cluster.matrix("x", file="a.cm")}, ["a.cm:1", '"x"']),
        ({"workload": cluster.flow_file("1\n0 99 3 5 0\n", file="a.txt")}, ["a.txt:2", "0 to 7"]),
        ({"topology": {"leaf-spine": {"leafs": 3}}}, ["`leafs`", "`leaves`"]),
        ({"topology": cluster.leaf_spine(overrides=[{"link": "nowhere", "set": {"loss": 0.1}}])}, ["overrides[0]", "nowhere"]),
        ({"topology": cluster.leaf_spine(planes=3)}, ["3 ports", "one or two planes"]),
        ({"topology": {"toml": {"file": "t.toml", "text": "x"}}}, ["t.toml"]),
    ],
)
def test_wrong_descriptions_say_what_where_and_what_to_do(wrong: dict[str, object], parts: list[str]) -> None:
    with pytest.raises(ValueError) as raised:
        run(**wrong)
    for part in parts:
        assert part in str(raised.value)


def test_unknown_arguments_and_columns_and_files_are_named() -> None:
    with pytest.raises(TypeError, match="polcy"):
        run(polcy="obs")
    with pytest.raises(KeyError, match=r"no column 'fct'; there are: id, src"):
        run().flows["fct"]
    with pytest.raises(FileNotFoundError, match=r"no\.toml"):
        cluster.topology_file("no.toml")
    with pytest.raises(ValueError, match="one length"):
        cluster.Table({"a": numpy.zeros(2), "b": numpy.zeros(3)})
