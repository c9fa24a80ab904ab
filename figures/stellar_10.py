"""STELLAR, figure 10: an AllReduce beside two others, which are always there (a) or come and go (b)."""

from __future__ import annotations

from typing import Any

import numpy
import pandas
from matplotlib.figure import Figure as Plot

from figures.figure import REFERENCE, Band, Figure, Findings, Scale
from figures.workloads import Job, rings, shuffled
from openstellar import cluster

LEAVES = 4
POLICIES = ("round-robin", "obs", "bitmap", "reps")
# Bandwidth of a rank's port: 200 Gb/s of payload and headers.
PORT_GBYTES = 25.0


def points(scale: Scale) -> list[dict[str, Any]]:
    """Alone, beside two static jobs at two loads of the uplinks, and beside bursts; 1, 4 and 128 paths."""
    # Hosts of a leaf and ranks of a job: all hosts are ranks of one of three jobs. Spines as hosts: full load; twice as many: half load.
    size = {"hosts": 30, "ranks": 40, "part": 1_000_000, "steps": 78} if scale.is_full else {"hosts": 15, "ranks": 20, "part": 500_000, "steps": 38}
    half, whole = 2 * size["hosts"], size["hosts"]
    settings = [("single", 1)] + [(policy, paths) for policy in POLICIES for paths in (4, 128)]
    cases = [("alone", half), ("static", half), ("static", whole), ("bursts", half)]
    return [
        {"policy": policy, "paths": paths, "background": background, "spines": spines, **size, "seed": seed}
        for background, spines in cases
        for policy, paths in settings
        for seed in scale.seeds
    ]


def burst_steps(point: dict[str, Any]) -> int:
    """Steps of a burst."""
    return point["steps"] // 8


def jobs(point: dict[str, Any]) -> list[Job]:
    """The measured job first. Static jobs last longer than it; bursts of them are on for as long as they are off."""
    places = shuffled(LEAVES * point["hosts"], point["seed"])
    ranks, part, steps = point["ranks"], point["part"], point["steps"]
    hosts = [places[job * ranks : (job + 1) * ranks] for job in range(3)]
    measured = Job(hosts[0], part, steps)
    if point["background"] == "alone":
        return [measured]
    if point["background"] == "static":
        return [measured, Job(hosts[1], part, 2 * steps), Job(hosts[2], part, 2 * steps)]
    # A burst of some steps takes about as long as these steps on an idle fabric: a step is a part at line rate and a round trip.
    burst = burst_steps(point)
    on_us = burst * (part / 25e3 + 8)
    starts = [on_us * (1 + 2 * burst_number) for burst_number in range(4)]
    return [measured] + [Job(ranks_of, part, burst, start) for start in starts for ranks_of in hosts[1:]]


def measure(point: dict[str, Any]) -> dict[str, Any]:
    """The measured job's bus bandwidth, over all of it and in its slowest steps."""
    all_jobs = jobs(point)
    nodes = LEAVES * point["hosts"]
    run = cluster.run(
        topology=cluster.leaf_spine(leaves=LEAVES, hosts=point["hosts"], spines=point["spines"]),
        workload=cluster.matrix(rings(all_jobs, nodes), file="rings"),
        policy=point["policy"],
        paths=point["paths"],
        sample_us=0,
        seed=point["seed"],
    )
    arrivals = (run.flows["start_us"] + run.flows["received_us"])[: all_jobs[0].flows]
    last_us = float(arrivals.max())
    # The mean arrival of each step, from which the slowest run of as many steps as a burst has follows.
    steps = arrivals.reshape(point["steps"], point["ranks"]).mean(axis=1)
    window = burst_steps(point)
    slowest_us = float((steps[window:] - steps[:-window]).max())
    return {
        "busbw": point["steps"] * point["part"] / last_us / 1e3,
        "worst": window * point["part"] / slowest_us / 1e3,
        "step_us": last_us / point["steps"],
        "retransmitted": run.totals["packets"]["retransmitted"],
        "hash": run.hash,
    }


def findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over seeds, and their ratios."""
    hosts = int(rows.hosts.iloc[0])
    rows = rows.assign(load=100 * hosts // rows.spines)
    means = rows.groupby(["background", "load", "policy", "paths"], sort=False)[["busbw", "worst", "step_us", "retransmitted"]].mean().reset_index()
    at = means.set_index(["background", "load", "policy", "paths"])

    def busbw(background: str, load: int, policy: str, paths: int) -> float:
        return at.loc[(background, load, policy, paths)].busbw

    def dip(policy: str, paths: int) -> float:
        """The part of the bandwidth that is lost in the slowest steps."""
        return 1 - at.loc[("bursts", 50, policy, paths)].worst / at.loc[("alone", 50, policy, paths)].worst

    alone = busbw("alone", 50, "obs", 128)
    found = Findings(tables=[("Bus bandwidth of the measured job in GB/s (a port has 25), over all steps and over the slowest ones in a row (as many as a burst has), and mean time of a step", means)])
    found.bands = [
        Band("static, 50 % load: OBS with 128 paths / alone", busbw("static", 50, "obs", 128) / alone, 0.95, 1.01, paper="OBS and RR reach the NIC's bandwidth"),
        Band("static, 50 % load: round robin with 128 paths / alone", busbw("static", 50, "round-robin", 128) / alone, 0.95, 1.01, paper="OBS and RR reach the NIC's bandwidth"),
        Band("static, 50 % load: OBS, 128 paths / 4 paths", busbw("static", 50, "obs", 128) / busbw("static", 50, "obs", 4), 1.15, 2.0, paper="128 paths use the NIC fully"),
        Band("static, 100 % load: OBS, 128 paths / 4 paths", busbw("static", 100, "obs", 128) / busbw("static", 100, "obs", 4), 1.4, 2.5, paper="128 paths use the NIC fully", why=LONG_RINGS),
        Band("bursts: dip of OBS, 128 paths / 4 paths", dip("obs", 128) / dip("obs", 4), -0.5, 0.5, paper="128 paths mitigate bursts significantly"),
        Band("bursts: OBS / round robin, 128 paths", busbw("bursts", 50, "obs", 128) / busbw("bursts", 50, "round-robin", 128), 0.98, 1.5, paper="OBS more resilient than RR"),
    ]
    found.plots.append(("stellar-10", plot(means)))
    found.notes += [
        f"Three jobs of {rows.ranks.iloc[0]} ranks on one 200 Gb/s port each stand for jobs of 512 GPUs with two ports (50 GB/s). A step is a part at line rate and a round trip, so that a job alone has {alone:.1f} GB/s of 25.",
        "Bursts are on and off for some hundred microseconds, not for 5 s: a hundred round trips, as congestion control sees them.",
        "BestRTT and DWRR of the paper's figure are not in this simulator.",
    ]
    return found


def plot(means: pandas.DataFrame) -> Plot:
    """Bus bandwidth by policy, a group of bars for each background."""
    drawing = Plot(figsize=(9, 4), layout="constrained")
    axes = drawing.add_subplot()
    cases = list(means.groupby(["background", "load"], sort=False))
    labels = [f"{policy} {paths}" for policy, paths in zip(cases[0][1].policy, cases[0][1].paths, strict=True)]
    for number, ((background, load), at) in enumerate(cases):
        places = numpy.arange(len(labels)) + (number - 1.5) * 0.2
        axes.bar(places, at.busbw, width=0.2, label=f"{background}, {load} % load")
    axes.axhline(PORT_GBYTES, color="grey", linestyle=":")
    axes.set_xticks(range(len(labels)), labels, rotation=30, ha="right")
    axes.set_ylabel("bus bandwidth, GB/s")
    axes.legend()
    return drawing


LONG_RINGS = "a step of a ring waits for its slowest rank, and the rings of the full set have 40 ranks, those of the quick set 20: 4 paths fall further behind."
FIGURE = Figure(
    name="stellar-10",
    title="An AllReduce beside static and bursty background traffic",
    source="STELLAR, figure 10, section 7.2",
    setup="Rings of three jobs at random places of four leaves, one port of 200 Gb/s per rank; uplinks at half and at full load; two jobs are the background.",
    parts=REFERENCE,
    points=points,
    measure=measure,
    findings=findings,
    quick_seeds=1,
    full_seeds=3,
)
