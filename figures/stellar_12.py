"""STELLAR, figure 12: how evenly the uplinks of a ToR are used, by the number of paths."""

from __future__ import annotations

import math
from typing import Any

import pandas
from matplotlib.figure import Figure as Plot

from figures.figure import REFERENCE, Band, Figure, Findings, Scale
from openstellar import cluster

SPINES, CONNECTIONS = 60, 16
PATHS = (4, 8, 16, 32, 64, 128)


def points(scale: Scale) -> list[dict[str, Any]]:
    """16 connections between 16 pairs of hosts, whose paths are independent, and between one pair, whose are not."""
    policies = ("obs", "round-robin", "bitmap", "reps") if scale.is_full else ("obs",)
    return [
        {"pairs": pairs, "policy": policy, "paths": paths, "bytes": 8_000_000, "seed": seed}
        for pairs in (CONNECTIONS, 1)
        for policy in policies
        for paths in PATHS
        for seed in scale.seeds
    ]


def measure(point: dict[str, Any]) -> dict[str, Any]:
    """All connections send from the first to the second leaf; only the uplinks of the first carry data."""
    pairs = point["pairs"]
    # The seed moves the pairs to other addresses, so that switches hash them to other uplinks.
    first = CONNECTIONS * (point["seed"] - 1)
    hosts = max(CONNECTIONS * point["seed"], 2)
    lines = [
        f"{first + number % pairs}->{hosts + first + number % pairs} id {number + 1} start 0 size {point['bytes']}"
        for number in range(CONNECTIONS)
    ]
    text = "\n".join([f"Nodes {2 * hosts}", f"Connections {CONNECTIONS}", *lines]) + "\n"
    run = cluster.run(
        topology=cluster.leaf_spine(leaves=2, hosts=hosts, spines=SPINES),
        workload=cluster.matrix(text, file="connections"),
        policy=point["policy"],
        paths=point["paths"],
        sample_us=0,
        seed=point["seed"],
    )
    uplinks = run.uplinks.pandas()
    bytes_of = uplinks[uplinks["from"] == "p0.leaf0"].bytes
    return {
        "range": float((bytes_of.max() - bytes_of.min()) / bytes_of.mean()),
        "used": int((bytes_of > bytes_of.mean() / 100).sum()),
        "hash": run.hash,
    }


def theory(paths: int) -> float:
    """(Greatest - least) / mean of the loads of uplinks if every path takes a random one: 4.64 deviations lie between the extremes of 60."""
    return 4.64 / math.sqrt(CONNECTIONS * paths / SPINES)


def findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over seeds beside the closed form."""
    means = rows.groupby(["pairs", "policy", "paths"], sort=False)[["range", "used"]].mean().reset_index()
    means["closed form"] = [theory(row.paths) if row.pairs > 1 else theory(row.paths / CONNECTIONS) for row in means.itertuples()]
    obs = means[(means.pairs > 1) & (means.policy == "obs")].set_index("paths")
    found = Findings(tables=[("(greatest - least) / mean of the uplinks' bytes, and uplinks used", means)])
    found.bands = [
        Band(f"{paths} paths: imbalance / closed form", obs.loc[paths, "range"] / theory(paths), 0.75, 1.25, paper="falls with the number of paths")
        for paths in PATHS
    ]
    steps = [obs.loc[after, "range"] / obs.loc[before, "range"] for before, after in zip(PATHS, PATHS[1:], strict=False)]
    found.bands += [
        Band("greatest ratio of the imbalance to that with half as many paths", max(steps), 0, 1, paper="falls with the number of paths"),
        Band("imbalance with 4 paths / with 128 paths", obs.loc[4, "range"] / obs.loc[128, "range"], 4, 7, paper="ideal with 128 paths"),
    ]
    found.plots.append(("stellar-12", plot(means)))
    found.notes += [
        "There is no knee at 128 paths with hashing: the imbalance falls with the square root of the number of paths. Paths of which each names its uplink (SRv6) have one; clusters run IPv4 only, so they are not in this figure (docs/multipath.md, spread over uplinks).",
        "The 16 connections are between 16 pairs of hosts. Connections between one pair share the entropy values of their profile here, so they hash to the same uplinks, and 16 of them spread no better than one (rows with 1 pair): a driver has to give them profiles of their own.",
        "The paper divides by a port's bandwidth instead of the mean load. Of one NIC of 200 Gb/s over 60 uplinks of as much, its values are these divided by 60.",
        "256 paths, the paper's last point, are more than a queue pair has (128).",
    ]
    return found


def plot(means: pandas.DataFrame) -> Plot:
    """Imbalance over paths."""
    drawing = Plot(figsize=(7, 4), layout="constrained")
    axes = drawing.add_subplot()
    for (pairs, policy), at in means.groupby(["pairs", "policy"], sort=False):
        axes.loglog(at.paths, at.range, "o-", base=2, label=f"{policy}, {pairs} pairs of hosts")
    axes.loglog(PATHS, [theory(paths) for paths in PATHS], ":", base=2, color="grey", label="4.64 / sqrt(16 paths / 60)")
    axes.set_xticks(PATHS, [str(paths) for paths in PATHS])
    axes.set_xlabel("paths of a connection")
    axes.set_ylabel("(greatest - least) / mean")
    axes.legend()
    return drawing


FIGURE = Figure(
    name="stellar-12",
    title="Use of a ToR's uplinks by the number of paths",
    source="STELLAR, figure 12, section 7.2",
    setup="16 connections over 60 uplinks, 8 MB each, with 4 to 128 paths.",
    parts=REFERENCE,
    points=points,
    measure=measure,
    findings=findings,
    quick_seeds=5,
    full_seeds=10,
)
