"""HP3, "Switch-transparent load balancing for RDMA data centers" (IWQoS 2026): two flows that collide, slowdown of flows, and completion times of jobs."""

from __future__ import annotations

from typing import Any

import numpy
import pandas
from matplotlib.figure import Figure as Plot

from figures import hopper
from figures.figure import REFERENCE, Band, Figure, Findings, Scale, all_finish
from figures.hopper import Scheme
from figures.workloads import Job, rings, shuffled
from openstellar import cluster

PARTS = REFERENCE + " LetFlow, spraying by packet, adaptive routing and ConWeave are models of switches."
PATHS = 128
MTU = 4096
NO_PARAMETERS = "The talk gives no parameters: 3 marked round trips before a pause, 8 probes, a window of 3/2 on the new path, and 8 round trips of rest are ours."
# Bytes from which on a queue marks, as everywhere in clusters.
MARKS_FROM = 41_500

# Name: policy. All draw the same first path from a seed, so they collide in the same runs.
COLLIDING = {"ecmp": "single", "flow-bender": "flow-bender", "hopper": "hopper", "hp3": "hp3"}


def collision_points(scale: Scale) -> list[dict[str, Any]]:
    """Every scheme."""
    return [{"scheme": scheme, "bytes": 20_000_000, "seed": seed} for scheme in COLLIDING for seed in scale.seeds]


def measure_collision(point: dict[str, Any]) -> dict[str, Any]:
    """Completion times of the two flows, what the uplinks of the senders carried and marked, and what waited there in the second half of the time that a flow takes alone."""
    link = {"rate_gbps": 100}
    alone_us = point["bytes"] * 8e-3 / 100
    run = cluster.run(
        topology=cluster.leaf_spine(leaves=2, hosts=2, spines=2, host_link=link, spine_link=link),
        workload=cluster.matrix(f"Nodes 4\nConnections 2\n0->2 id 1 start 0 size {point['bytes']}\n1->3 id 2 start 0 size {point['bytes']}\n", file="collision"),
        policy=COLLIDING[point["scheme"]],
        paths=PATHS,
        mtu=MTU,
        early_loss=128,
        sample_us=5,
        sample_window=(int(alone_us / 2), int(alone_us)),
        seed=point["seed"],
    )
    uplinks = run.uplinks.pandas()
    used = uplinks[uplinks["from"] == "p0.leaf0"]
    return {
        "fct_us": float(run.flows["fct_us"].mean()),
        "alone_us": alone_us,
        "uneven": float((used.bytes.max() - used.bytes.min()) / used.bytes.sum()),
        "marked_%": 100 * run.totals["packets"]["marked"] / run.totals["packets"]["data"],
        "later_queue": run.totals["uplinks"]["waiting"]["max"],
        "probes": run.totals["packets"]["probes"],
        "retransmitted": run.totals["packets"]["retransmitted"],
        "unfinished": run.totals["flows"]["total"] - run.totals["flows"]["finished"],
        "hash": run.hash,
    }


