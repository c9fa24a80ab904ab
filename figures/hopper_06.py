"""Hopper, figure 6: rounds of training over spines of which two have a tenth of the others' rate."""

from __future__ import annotations

from typing import Any

import numpy
import pandas
from matplotlib.figure import Figure as Plot

from figures.figure import REFERENCE, Band, Figure, Findings, Scale, all_finish
from figures.workloads import rounds
from openstellar import cluster

# The testbed: four hosts of 25 Gb/s at each of two leaves, four spines of 10 Gb/s and two of 1 Gb/s.
CLIENTS, SPINES, SLOW = 4, 6, (4, 5)
HOST_GBPS, GBPS, SLOW_GBPS = 25, 10, 1
# 51 rounds of four flows are the paper's 204.
ROUNDS = 51
MTU = 4096
# Cables and switches: the paper does not say them.
CABLE_NS = 500
# Bytes on the way in an idle round trip (18 us) at the rate of a fast uplink. Marks begin at a fifth of them and are certain at four fifths, as on the other fabrics.
BDP = 22_000
# A window on a path of 1 Gb/s takes longer than the 250 us of other figures; timeouts there would change paths though nothing is lost.
RTO_US = 8_000
# Name: policy. The paper has the first three. Of 128 paths a flow with ECMP draws one when it starts; with one path, flows of the same hosts would all have the same.
SCHEMES = {"ecmp": "single", "flow-bender": "flow-bender", "hopper": "hopper", "obs": "obs", "mixed": "mixed"}
PATHS = 128


def points(scale: Scale) -> list[dict[str, Any]]:
    """Every scheme."""
    return [{"scheme": scheme, "bytes": 50_000_000 if scale.is_full else 10_000_000, "seed": seed} for scheme in SCHEMES for seed in scale.seeds]


