"""Hopper, figures 3 and 4 and appendix B: slowdown of flows under three workloads, by load balancer."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy
import pandas
from matplotlib.figure import Figure as Plot

from figures.figure import REFERENCE, Band, Figure, Findings, Scale, all_finish
from figures.workloads import flow_text
from openstellar import cluster

LEAVES, HOSTS, SPINES, GBPS = 8, 16, 8, 100
# A cable, so that a round trip between leaves takes 8 us: eight cables and six switches of 0.5 us.
CABLE_NS = 625
MTU = 1024
# Marks of ConWeave's scripts at 100 Gb/s, whose parameters the paper takes over. Its switches mark what leaves a queue.
ECN = {"min_bytes": 100_000, "max_bytes": 400_000, "max_probability": 0.2, "at_departure": True}


class Scheme(NamedTuple):
    """A load balancer: that of the switches and that of the cards."""

    balancer: str
    policy: str
    paths: int
    early_loss: int = 128
    """Distance of early loss detection; 0: with the timeout alone."""
    congestion: str = "nscc"
    """Congestion control."""


SCHEMES = {
    "ecmp": Scheme("ecmp", "single", 1),
    "flow-bender": Scheme("ecmp", "flow-bender", 128),
    "hopper": Scheme("ecmp", "hopper", 128),
    "hopper, timeout alone": Scheme("ecmp", "hopper", 128, early_loss=0),
    "let-flow": Scheme("let-flow", "single", 1),
    "conga": Scheme("conga", "single", 1),
    "conweave": Scheme("conweave", "single", 1),
    "obs 128": Scheme("ecmp", "obs", 128),
}
# Bytes, and per cent of flows up to them.
SIZES: dict[str, list[tuple[float, float]]] = {
    # AliStorage2019 of HPCC's simulator.
    "alicloud": [(0, 0), (4e3, 22.93), (8e3, 69.21), (16e3, 80.61), (32e3, 90.47), (64e3, 93.53), (128e3, 96.77), (256e3, 97.53), (2e6, 100)],
    # FbHdp2015 of the same, of which some points are left out.
    "hadoop": [
        (0, 0), (100, 0.815), (217, 1.49), (300, 5.2), (480, 26.39), (600, 45.91), (737, 55.2), (1009, 60.6), (1664, 66.73), (2214, 67.47), (7830, 70.82),
        (31946, 72.12), (51046, 81.6), (62583, 82.34), (75180, 84.2), (102058, 88.85), (200755, 93.122), (288520, 95.35), (470507, 96.28), (940700, 97.21),
        (1769244, 98.14), (2169118, 98.7), (1e7, 100),
    ],
    # Invented: the paper's distribution is in no public table.
    "ml": [(0, 0), (64e3, 10), (1e6, 45), (4e6, 80), (16e6, 100)],
}  # fmt: skip
BINS: dict[str, list[float]] = {"alicloud": [0, 8e3, 32e3, 256e3, 2e6], "hadoop": [0, 2e3, 49e3, 266e3, 1e7], "ml": [0, 64e3, 1e6, 4e6, 16e6]}


def points(workload: str, scale: Scale) -> list[dict[str, Any]]:
    """Every scheme at moderate and at high load."""
    arrivals_us = (8000 if scale.is_full else 1000) if workload != "ml" else (16000 if scale.is_full else 2000)
    return [
        {"workload": workload, "scheme": scheme, "load": load, "arrivals_us": arrivals_us, "seed": seed}
        for scheme in SCHEMES
        for load in (50, 80)
        for seed in scale.seeds
    ]


def flows(workload: str, load: int, arrivals_us: int, seed: int) -> list[tuple[int, int, int, float]]:
    """Random pairs of hosts, sizes of the distribution, arrivals as a Poisson process. The load is that of the uplinks if all flows crossed them: with twice as many hosts as
    uplinks, half of it at the hosts, as in ConWeave's scripts."""
    table = numpy.array(SIZES[workload])
    sizes, shares = table[:, 0], table[:, 1] / 100
    mean = float((numpy.diff(shares) * (sizes[1:] + sizes[:-1]) / 2).sum())
    rate_per_us = LEAVES * HOSTS * GBPS * 1e3 / 8 * load / 100 / (HOSTS / SPINES) / mean
    rng = numpy.random.default_rng(seed)
    count = rng.poisson(rate_per_us * arrivals_us)
    starts = numpy.sort(rng.uniform(0, arrivals_us, count)) / 1e6
    chosen = numpy.maximum(numpy.interp(rng.uniform(size=count), shares, sizes).astype(int), 1)
    hosts = LEAVES * HOSTS
    sources = rng.integers(hosts, size=count)
    targets = (sources + rng.integers(1, hosts, size=count)) % hosts
    return list(zip(sources.tolist(), targets.tolist(), chosen.tolist(), starts.tolist(), strict=True))


