"""STELLAR, figure 9: queues of ToR uplinks under permutation traffic, with 4 and with 128 paths."""

from __future__ import annotations

from typing import Any

import pandas
from matplotlib.figure import Figure as Plot

from figures.figure import REFERENCE, Band, Figure, Findings, Scale, all_finish
from openstellar import cluster

# The paper's algorithms: those that the card has, and those that are baselines. The table has the card's other policies too, and windows of paths.
PAPER = ("single", "round-robin", "obs")
BASELINES = ("dwrr", "best-rtt", "mp-rdma", "per-path")
HOSTS, SPINES = 60, 60
# Active hosts per leaf, and leaves, by load of the uplinks.
LOADS = {25: (15, 8), 50: (30, 4)}


def points(scale: Scale) -> list[dict[str, Any]]:
    """Every policy with 4 and 128 paths at both loads; a single path once."""
    loads = LOADS if scale.is_full else {50: LOADS[50]}
    return [
        {"policy": policy, "paths": paths, "load": load, "bytes": 20_000_000 if scale.is_full else 10_000_000, "seed": seed}
        for load in loads
        for policy in cluster.policies()
        for paths in ((1,) if policy == "single" else (4, 128))
        for seed in scale.seeds
    ]


def measure(point: dict[str, Any]) -> dict[str, Any]:
    """Runs a permutation, and samples the uplinks' queues while all flows run."""
    active, leaves = LOADS[point["load"]]
    last_us = point["bytes"] // 25_000  # at 200 Gb/s
    run = cluster.run(
        topology=cluster.leaf_spine(leaves=leaves, hosts=HOSTS, spines=SPINES),
        workload=cluster.permutation(bytes=point["bytes"], ranks=active),
        policy=point["policy"],
        paths=point["paths"],
        sample_window=(100, last_us),
        seed=point["seed"],
    )
    queue, times = run.totals["uplinks"]["with_line"], run.totals["flows"]["fct_us"]
    return {
        "mean_kb": queue["mean"] / 1e3,
        "max_kb": queue["max"] / 1e3,
        "fct_us": times["mean"],
        "fct_max_us": times["max"],
        "unfinished": run.totals["flows"]["total"] - run.totals["flows"]["finished"],
        "hash": run.hash,
    }


def findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """The mean over seeds of each setting; the ratios of the bands are of these."""
    columns = ["mean_kb", "max_kb", "fct_us", "fct_max_us"]
    means = rows.groupby(["load", "policy", "paths"], sort=False)[columns].mean().reset_index()
    found = Findings(tables=[("Queues of uplinks with the frame on the line (mean over samples, greatest sample), flow completion times (mean, longest)", means)])
    for load in means.load.unique():
        at = means[means.load == load].set_index(["policy", "paths"])
        few, many, one = at.loc[("obs", 4)], at.loc[("obs", 128)], at.loc[("single", 1)]
        where = f"{load} % load"
        mean_high = 0.35 if load == 50 else 0.75
        found.bands += [
            Band(f"{where}: greatest queue, OBS, 128 paths / 4 paths", many.max_kb / few.max_kb, 0.02, 0.15, paper="average and maximum fall significantly"),
            Band(f"{where}: mean queue, OBS, 128 paths / 4 paths", many.mean_kb / few.mean_kb, 0.0, mean_high, paper="average and maximum fall significantly"),
            Band(f"{where}: greatest queue, OBS, 128 paths", many.max_kb, 0, 64, "KB", paper="all alike with 128 paths"),
            Band(
                f"{where}: greatest queue, round robin / OBS, 128 paths",
                at.loc[("round-robin", 128)].max_kb / many.max_kb,
                0.5,
                2,
                paper="RR and OBS alike with 128 paths",
            ),
            *against_baselines(where, at),
            Band(f"{where}: greatest queue, single path / OBS with 128 paths", one.max_kb / many.max_kb, 3, 1000, paper="single path is not alike"),
            Band(f"{where}: mean queue, OBS with 128 paths / single path", many.mean_kb / one.mean_kb, 0.08 if load == 50 else 0.2, 0.3 if load == 50 else 0.45, paper="queues 90 % shorter (against what, the paper does not say)"),
        ]
        if load == 50:
            found.bands.append(Band(f"{where}: greatest queue, OBS with 128 paths / single path", many.max_kb / one.max_kb, 0.05, 0.25, paper="queues 90 % shorter"))
        best = min(at.loc[(policy, 128)].fct_us for policy in ("bitmap", "reps", "ev-state"))
        found.bands.append(Band(f"{where}: completion time, best path-aware policy / OBS, 128 paths", best / many.fct_us, 0.98, 1.02, paper="path-aware policies have no significant advantage on regular traffic"))
    found.bands.append(all_finish(rows))
    found.plots.append(("stellar-9", plot(means)))
    found.notes += [
        "The paper does not say the load; 30 servers in two segments of its fabric give 12.5 to 50 %. From 90 % on, 128 hashed paths leave the loads of 60 uplinks 20 % apart, and queues do not fall.",
        "DWRR, BestRTT and MPRDMA are baselines of the simulator, not in the card (docs/policies.md). The paper gives neither rules nor parameters of them: those of DWRR and BestRTT are ours, those of MPRDMA are its paper's. It has its own window, and per-path has one for each path; both hear of every packet, the others of one in four.",
        "At the same load the greatest queue of a single path can be below that of 4 paths: it is bounded by one window for each flow that collides.",
    ]
    return found


