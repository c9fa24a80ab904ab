"""Slowdown of flows as ConWeave's simulator gives it: the balancers of switches over DCQCN and selective retransmission, and FlowBender and Hopper over the same."""

from __future__ import annotations

from typing import Any

import pandas

from figures import hopper
from figures.figure import REFERENCE, Band, Figure, Findings, Scale, all_finish

SCHEMES = {name: hopper.SCHEMES[name]._replace(congestion="dcqcn") for name in ("ecmp", "let-flow", "conga", "conweave", "flow-bender", "hopper")}
# There CONGA looks at four of the eight uplinks.
SCHEMES["conga"] = SCHEMES["conga"]._replace(balancer="conga,uplinks=4")
# Bytes on the line per byte of payload. There: 48 of headers in 1,048, and an acknowledgement of 60 for every packet. Here: 126 beside 1,024, and a SACK of 146 for four packets.
THERE = (1000 + 48 + 60) / 1000
HERE = (1024 + 126 + 146 / 4) / 1024
# Mean and 99 % slowdown that ConWeave's simulator gave, by load and scheme.
MEASURED = {
    50: {"ecmp": (1.56, 6.83), "let-flow": (1.56, 6.55), "conga": (1.50, 5.90), "conweave": (1.35, 3.77)},
    80: {"ecmp": (2.88, 17.2), "conga": (2.43, 14.0), "conweave": (1.97, 7.55)},
}
# How far from it mean and 99 % may be.
TOLERANCE = {50: (0.08, 0.2), 80: (0.1, 0.25)}


def points(scale: Scale) -> list[dict[str, Any]]:
    """Every scheme: at both loads with arrivals for 8 ms, or at moderate load with arrivals for half of it."""
    loads, arrivals_us = ((50, 80), 8000) if scale.is_full else ((50,), 4000)
    return [
        {"workload": "alicloud", "scheme": scheme, "load": load, "arrivals_us": arrivals_us, "seed": seed} for scheme in SCHEMES for load in loads for seed in scale.seeds
    ]


def measure(point: dict[str, Any]) -> dict[str, Any]:
    """Slowdowns, with so many flows that the lines carry as many bytes as there."""
    return hopper.slowdowns(SCHEMES[point["scheme"]], point | {"load": point["load"] * THERE / HERE})


def findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over seeds, against what ConWeave's simulator gave."""
    columns = [name for name in rows if name.endswith((": mean", ": p99"))]
    means = rows.groupby(["load", "scheme"], sort=False)[["flows", "unfinished", "again_%", *columns]].mean().reset_index()
    sizes = [name for name in columns if not name.startswith("all") and name.endswith("mean")]
    found = Findings(tables=[("Slowdown of flows: completion time / that of the flow alone (mean, 99 %), all and by size; packets sent again in %", means)])
    for load, part in means.groupby("load", sort=False):
        at = part.set_index("scheme")
        found.bands += measured_elsewhere(int(load), at) + hopper.against_flow_bender("alicloud", int(load), at, sizes, why=NOT_LOOKED_FOR)
    found.bands.append(all_finish(rows))
    found.notes += [
        f"The load is {THERE / HERE:.3f} of the nominal one, so that the lines carry as many bytes as in ConWeave's simulator, whose headers are shorter.",
        "In the quick set arrivals last half as long as there, and only the moderate load is run." if not scale.is_full else "Arrivals last 8 ms, as there.",
    ]
    return found


def measured_elsewhere(load: int, at: pandas.DataFrame) -> list[Band]:
    """Mean and 99 % against those of ConWeave's simulator."""
    source, bands = "(measured with ConWeave's simulator)", []
    part, wide = TOLERANCE[load]
    for scheme, (mean, tail) in MEASURED[load].items():
        row, where = at.loc[scheme], f"{load} %, {scheme}"
        bands += [
            Band(f"{where}: mean slowdown", float(row["all: mean"]), mean * (1 - part), mean * (1 + part), paper=source),
            Band(f"{where}: 99 % slowdown", float(row["all: p99"]), tail * (1 - wide), tail * (1 + wide), paper=source),
        ]
    return bands


NOT_LOOKED_FOR = "the paper's distance is another one; why was not looked for."
FIGURE = Figure(
    name="conweave",
    title="Slowdown of flows by load balancer over DCQCN and selective retransmission",
    source="ConWeave's simulator, run elsewhere (docs/figures.md); Hopper, appendix B",
    setup=hopper.SETUP + " Congestion control is DCQCN with the constants of ConWeave's scripts, and at most one bandwidth-delay product is in flight, as with IRN.",
    parts=REFERENCE + " DCQCN is a baseline that is in neither; LetFlow, CONGA and ConWeave are models of switches.",
    points=points,
    measure=measure,
    findings=findings,
    quick_seeds=1,
    full_seeds=3,
)