def idle_us(size: numpy.ndarray, is_local: numpy.ndarray) -> numpy.ndarray:
    """Completion time of a flow alone: its bytes at the rate of a line, the first packet once more at each further line, and the way there and back."""
    lines = numpy.where(is_local, 2, 4)
    packets = numpy.ceil(size / MTU)
    frame = numpy.minimum(size, MTU) + 126
    way = lines * CABLE_NS / 1e3 + (lines - 1) * 0.5
    return (size + 126 * packets + (lines - 1) * frame) * 8e-3 / GBPS + 2 * way


def measure(point: dict[str, Any]) -> dict[str, Any]:
    """Slowdowns of all flows with the scheme of the point."""
    return slowdowns(SCHEMES[point["scheme"]], point)


def slowdowns(scheme: Scheme, point: dict[str, Any]) -> dict[str, Any]:
    """Slowdowns of all flows: mean and 99 %, together and by size."""
    link = {"rate_gbps": GBPS, "delay_ns": CABLE_NS, "ecn": ECN}
    text = flow_text(flows(point["workload"], point["load"], point["arrivals_us"], point["seed"]))
    run = cluster.run(
        topology=cluster.leaf_spine(leaves=LEAVES, hosts=HOSTS, spines=SPINES, host_link=link, spine_link=link),
        workload=cluster.flow_file(text, file=point["workload"]),
        balancer=scheme.balancer,
        policy=scheme.policy,
        paths=scheme.paths,
        mtu=MTU,
        early_loss=scheme.early_loss,
        congestion=scheme.congestion,
        sample_us=0,
        limit_us=point["arrivals_us"] + 50_000,
        seed=point["seed"],
    )
    table = run.flows
    is_local = table["src"] // HOSTS == table["dst"] // HOSTS
    slowdown = table["fct_us"] / idle_us(table["bytes"].astype(float), is_local)
    row: dict[str, Any] = {"flows": table.rows, "unfinished": int(numpy.isnan(slowdown).sum()), "again_%": 100 * run.totals["packets"]["retransmitted"] / run.totals["packets"]["data"], "hash": run.hash}
    bins = BINS[point["workload"]]
    groups = {"all": slowdown} | {
        f"{low / 1e3:g} to {high / 1e3:g} KB": slowdown[(table["bytes"] > low) & (table["bytes"] <= high)] for low, high in zip(bins, bins[1:], strict=False)
    }
    for name, group in groups.items():
        row[f"{name}: mean"] = float(numpy.nanmean(group))
        row[f"{name}: p99"] = float(numpy.nanpercentile(group, 99))
    return row