def collision_findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over the seeds with which the flows of ECMP share an uplink."""
    ecmp = rows[rows.scheme == "ecmp"]
    collided = set(ecmp[ecmp.uneven > 0.9].seed)
    columns = ["fct_us", "alone_us", "marked_%", "later_queue", "probes", "retransmitted"]
    means = rows[rows.seed.isin(collided)].groupby("scheme", sort=False)[columns].mean().reset_index()
    at = means.set_index("scheme")
    found = Findings(
        tables=[
            (
                f"Means over the {len(collided)} of {len(scale.seeds)} seeds with a collision: completion time and that of a flow alone, frames with a mark / data packets, greatest queue of the uplinks in the "
                "second half of a flow's time alone in bytes, probes, packets sent again",
                means,
            )
        ],
        bands=[
            Band("runs in which ECMP's flows collide", len(collided), 1, len(scale.seeds)),
            Band("completion time, HP3 / ECMP", float(at.loc["hp3"].fct_us / at.loc["ecmp"].fct_us), 0.45, 0.6, paper="reduced by nearly half"),
            Band("completion time, HP3 / a flow alone", float(at.loc["hp3"].fct_us / at.loc["hp3"].alone_us), 1.0, 1.2, paper="throughput at line rate"),
            Band("greatest queue of an uplink later", float(at.loc["hp3"].later_queue), 0, MARKS_FROM, unit="bytes", paper=f"no marks any more; marks begin at {MARKS_FROM:,} bytes"),
            Band("packets sent again with HP3", float(at.loc["hp3"].retransmitted), 0, 0, paper="no reordering"),
            all_finish(rows),
        ],
        notes=[NO_PARAMETERS, "The talk's testbed (P4 switches, DPDK, DCQCN) is not described; here two hosts of a leaf send 20 MB each to another leaf over two spines, with NSCC and MRC."],
    )
    found.plots.append(("hp3-collision", bars(means, [("completion time, us", "fct_us"), ("frames with a mark, %", "marked_%")])))
    return found


# What the talk compares with, and the policies of cards that are here.
SCHEMES = {
    "ecmp": Scheme("ecmp", "single", 1),
    "let-flow": Scheme("let-flow", "single", 1),
    "rps": Scheme("spray", "single", 1),
    "ar": Scheme("adaptive", "single", 1),
    "conweave": Scheme("conweave", "single", 1),
    "flow-bender": Scheme("ecmp", "flow-bender", PATHS),
    "hopper": Scheme("ecmp", "hopper", PATHS),
    "hp3": Scheme("ecmp", "hp3", PATHS),
}
IN_ANY_ORDER = (
    "MRC takes packets in any order, so spraying and moving at once cost no retransmissions here; over RC, which the talk's cards use, they do. HP3 waits for an empty path, which costs a round trip and more, and most flows "
    "end before three marked round trips. How much each of these does was not measured."
)


def flow_points(scale: Scale) -> list[dict[str, Any]]:
    """Every scheme with two of the talk's distributions."""
    loads, arrivals_us = ((50, 80), 8000) if scale.is_full else ((80,), 500)
    return [
        {"workload": workload, "scheme": scheme, "load": load, "arrivals_us": arrivals_us, "seed": seed}
        for workload in ("alicloud", "hadoop")
        for scheme in SCHEMES
        for load in loads
        for seed in scale.seeds
    ]


def measure_flows(point: dict[str, Any]) -> dict[str, Any]:
    """Slowdowns as in Hopper's figures."""
    row = hopper.slowdowns(SCHEMES[point["scheme"]], point)
    return {name: row[name] for name in ("flows", "unfinished", "again_%", "all: mean", "all: p99", "hash")}


