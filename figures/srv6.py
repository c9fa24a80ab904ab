"""SRv6 ("Toward Deterministic Path Placement in AI Backends"), figures 1 and 3: flows that source routes keep apart, and a flow that leaves a congested path."""

from __future__ import annotations

from typing import Any

import numpy
import pandas
from matplotlib.figure import Figure as Plot

from figures.figure import Band, Figure, Findings, Scale, all_finish
from figures.workloads import flow_text
from openstellar import cluster

PARTS = (
    "Windows, retransmissions and the paths of SRv6 headers are those of the software reference, which lockstep tests hold the Verilog to. Placement and telemetry are a baseline of the simulator, not in the card: a "
    "plan that software makes, and samples of what is acknowledged. The fabric, its switches and all times are a model. No Verilog runs."
)
GBPS, SPINES, HOSTS = 100, 4, 4

def leaves() -> dict[str, Any]:
    """Two leaves of hosts, with the same rate on every link."""
    link = {"rate_gbps": GBPS}
    return cluster.leaf_spine(leaves=2, hosts=HOSTS, spines=SPINES, host_link=link, spine_link=link)


# How the paths of flows are found: headers, policy. Two paths per spine, for the two ports of a card.
FLOWS = {"ecmp": ("ipv4", "single"), "srv6": ("srv6", "placed")}


def collision_points(scale: Scale) -> list[dict[str, Any]]:
    """Both, with many permutations."""
    return [{"paths": paths, "bytes": 400_000, "seed": seed} for paths in FLOWS for seed in scale.seeds]


def measure_collisions(point: dict[str, Any]) -> dict[str, Any]:
    """Flows of a permutation that share an uplink with one before them, at both leaves, and how long flows take."""
    addressing, policy = FLOWS[point["paths"]]
    run = cluster.run(
        topology=leaves(),
        workload=cluster.permutation(bytes=point["bytes"]),
        addressing=addressing,
        policy=policy,
        paths=2 * SPINES,
        sample_us=0,
        seed=point["seed"],
    )
    # Acknowledgements are a small part of a flow's bytes.
    used = int((run.uplinks["bytes"] > point["bytes"] / 2).sum())
    flows = run.flows.rows
    return {
        "collisions": flows - used,
        "fct_us": float(run.flows["fct_us"].mean()),
        "slowest_us": float(run.flows["fct_us"].max()),
        "unfinished": run.totals["flows"]["total"] - run.totals["flows"]["finished"],
        "hash": run.hash,
    }