def against_baselines(where: str, at: pandas.DataFrame) -> list[Band]:
    """The paper's other algorithms with 128 paths, and its argument for one window: windows of four paths, in the state that 128 paths share."""
    many = at.loc[("obs", 128)]

    def queue(policy: str) -> float:
        return float(at.loc[(policy, 128)].max_kb / many.max_kb)

    return [
        Band(f"{where}: greatest queue, DWRR / OBS, 128 paths", queue("dwrr"), 0.5, 2, paper="alike with 128 paths"),
        Band(f"{where}: greatest queue, MPRDMA / OBS, 128 paths", queue("mp-rdma"), 0.5, 2, paper="alike with 128 paths", why=ONE_WINDOW),
        Band(f"{where}: greatest queue, BestRTT / OBS, 128 paths", queue("best-rtt"), 3, 1000, paper="BestRTT is not alike: it uses few paths"),
        Band(f"{where}: completion time, OBS with 128 paths and one window / windows of 4 paths", float(many.fct_us / at.loc[("per-path", 4)].fct_us), 0.5, 0.9, paper="one window for 128 paths, because windows of paths would leave 4", why=FOUR_WINDOWS),
    ]


FOUR_WINDOWS = "the paper makes no measurement of it, and the band is ours. At half load four windows leave a path that is full, so flows lose little; their greatest queues are ten times those of 128 paths."
ONE_WINDOW = "MPRDMA has its own window, which grows by a packet per round trip until marks come; how much of the difference that makes was not measured."


def plot(means: pandas.DataFrame) -> Plot:
    """Mean and greatest queue by policy."""
    drawing = Plot(figsize=(9, 3.5 * means.load.nunique()), layout="constrained")
    for row, load in enumerate(means.load.unique()):
        at = means[means.load == load]
        for column, (name, label) in enumerate((("mean_kb", "mean queue, KB"), ("max_kb", "greatest queue, KB"))):
            axes = drawing.add_subplot(means.load.nunique(), 2, 2 * row + column + 1)
            labels = [f"{policy} {paths}" for policy, paths in zip(at.policy, at.paths, strict=True)]
            axes.barh(labels, at[name], color=["tab:orange" if paths == 128 else "tab:blue" for paths in at.paths])
            axes.invert_yaxis()
            axes.set_xscale("log")
            axes.set_xlabel(f"{label} ({load} % load)")
    return drawing


FIGURE = Figure(
    name="stellar-9",
    title="Queues of ToR uplinks under permutation traffic, 4 and 128 paths",
    source="STELLAR, figure 9, section 7.2",
    setup="120 flows between leaves of 60 hosts with 60 spines, 200 Gb/s; every policy with 4 and 128 paths; NSCC; queues sampled every 5 us while all flows run.",
    parts=REFERENCE + " DWRR, BestRTT, MPRDMA and windows of paths are baselines of the simulator, which are neither in the reference nor in Verilog.",
    points=points,
    measure=measure,
    findings=findings,
)