def findings(workload: str, rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over seeds; Hopper against the others."""
    columns = [name for name in rows if name.endswith((": mean", ": p99"))]
    means = rows.groupby(["load", "scheme"], sort=False)[["flows", "unfinished", "again_%", *columns]].mean().reset_index()
    sizes = [name for name in columns if not name.startswith("all") and name.endswith("mean")]
    found = Findings(tables=[("Slowdown of flows: completion time / that of the flow alone (mean, 99 %), all and by size; packets sent again in %", means)])
    for load in (50, 80):
        at = means[means.load == load].set_index("scheme")
        found.bands += against_flow_bender(workload, load, at, sizes) + against_switches(workload, load, at, sizes)
    found.bands.append(all_finish(rows))
    if workload == "ml":
        found.notes.append("The distribution of message sizes is invented: the paper's (collectives of Meta's clusters) is in no public table. Only the order of the schemes can be compared.")
    found.notes += [
        "The paper's flows use DCQCN and IRN; these use NSCC, and MRC, which takes packets in any order.",
        "Hopper's probes take other paths than its packets, so their answers do not count for early loss detection. The row with the timeout alone shows what else that costs.",
        "The paper contradicts itself on the congestion threshold: 2.5 base round trips (20 us) in table 1, 14 us in appendix A. It is 20 us here.",
    ]
    found.plots.append((f"hopper-{workload}", plot(means, sizes)))
    return found


def gains(at: pandas.DataFrame, other: str, names: list[str]) -> list[float]:
    """By how much Hopper's slowdown is below another scheme's, in per cent."""
    return [float(100 * (1 - at.loc["hopper"][name] / at.loc[other][name])) for name in names]


def tails(sizes: list[str]) -> list[str]:
    """The columns of 99 % beside those of the means."""
    return [name.replace("mean", "p99") for name in sizes]


def against_flow_bender(workload: str, load: int, at: pandas.DataFrame, sizes: list[str], why: str | None = None) -> list[Band]:
    """What the paper says of hosts' load balancers."""
    ecmp = float(at.loc["ecmp"]["all: mean"] / at.loc["flow-bender"]["all: mean"])
    mean_band = {"ml": (8, 25), "hadoop": (0, 12), "alicloud": (3, 28.5) if load == 50 else (5, 15)}[workload]
    tail_band = {"ml": (5, 20), "hadoop": (5, 25), "alicloud": (4, 12)}[workload]
    mean, tail = gains(at, "flow-bender", sizes), gains(at, "flow-bender", tails(sizes))
    paper, why = PAPER[workload], why or NOT_DCQCN
    bands = [
        Band(f"{load} %: mean slowdown, ECMP / FlowBender", ecmp, 1.0, 3, paper="ECMP is slower", why=ONE_ROUND_TRIP),
        Band(f"{load} %: Hopper against FlowBender, best size, mean", max(mean), *mean_band, unit="%", paper=paper, why=why),
        Band(f"{load} %: Hopper against FlowBender, best size, 99 %", max(tail), *tail_band, unit="%", paper=paper, why=why),
    ]
    if workload == "ml":
        bands.append(Band(f"{load} %: Hopper against FlowBender, worst size, mean", min(mean), 0, 100, unit="%", paper="better with all sizes", why=why))
    return bands


def against_switches(workload: str, load: int, at: pandas.DataFrame, sizes: list[str]) -> list[Band]:
    """What the paper says of CONGA and ConWeave. Where the bands are 0 to 100 %, they are the sign."""
    best = f"{load} %: Hopper against CONGA, best size"
    mean, tail = max(gains(at, "conga", sizes)), max(gains(at, "conga", tails(sizes)))
    smallest = float(at.loc["hopper"][sizes[0]] / at.loc["conweave"][sizes[0]])
    bands: dict[tuple[str, int], list[Band]] = {
        ("ml", 50): [
            Band(f"{best}, mean", mean, 0, 100, unit="%", paper="up to 10 %", why=NOT_DCQCN),
            Band(f"{best}, 99 %", tail, 0, 100, unit="%", paper="up to 23 %", why=NOT_DCQCN),
        ],
        ("ml", 80): [Band(f"{load} %: mean slowdown, better one of CONGA and ConWeave / Hopper", float(min(at.loc[["conga", "conweave"]]["all: mean"]) / at.loc["hopper"]["all: mean"]), 0.3, 1, paper="switches are better")],
        ("hadoop", 50): [
            Band(f"{best}, 99 %", tail, 0, 100, unit="%", paper="better", why=NOT_DCQCN),
            Band(f"{load} %: mean slowdown up to 2 KB, Hopper / ConWeave", smallest, 0.88, 1.12, paper="less than 8.3 % apart"),
        ],
        ("hadoop", 80): [Band(f"{best}, 99 %", tail, 0, 100, unit="%", paper="better", why=NOT_DCQCN)],
        ("alicloud", 50): [
            Band(f"{best}, 99 %", tail, 8, 24, unit="%", paper="up to 16 %", why=NOT_DCQCN),
            Band(f"{load} %: mean slowdown up to 8 KB, Hopper / ConWeave", smallest, 0.91, 1.09, paper="up to 6 % worse"),
        ],
    }  # fmt: skip
    return bands.get((workload, load), [])


ONE_ROUND_TRIP = "FlowBender leaves a path after a round trip with marks, and most flows have ended by then. What else there is was not looked for."
NOT_DCQCN = (
    "NSCC, not DCQCN, carries the flows, in the quick set few flows arrive, and for training their sizes are invented. How much each of these does was not measured."
)
PAPER = {"ml": "up to 20 % mean, 14 % tail", "hadoop": "up to 7.8 % mean, 19.6 % tail", "alicloud": "6 % small, 19 % large flows; tail 8 %"}


def plot(means: pandas.DataFrame, sizes: list[str]) -> Plot:
    """Slowdown by size, one drawing per load and statistic."""
    drawing = Plot(figsize=(10, 7), layout="constrained")
    labels = [name.removesuffix(": mean") for name in sizes]
    for row, load in enumerate((50, 80)):
        for column, (suffix, label) in enumerate((("mean", "mean"), ("p99", "99 %"))):
            axes = drawing.add_subplot(2, 2, 2 * row + column + 1)
            for _, at in means[means.load == load].iterrows():
                axes.plot(labels, [at[f"{name}: {suffix}"] for name in labels], "o-", label=at.scheme)
            axes.set_title(f"{load} % load, {label}")
            axes.set_ylabel("slowdown")
            axes.tick_params(axis="x", rotation=20)
    drawing.axes[0].legend(fontsize="small")
    return drawing


SETUP = "128 hosts, 8 leaves, 8 spines, 100 Gb/s, a round trip of 8 us; random pairs, Poisson arrivals at 50 and 80 % load (ConWeave's convention: half of it at the hosts); marks from 100 to 400 KB; MTU 1,024."


def figure(name: str, workload: str, number: str, what: str) -> Figure:
    """One of the three, which differ in their sizes."""
    return Figure(
        name=name,
        title=f"Slowdown of flows by load balancer, {what}",
        source=f"Hopper, {number}, section 4.1",
        setup=SETUP,
        parts=REFERENCE + " Let-flow, CONGA and ConWeave are models of switches.",
        points=partial(points, workload),
        measure=measure,
        findings=partial(findings, workload),
        quick_seeds=3,
        full_seeds=5,
    )


HADOOP = figure("hopper-3", "hadoop", "figure 3", "Hadoop")
TRAINING = figure("hopper-4", "ml", "figure 4", "training of models")
ALICLOUD = figure("hopper-b", "alicloud", "appendix B", "AliCloud storage")