def collision_findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over permutations, against the closed form of hashing."""
    means = rows.groupby("paths", sort=False)[["collisions", "fct_us", "slowest_us"]].mean().reset_index()
    at = means.set_index("paths")
    expected = 2 * (HOSTS - SPINES * (1 - (1 - 1 / SPINES) ** HOSTS))
    found = Findings(
        tables=[(f"Flows of a permutation of {2 * HOSTS} that share an uplink with one before them (mean of {len(scale.seeds)} permutations), completion times (mean, longest)", means)],
        bands=[
            Band("collisions with SRv6, at most", float(rows[rows.paths == "srv6"].collisions.max()), 0, 0, paper="fully disjoint paths; the caption of its drawing leaves one collision"),
            Band("collisions with ECMP / those of random hashing", float(at.loc["ecmp"].collisions / expected), 0.7, 1.3, paper=f"four in a drawing of three flows; here {expected:.2f} of {2 * HOSTS} flows"),
            Band("longest completion time, ECMP / SRv6", float(at.loc["ecmp"].slowest_us / at.loc["srv6"].slowest_us), 1.5, 4, paper="better use of links; two flows on an uplink take twice as long"),
            all_finish(rows),
        ],
        notes=[
            "The paper's figure is a drawing of three flows, and no measurement. Its text calls the three paths fully disjoint, and then counts one collision. Disjoint paths have none, and here there is none.",
            "A queue pair is placed on the spine of its number among those of its leaf, modulo the spines. A permutation of as many flows as spines then has every uplink once. Downlinks are not planned: each flow has a host of its own.",
        ],
    )
    found.plots.append(("srv6-collisions", bars(rows)))
    return found


def bars(rows: pandas.DataFrame) -> Plot:
    """Runs by number of collisions."""
    drawing = Plot(figsize=(6, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    for offset, (name, own) in enumerate(rows.groupby("paths", sort=False)):
        counts = own.collisions.value_counts().sort_index()
        axes.bar(counts.index + 0.4 * offset - 0.2, counts, width=0.4, label=name)
    axes.set_xlabel("flows that share an uplink")
    axes.set_ylabel("permutations")
    axes.legend()
    return drawing


# The flow that is watched runs for 300 samples, as the paper's 30 s of 100 ms; another flow comes to its uplink after two fifths of the time.
SAMPLE_US, SAMPLES, COMES_AT = 100, 300, 0.4
# Bytes of a message of the watched flow; of a flow that only takes the place of a spine.
MESSAGE, FILLER = 131_072, 64
# Whether throughput is watched.
REROUTES = {"stays": 0, "leaves": SAMPLE_US}


def reroute_points(scale: Scale) -> list[dict[str, Any]]:
    """With and without telemetry."""
    return [{"flow": flow, "samples": SAMPLES if scale.is_full else SAMPLES // 5, "seed": seed} for flow in REROUTES for seed in scale.seeds]


def measure_reroute(point: dict[str, Any]) -> dict[str, Any]:
    """Throughput of the watched flow by sample."""
    run_us = point["samples"] * SAMPLE_US
    comes_us = int(run_us * COMES_AT)
    line = GBPS * 125  # bytes per microsecond
    messages = run_us * line // MESSAGE + 1
    # The queue pairs of the leaf, in this order: the watched one on spine 0, a filler on each other spine, and the one that comes to spine 0.
    flows = [(0, 4, MESSAGE, 0.0)] * messages
    flows += [(2, 4 + number, FILLER, 1e-9 * (number + 1)) for number in range(SPINES - 1)]
    flows.append((1, 5, run_us * line, comes_us * 1e-6))
    run = cluster.run(
        topology=leaves(),
        workload=cluster.flow_file(flow_text(flows), file="reroute"),
        addressing="srv6",
        policy="placed",
        telemetry_us=REROUTES[point["flow"]],
        paths=2 * SPINES,
        queue_pairs="per-pair",
        sample_us=0,
        limit_us=run_us,
        seed=point["seed"],
    )
    table = run.flows.pandas()
    watched = table[(table.src == 0) & table.received_us.notna()]
    arrival = watched.start_us + watched.received_us
    counts, _ = numpy.histogram(arrival, bins=point["samples"], range=(0, run_us))
    gbps = counts * MESSAGE * 8e-3 / SAMPLE_US
    comes = int(point["samples"] * COMES_AT)
    before, behind = float(gbps[2:comes].mean()), gbps[comes:]
    low = numpy.flatnonzero(behind < 0.8 * before)
    packets = run.totals["packets"]
    return {
        "volume_mb": float(counts.sum() * MESSAGE / 1e6),
        "before_gbps": before,
        "last_gbps": float(gbps[-10:].mean()),
        # Samples from the first low one to the last, at most: until throughput is back.
        "low_samples": int(low[-1] - low[0] + 1) if len(low) else 0,
        "retransmitted": packets["retransmitted"],
        "failed": run.totals["flows"]["failed"],
        "hash": run.hash,
        "gbps": [float(value) for value in gbps],
    }


def reroute_findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over seeds."""
    columns = ["volume_mb", "before_gbps", "last_gbps", "low_samples", "retransmitted"]
    means = rows.groupby("flow", sort=False)[columns].mean().reset_index()
    at = means.set_index("flow")
    found = Findings(
        tables=[("Volume of the watched flow, throughput before another flow comes and at the end, samples below 80 % of that before, packets sent again", means)],
        bands=[
            Band("volume, leaves / stays", float(at.loc["leaves"].volume_mb / at.loc["stays"].volume_mb), 1.3, 1.5, paper="98.00 / 69.81 Gb = 1.404, which the text calls 28.7 %"),
            Band("samples until throughput is back", float(at.loc["leaves"].low_samples), 1, 3, paper="about 200 ms, with samples of 100 ms"),
            Band("throughput at the end / before, leaves", float(at.loc["leaves"].last_gbps / at.loc["leaves"].before_gbps), 0.95, 1.05, paper="recovers rapidly"),
            Band("throughput at the end / before, stays", float(at.loc["stays"].last_gbps / at.loc["stays"].before_gbps), 0.4, 0.6, paper="congestion control alone: degraded"),
            Band("queue pairs that fail", float(rows.failed.sum()), 0, 0, paper="the semantics of RDMA stay intact"),
        ],
        notes=[
            "The paper's volumes give a gain of 40.4 %: 28.7 % is the difference over the larger volume, (98.00 - 69.81) / 98.00. The band is 1.404 and a tenth of it, so 28.7 % would not be in it.",
            "The paper throttles a virtual link, and does not say to what or when. Here another flow comes to the uplink after two fifths of the time, and halves it: 0.4 + 0.6 / 2 = 0.7 of the volume, a ratio of 1.43. So the ratio is that of our choice; what is measured is how soon the path is left, and that nothing is lost by it.",
            "Samples are 100 us and not 100 ms, with 100 Gb/s and round trips of 8 us; the paper's volumes in 30 s are 2.3 and 3.3 Gb/s. The number of samples is the paper's in the full set, and a fifth of it in the quick one.",
        ],
    )
    found.plots.append(("srv6-reroute", curves(rows)))
    return found


def curves(rows: pandas.DataFrame) -> Plot:
    """Throughput over time with the first seed."""
    drawing = Plot(figsize=(8, 3.5), layout="constrained")
    axes = drawing.add_subplot()
    for _, row in rows[rows.seed == rows.seed.min()].iterrows():
        axes.plot([number * SAMPLE_US / 1e3 for number in range(len(row.gbps))], row.gbps, label=row.flow)
    axes.set_xlabel("ms")
    axes.set_ylabel("Gb/s")
    axes.legend()
    return drawing


COLLISIONS = Figure(
    name="srv6-collisions",
    title="Flows that collide, with ECMP and with placed source routes",
    source="Toward Deterministic Path Placement in AI Backends (SRv6), figure 1",
    setup=f"Two leaves of {HOSTS} hosts, {SPINES} spines, {GBPS} Gb/s: permutations of {2 * HOSTS} flows of 400 KB, one path each.",
    parts=PARTS,
    points=collision_points,
    measure=measure_collisions,
    findings=collision_findings,
    quick_seeds=20,
    full_seeds=100,
)
REROUTE = Figure(
    name="srv6-reroute",
    title="Throughput of a flow that leaves a congested path, and of one that stays",
    source="Toward Deterministic Path Placement in AI Backends (SRv6), figure 3",
    setup=f"Two leaves of {HOSTS} hosts, {SPINES} spines, {GBPS} Gb/s: a flow on one path, to whose uplink another one comes; throughput in samples of {SAMPLE_US} us.",
    parts=PARTS,
    points=reroute_points,
    measure=measure_reroute,
    findings=reroute_findings,
    quick_seeds=2,
    full_seeds=5,
)