def measure(point: dict[str, Any]) -> dict[str, Any]:
    """Time of all rounds, slowdowns of flows, and what the uplinks of the senders' leaf carry."""
    ecn = {"min_bytes": BDP // 5, "max_bytes": 4 * BDP // 5, "max_probability": 1.0}
    slow = [{"node": f"p0.spine{spine}", "set": {"rate_gbps": SLOW_GBPS}} for spine in SLOW]
    pairs = [(client, CLIENTS + client) for client in range(CLIENTS)]
    run = cluster.run(
        topology=cluster.leaf_spine(
            leaves=2,
            hosts=CLIENTS,
            spines=SPINES,
            host_link={"rate_gbps": HOST_GBPS, "delay_ns": CABLE_NS},
            spine_link={"rate_gbps": GBPS, "delay_ns": CABLE_NS, "ecn": ecn},
            overrides=slow,
        ),
        workload=cluster.matrix(rounds(pairs, point["bytes"], ROUNDS), file="rounds"),
        policy=SCHEMES[point["scheme"]],
        paths=PATHS,
        mtu=MTU,
        rto_us=RTO_US,
        early_loss=128,
        sample_us=0,
        limit_us=100_000_000,
        seed=point["seed"],
    )
    slowdown = run.flows["fct_us"] * 1e-6 / (point["bytes"] * 8e-9 / GBPS)
    uplinks = run.uplinks.pandas()
    # Those of the receivers' leaf carry acknowledgements only.
    used = uplinks[uplinks["from"] == "p0.leaf0"].groupby("rate_gbps").agg({"bytes": "sum", "use": "mean"})
    return {
        "rounds_ms": float((run.flows["start_us"] + run.flows["fct_us"]).max()) / 1e3,
        "mean": float(slowdown.mean()),
        "p95": float(numpy.percentile(slowdown, 95)),
        "p99": float(numpy.percentile(slowdown, 99)),
        "on_1g": float(used.bytes[SLOW_GBPS] / used.bytes.sum()),
        "use_10g": float(used.use[GBPS]),
        "use_1g": float(used.use[SLOW_GBPS]),
        "retransmitted": run.totals["packets"]["retransmitted"],
        "timeouts": run.totals["packets"]["timeouts"],
        "unfinished": run.totals["flows"]["total"] - run.totals["flows"]["finished"],
        "hash": run.hash,
    }


def findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over seeds; Hopper against FlowBender."""
    columns = ["rounds_ms", "mean", "p95", "p99", "on_1g", "use_10g", "use_1g", "retransmitted", "timeouts"]
    means = rows.groupby("scheme", sort=False)[columns].mean().reset_index()
    at = means.set_index("scheme")
    hopper, bender = at.loc["hopper"], at.loc["flow-bender"]

    def gain(name: str) -> float:
        """By how much Hopper's value is below FlowBender's, in per cent."""
        return float(100 * (1 - hopper[name] / bender[name]))

    against = "Hopper against FlowBender"
    found = Findings(
        tables=[
            (
                "Time of all rounds; slowdown of flows, against 10 Gb/s (mean, 95 %, 99 %); share of the senders' bytes on uplinks of 1 Gb/s; use of their uplinks of each rate; packets sent again; timeouts",
                means,
            )
        ],
        bands=[
            Band("bytes on uplinks of 1 Gb/s, Hopper / FlowBender", float(hopper.on_1g / bender.on_1g), 0, 0.6, paper="FlowBender's use of them is almost twice Hopper's"),
            Band("use of uplinks of 10 Gb/s, Hopper / FlowBender", float(hopper.use_10g / bender.use_10g), 1, 100, paper="up to 35 % more"),
            Band(f"{against}: mean slowdown", gain("mean"), 25, 60, unit="%", paper="45 %", why=EVERY_ROUND_TRIP),
            Band(f"{against}: slowdown, 95 %", gain("p95"), 31, 93, unit="%", paper="61.9 %", why=EVERY_ROUND_TRIP),
            Band(f"{against}: slowdown, 99 %", gain("p99"), 39, 100, unit="%", paper="77.2 %", why=EVERY_ROUND_TRIP),
            Band(f"{against}: time of training", gain("rounds_ms"), 17, 51, unit="%", paper="33.8 %, which the text calls 51 %", why=EVERY_ROUND_TRIP),
            all_finish(rows),
        ],
        notes=[
            "The paper has 1,080 s under Hopper and 715 s under FlowBender, and calls that a reduction by 51 %. With the names exchanged it is one by 33.8 %, or a speed-up by 51 %. "
            "The same holds for chunks of 10 MB: 1,320 and 890 s are 32.6 %, or 48.3 %.",
            "The paper's prototype sends a flow in chunks of 1 or 10 MB by software, and chooses a path per chunk. Here cards choose one per packet, from round trips. "
            "Its training has a server between rounds, and time for what is no communication; here a round begins when the one before is done.",
            "The sizes of the flows are invented: those of the paper's traces of GPT-3 are not public. All flows are alike, so that a round lasts as long as its slowest one.",
            "FlowBender draws a path after a round trip with marks, and one path in three has 1 Gb/s. What it reaches depends on the marks, which the paper does not say. With those that are certain at "
            "80 and 320 KB instead of 17.6, the time of training with FlowBender was 5.5 and 3.9 times that with Hopper, instead of 4.3 (2026-11-26, three seeds).",
        ],
    )
    found.plots.append(("hopper-6", plot(means)))
    return found


EVERY_ROUND_TRIP = (
    "cards decide every round trip, where the paper's software decides once per chunk of 1 MB, and no time passes between rounds. How much each of these does was not measured."
)


def plot(means: pandas.DataFrame) -> Plot:
    """Time of the rounds, slowdowns, and use of the uplinks, by scheme."""
    drawing = Plot(figsize=(11, 3.6), layout="constrained")
    groups = (("time of all rounds, ms", ["rounds_ms"]), ("slowdown", ["mean", "p95", "p99"]), ("use of uplinks", ["use_10g", "use_1g"]))
    for number, (label, names) in enumerate(groups, 1):
        axes = drawing.add_subplot(1, 3, number)
        for at, name in enumerate(names):
            axes.bar(numpy.arange(len(means)) + (at - (len(names) - 1) / 2) * 0.25, means[name], width=0.25, label=name)
        axes.set_xticks(range(len(means)), list(means.scheme), rotation=30, ha="right")
        axes.set_ylabel(label)
        if len(names) > 1:
            axes.legend(fontsize="small")
    return drawing


FIGURE = Figure(
    name="hopper-6",
    title="Rounds of training over spines of unequal rates",
    source="Hopper, figure 6, section 4.2",
    setup="Four senders of 25 Gb/s to four receivers of another leaf, four spines of 10 Gb/s and two of 1 Gb/s; 51 rounds of four flows, 10 MB each (quick) or 50 MB (full); 128 paths; MTU 4,096; marks from 4.4 to 17.6 KB.",
    parts=REFERENCE,
    points=points,
    measure=measure,
    findings=findings,
    quick_seeds=3,
    full_seeds=5,
)
