"""`./stellar figures`: the command, and bands that hold, on a small part of the quick set. `./stellar test --long figures` runs all of it."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import matplotlib.figure
import numpy
import pandas
import pytest

from figures import conweave, hopper, hopper_06, hp3, output, pvdma, srv6, stellar_09, stellar_10, stellar_12, transfer, workloads
from figures.__main__ import main
from figures.catalogue import ALL
from figures.figure import Band, Figure, Findings, Scale
from openstellar import cluster

ONE_SEED = Scale("quick", range(1, 2))


def rows(figure: Figure, scale: Scale = ONE_SEED, **settings: object) -> pandas.DataFrame:
    """The points with these settings, run one after the other."""
    points = [point for point in figure.points(scale) if all(point[name] == value for name, value in settings.items())]
    return pandas.DataFrame([point | figure.measure(point) for point in points])


def test_queues_are_shorter_with_many_paths() -> None:
    aware = ("bitmap", "reps", "ev-state")
    of_128 = (*aware, "dwrr", "best-rtt", "mp-rdma")
    wanted = {(policy, 128) for policy in of_128} | {(policy, paths) for policy in stellar_09.PAPER for paths in (1, 4, 128)} | {("per-path", 4)}
    points = [point for point in stellar_09.points(ONE_SEED) if (point["policy"], point["paths"]) in wanted]
    short = [point | {"bytes": 5_000_000} for point in points]
    measured = pandas.DataFrame([point | stellar_09.measure(point) for point in short])
    # Half of the flows' length: single paths and four paths have not filled their queues yet, so their bands are left out.
    bands = [band for band in stellar_09.findings(measured, ONE_SEED).bands if "mean queue" not in band.what and "single" not in band.what and "windows" not in band.what]
    assert len(bands) >= 8
    assert [band.what for band in bands if not band.holds] == []


def test_the_queues_are_those_of_every_policy() -> None:
    assert {point["policy"] for point in stellar_09.points(ONE_SEED)} == set(cluster.policies())


def test_the_imbalance_follows_the_closed_form() -> None:
    measured = rows(stellar_12.FIGURE, Scale("quick", range(1, 4)))
    bands = stellar_12.findings(measured, ONE_SEED).bands
    assert len(bands) == len(stellar_12.PATHS) + 2
    assert [band.what for band in bands if not band.holds] == []
    # Connections of one pair of hosts share their paths: sixteen spread as one does.
    means = measured.groupby(["pairs", "paths"])["range"].mean()
    assert means[(1, 128)] > 2 * means[(16, 128)]


def test_a_ring_is_what_the_matrix_says() -> None:
    job = workloads.Job([3, 1, 6], part=10_000, steps=4, start_us=5)
    other = workloads.Job([0, 4], part=20_000, steps=3)
    run = cluster.run(topology=cluster.leaf_spine(leaves=2, hosts=4, spines=2), workload=cluster.matrix(workloads.rings([job, other], 8)))
    flows = run.flows.pandas()
    assert len(flows) == job.flows + other.flows == 18
    steps = flows[:12].to_numpy()[:, 1:3].astype(int).reshape(4, 3, 2).tolist()
    assert steps == [[[3, 1], [1, 6], [6, 3]]] * 4
    assert (flows.start_us[:3] == 5).all()
    arrivals = (flows.start_us + flows.received_us)[:12].to_numpy().reshape(4, 3)
    starts = flows.start_us[:12].to_numpy().reshape(4, 3)
    # A rank sends when the part of the step before has arrived from the rank before it.
    assert numpy.allclose(starts[1:], numpy.roll(arrivals[:-1], 1, axis=1), atol=0.01)


def test_a_flow_alone_has_a_slowdown_of_one() -> None:
    link = {"rate_gbps": hopper.GBPS, "delay_ns": hopper.CABLE_NS}
    topology = cluster.leaf_spine(leaves=2, hosts=2, spines=1, host_link=link, spine_link=link)
    sizes = [(0, 2, 200, 0.0), (0, 2, 50_000, 1e-3), (0, 1, 3_000, 2e-3), (0, 3, 2_000_000, 3e-3)]
    run = cluster.run(topology=topology, workload=cluster.flow_file(workloads.flow_text(sizes)), mtu=hopper.MTU, policy="single", paths=1)
    local = run.flows["src"] // 2 == run.flows["dst"] // 2
    slowdown = run.flows["fct_us"] / hopper.idle_us(run.flows["bytes"].astype(float), local)
    assert ((slowdown > 0.95) & (slowdown < 1.08)).all(), slowdown


def test_arrivals_have_the_load_that_they_say() -> None:
    for workload in hopper.SIZES:
        flows = hopper.flows(workload, 50, 40_000, seed=1)
        sent = sum(size for _, _, size, _ in flows)
        capacity = hopper.LEAVES * hopper.HOSTS * hopper.GBPS * 1e3 / 8 * 40_000
        assert sent / capacity == pytest.approx(0.25, rel=0.1), workload
        assert all(src != dst for src, dst, _, _ in flows)


def test_hopper_is_compared_with_the_others() -> None:
    for figure in (hopper.HADOOP, hopper.TRAINING, hopper.ALICLOUD):
        assert {point["scheme"] for point in figure.points(ONE_SEED)} == set(hopper.SCHEMES) >= {"hopper", "flow-bender", "conga", "conweave"}
    assert {scheme.policy for scheme in hopper.SCHEMES.values()} <= set(cluster.policies())


def test_the_balancers_over_dcqcn_are_those_of_conweaves_simulator() -> None:
    full = Scale("full", range(1, 2))
    assert {(point["load"], point["scheme"]) for point in conweave.points(full)} >= {(load, scheme) for load, at in conweave.MEASURED.items() for scheme in at}
    measured = pandas.DataFrame([point | conweave.measure(point | {"arrivals_us": 1500}) for point in conweave.points(ONE_SEED)])
    at = measured.set_index("scheme")["all: mean"]
    # Arrivals are too few for the bands; the order of the schemes is there.
    assert at["ecmp"] > at["conga"] > at["conweave"]
    assert len(conweave.findings(measured, ONE_SEED).bands) == 12


def test_a_round_begins_when_the_one_before_is_done() -> None:
    run = cluster.run(topology=cluster.leaf_spine(leaves=2, hosts=3, spines=2), workload=cluster.matrix(workloads.rounds([(0, 3), (1, 4), (2, 5)], 100_000, 4)))
    starts = run.flows["start_us"].reshape(4, 3)
    ends = starts + run.flows["fct_us"].reshape(4, 3)
    assert (starts[0] == 0).all()
    assert numpy.allclose(starts[1:], ends[:-1].max(axis=1, keepdims=True), atol=0.01)


def test_hopper_stays_away_from_slow_uplinks() -> None:
    points = [point | {"bytes": 2_000_000} for point in hopper_06.points(ONE_SEED)]
    measured = pandas.DataFrame([point | hopper_06.measure(point) for point in points])
    found = hopper_06.findings(measured, ONE_SEED)
    assert len(found.bands) == 7
    # Further outside than the paper's values, on the better side: Hopper decides every round trip.
    better = ("Hopper against FlowBender: mean slowdown", "Hopper against FlowBender: time of training")
    assert [band.what for band in found.bands if not band.holds and band.what not in better] == []
    assert all(band.value > band.low for band in found.bands if band.what in better)
    # A third of the paths is slow.
    share = measured.set_index("scheme").on_1g
    assert share.hopper < 0.06
    assert 0.25 < share.obs < 0.4


def test_flows_that_collide_part_with_hp3() -> None:
    measured = rows(hp3.COLLISION, Scale("quick", range(2, 4)))
    at = measured.groupby("scheme")[["uneven", "fct_us", "retransmitted", "unfinished"]].mean()
    assert at.loc["ecmp"].uneven > 0.9, "both flows of both runs are on one spine"
    assert at.loc["hp3"].fct_us < 0.7 * at.loc["ecmp"].fct_us
    assert at.loc["hp3"].unfinished == 0


def test_experts_combine_when_they_have_all_tokens_and_trainers_send_four_pieces_at_a_time() -> None:
    tokens = transfer.routes(16, seed=1)
    assert (tokens[:8, :8] == 0).all()
    assert (tokens[:8, 8:].sum(axis=1) <= transfer.TOKENS * transfer.TOP).all()
    # Of 16 ranks, half of which are in other servers, the drawn experts of a token are on 8 (1 - (15/16)^8).
    assert tokens.sum() / 16 / transfer.TOKENS == pytest.approx(8 * (1 - (15 / 16) ** 8), rel=0.03)
    measured = rows(transfer.FIGURE, pattern="experts", ranks=16)
    assert measured.unfinished.sum() == 0
    assert float(measured.line_us[0]) == pytest.approx(tokens.sum(axis=1).max() * transfer.DISPATCH * 8e-3 / transfer.GBPS, rel=0.1)
    link = {"rate_gbps": transfer.GBPS}
    for pattern in (transfer.experts, transfer.weights):
        topology = cluster.leaf_spine(leaves=2, hosts=8, spines=8, host_link=link, spine_link=link)
        flows = cluster.run(topology=topology, workload=cluster.goal(pattern(16, 1).text()), queue_pairs="per-pair").flows.pandas()
        arrival = flows.start_us + flows.received_us
        if pattern is transfer.experts:
            complete = arrival[flows.start_us == 0].groupby(flows.dst).max()
            combines = flows[flows.start_us > 0]
            assert (combines.start_us - combines.src.map(complete)).abs().max() < 0.01
        else:
            done = flows.start_us + flows.fct_us
            for _, own in flows.groupby("src"):
                under_way = [int(((own.start_us <= start) & (done[own.index] > start + 0.01)).sum()) for start in own.start_us]
                assert max(under_way) == transfer.UNDER_WAY


def test_placed_flows_do_not_collide_and_one_leaves_a_congested_path() -> None:
    measured = rows(srv6.COLLISIONS, Scale("quick", range(1, 4)))
    collisions = measured.groupby("paths").collisions
    assert collisions.max().srv6 == 0
    assert collisions.mean().ecmp > 0
    bands = srv6.reroute_findings(rows(srv6.REROUTE), ONE_SEED).bands
    assert [band.what for band in bands if not band.holds] == []


class Asked(Exception):
    """A cluster that is asked for, and not run."""


@pytest.mark.parametrize("figure", [figure for figure in ALL if figure is not pvdma.FIGURE], ids=lambda figure: figure.name)
def test_a_page_says_what_is_verilog_what_is_the_reference_and_what_is_a_model(figure: Figure, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(**settings: object) -> None:
        raise Asked(settings)

    monkeypatch.setattr(cluster, "run", asked)
    policies, balancers, forms, congestions = set(), set(), set(), set()
    for point in figure.points(ONE_SEED):
        with pytest.raises(Asked) as raised:
            figure.measure(point | {"arrivals_us": 10})
        settings = raised.value.args[0]
        policies.add(settings.get("policy"))
        balancers.add(settings.get("balancer"))
        congestions.add(settings.get("congestion"))
        forms.add("goal" if "goal" in settings["workload"] else "flows")
    assert "software reference, which lockstep tests hold the Verilog to" in figure.parts
    assert "are a model. No Verilog runs." in figure.parts
    assert ("baseline" in figure.parts) == bool(policies & {*stellar_09.BASELINES, "placed"} or congestions - {None, "nscc"})
    assert ("models of switches" in figure.parts) == bool(balancers - {None, "ecmp"})
    assert ("schedules of messages" in figure.parts) == ("goal" in forms)


def test_pins_are_those_of_this_machine() -> None:
    one, four = (pvdma.measure({"mebibytes": size, "seed": 1}) for size in (16, 64))
    assert 0 < one["seconds"] < four["seconds"]
    assert four["median_block_us"] * 32 * 1e-6 < 2 * four["seconds"]


def test_bursts_come_and_go() -> None:
    point = next(point for point in stellar_10.points(ONE_SEED) if point["background"] == "bursts")
    jobs = stellar_10.jobs(point)
    assert len({job.start_us for job in jobs}) == 5
    assert sum(len(job.hosts) for job in jobs[:3]) == 3 * point["ranks"]


def test_a_band_that_does_not_hold_is_said_everywhere(tmp_path: Path) -> None:
    nan, low = Band("a", float("nan"), 0, 1), Band("b", 2.0, 0, 1, unit="KB", why="it is <known>")
    plot = matplotlib.figure.Figure()
    plot.add_subplot().plot([1, 2])
    found = Findings([("T", pandas.DataFrame({"x": [1.0]}))], [("drawing", plot)], [nan, low, Band("c", 0.5, 0, 1)], ["a note"])
    figure = dataclasses.replace(ALL[0], name="test-1")
    page = output.write(figure, ONE_SEED, found, tmp_path)
    for text in (output.text(figure, ONE_SEED, found), page.read_text()):
        assert text.count("OUTSIDE") == 2
        assert text.count("PASS") == 1
        assert "known" in text
        assert "a note" in text
    assert "<known>" not in page.read_text()
    assert "<svg" in page.read_text()
    assert [band["verdict"] for band in json.loads((tmp_path / "test-1.json").read_text())["bands"]] == ["OUTSIDE", "OUTSIDE", "PASS"]
    drawing = (tmp_path / "drawing.svg").read_bytes()
    output.write(figure, ONE_SEED, found, tmp_path)
    assert (tmp_path / "drawing.svg").read_bytes() == drawing


def test_the_command_lists_figures_and_refuses_others(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["figures", "--list"])
    assert main() == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["pcie", *(figure.name for figure in ALL)]
    monkeypatch.setattr(sys, "argv", ["figures", "stellar-99"])
    assert main() == 1
    assert "unknown figure 'stellar-99'; did you mean stellar-9" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["figures"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "name figures, or give --quick, --full or --list" in capsys.readouterr().err