def flow_findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over seeds; HP3 against the others."""
    names = ["flows", "unfinished", "again_%", "all: mean", "all: p99"]
    means = rows.groupby(["workload", "load", "scheme"], sort=False)[names].mean().reset_index()
    found = Findings(tables=[("Slowdown of flows: completion time / that of the flow alone (mean, 99 %); packets sent again in %", means)])
    for (workload, load), part in means.groupby(["workload", "load"], sort=False):
        at = part.set_index("scheme")
        for name, label in (("all: mean", "mean slowdown"), ("all: p99", "99 % slowdown")):
            others = at.loc[["let-flow", "rps", "ar", "conweave"]][name]
            found.bands += [
                Band(f"{workload}, {load} %: {label}, ECMP / HP3", float(at.loc["ecmp"][name] / at.loc["hp3"][name]), 1, 3.4, paper="HP3 is better, up to 3.4 times", why=IN_ANY_ORDER),
                Band(f"{workload}, {load} %: {label}, best other of the talk / HP3", float(others.min() / at.loc["hp3"][name]), 1, 3.4, paper="HP3 has the lowest", why=IN_ANY_ORDER),
            ]
    found.bands.append(all_finish(rows))
    found.notes += [NO_PARAMETERS, "Web search and data mining, the talk's other distributions, are not here."]
    found.plots.append(("hp3-flows", bars(means[means.workload == "alicloud"], [("AliCloud: mean slowdown", "all: mean"), ("AliCloud: 99 % slowdown", "all: p99")])))
    return found


LEAVES, HOSTS, SPINES = 4, 8, 8


def job_points(scale: Scale) -> list[dict[str, Any]]:
    """Every scheme with both collectives."""
    size = {"reduce_part": 2_000_000, "all_part": 400_000} if scale.is_full else {"reduce_part": 500_000, "all_part": 100_000}
    return [{"job": job, "scheme": scheme, **size, "seed": seed} for job in ("all-reduce", "all-to-all") for scheme in SCHEMES for seed in scale.seeds]


def measure_job(point: dict[str, Any]) -> dict[str, Any]:
    """Completion time of one job of all hosts, which are ranks in a random order."""
    scheme, ranks = SCHEMES[point["scheme"]], LEAVES * HOSTS
    link = {"rate_gbps": 100}
    ring = Job(shuffled(ranks, point["seed"]), point["reduce_part"], 16)
    run = cluster.run(
        topology=cluster.leaf_spine(leaves=LEAVES, hosts=HOSTS, spines=SPINES, host_link=link, spine_link=link),
        workload=cluster.matrix(rings([ring], ranks), file="ring") if point["job"] == "all-reduce" else cluster.all_to_all(bytes=point["all_part"]),
        balancer=scheme.balancer,
        policy=scheme.policy,
        paths=scheme.paths,
        mtu=MTU,
        early_loss=128,
        queue_pairs="per-pair",
        sample_us=0,
        seed=point["seed"],
    )
    return {
        "jct_us": float(numpy.nanmax(run.flows["start_us"] + run.flows["fct_us"])),
        "marked_%": 100 * run.totals["packets"]["marked"] / run.totals["packets"]["data"],
        "again_%": 100 * run.totals["packets"]["retransmitted"] / run.totals["packets"]["data"],
        "unfinished": run.totals["flows"]["total"] - run.totals["flows"]["finished"],
        "hash": run.hash,
    }


def job_findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over seeds; HP3 against the others."""
    means = rows.groupby(["job", "scheme"], sort=False)[["jct_us", "marked_%", "again_%"]].mean().reset_index()
    found = Findings(tables=[("Completion time of the job, frames with a mark / data packets, packets sent again", means)])
    for job, part in means.groupby("job", sort=False):
        at = part.set_index("scheme").jct_us
        best = float(at[["let-flow", "rps", "ar", "conweave"]].min())
        found.bands += [
            Band(f"{job}: completion time, ECMP / HP3", float(at["ecmp"] / at["hp3"]), 1, 1.5, paper="HP3 is better, up to 1.3 times", why=IN_ANY_ORDER),
            Band(f"{job}: completion time, best other of the talk / HP3", best / float(at["hp3"]), 1, 1.5, paper="HP3 has the shortest", why=IN_ANY_ORDER),
        ]
    found.bands.append(all_finish(rows))
    found.notes += [NO_PARAMETERS, "The upper bounds of the bands, 1.5, leave room above the talk's 1.3."]
    found.plots.append(("hp3-jobs", bars(means[means.job == "all-reduce"], [("AllReduce: completion time, us", "jct_us"), ("frames with a mark, %", "marked_%")])))
    return found


def bars(means: pandas.DataFrame, panels: list[tuple[str, str]]) -> Plot:
    """A drawing per value, a bar per scheme."""
    drawing = Plot(figsize=(5 * len(panels), 3.6), layout="constrained")
    for number, (label, name) in enumerate(panels, 1):
        axes = drawing.add_subplot(1, len(panels), number)
        axes.bar(range(len(means)), means[name])
        axes.set_xticks(range(len(means)), list(means.scheme), rotation=30, ha="right")
        axes.set_ylabel(label)
    return drawing


COLLISION = Figure(
    name="hp3-collision",
    title="Two flows that collide",
    source="HP3, micro-benchmark of the talk",
    setup="Two hosts of one leaf send 20 MB each to another leaf at 100 Gb/s over two spines; of the seeds, those count with which ECMP puts both flows on one spine. 128 paths, MTU 4,096.",
    parts=REFERENCE,
    points=collision_points,
    measure=measure_collision,
    findings=collision_findings,
    quick_seeds=8,
    full_seeds=30,
)
FLOWS = Figure(
    name="hp3-flows",
    title="Slowdown of flows by load balancer, with HP3",
    source="HP3, simulations of the talk",
    setup=hopper.SETUP,
    parts=PARTS,
    points=flow_points,
    measure=measure_flows,
    findings=flow_findings,
    quick_seeds=2,
    full_seeds=5,
)
JOBS = Figure(
    name="hp3-jobs",
    title="Completion times of jobs by load balancer, with HP3",
    source="HP3, simulations of the talk",
    setup="32 hosts of four leaves, eight spines, 100 Gb/s; one job of all hosts: 16 steps of a ring in a random order, or all to all; one queue pair per pair of hosts; MTU 4,096.",
    parts=PARTS,
    points=job_points,
    measure=measure_job,
    findings=job_findings,
    quick_seeds=2,
    full_seeds=6,
)
