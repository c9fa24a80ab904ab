"""STELLAR, figure 11: packets lost at random on one link, and a link that loses all."""

from __future__ import annotations

from typing import Any

import pandas
from matplotlib.figure import Figure as Plot

from figures.figure import REFERENCE, Band, Figure, Findings, Scale
from openstellar import cluster

LINK = "p0.leaf0-spine5"
SPINES = 60
MTU = 4096
# Policy, paths, and whether losses are found early (docs/transmit.md) or by the timeout of 250 us alone, as in the paper.
SENDERS = (
    ("obs", 128, False),
    ("obs", 128, True),
    ("single", 1, False),
    ("ev-state", 128, False),
    ("round-robin", 128, False),
    ("bitmap", 128, False),
    ("reps", 128, False),
    ("obs", 4, False),
)


def points(scale: Scale) -> list[dict[str, Any]]:
    """Losses by policy. Flows are long, because a loss costs a timeout of 250 us; the quick set has fewer of them."""
    size = {"leaves": 4, "active": 30, "bytes": 100_000_000} if scale.is_full else {"leaves": 4, "active": 12, "bytes": 50_000_000}
    senders = SENDERS if scale.is_full else SENDERS[:3]
    # A single path with all packets lost never ends.
    return [
        {"policy": policy, "paths": paths, "early": early, "loss": loss, **size, "seed": seed}
        for policy, paths, early in senders
        for loss in (0.0, 0.01, 0.03, 1.0)
        if paths > 1 or loss < 1
        for seed in scale.seeds
    ]


def measure(point: dict[str, Any]) -> dict[str, Any]:
    """A permutation whose flows from the first leaf may cross the link."""
    run = cluster.run(
        topology=cluster.leaf_spine(leaves=point["leaves"], hosts=60, spines=SPINES, overrides=[{"link": LINK, "set": {"loss": point["loss"]}}]),
        workload=cluster.permutation(bytes=point["bytes"], ranks=point["active"]),
        policy=point["policy"],
        paths=point["paths"],
        # That of the card. With 1,024 packets, which leave in 168 us, a queue pair would wait for every timeout.
        window=4096,
        early_loss=128 if point["early"] else 0,
        sample_us=0,
        limit_us=200_000,
        seed=point["seed"],
    )
    flows = run.flows.pandas()
    link = run.uplinks.pandas().set_index("link").loc[LINK]
    return {
        "fct_us": float(flows.fct_us.mean()),
        "fct_max_us": float(flows.fct_us.max()),
        "unfinished": int(flows.fct_us.isna().sum()),
        "link_frames": int(link.frames),
        "retransmitted": run.totals["packets"]["retransmitted"],
        "times": [float(time) for time in flows.fct_us],
        "hash": run.hash,
    }


def findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Each flow is compared with itself on the fabric without loss."""
    healthy = {(row.policy, row.paths, row.early, row.seed): row for row in rows.itertuples() if row.loss == 0}
    compared = []
    for row in rows.itertuples():
        base = healthy[(row.policy, row.paths, row.early, row.seed)]
        slower = [time / before for time, before in zip(row.times, base.times, strict=True)]
        affected = [ratio for ratio in slower if ratio > 1.02]
        compared.append(
            {
                "policy": row.policy,
                "paths": row.paths,
                "early": row.early,
                "loss": row.loss,
                "mean": row.fct_us / base.fct_us,
                "worst flow": max(slower),
                "affected flows": len(affected),
                # Flows from the leaf and flows to it may cross the link, whose directions lose alike.
                "perceived": row.retransmitted / (2 * row.active * row.bytes / MTU),
                "unfinished": row.unfinished,
            }
        )
    table = pandas.DataFrame(compared)
    means = table.groupby(["policy", "paths", "early", "loss"], sort=False).mean().reset_index()
    worst = table.groupby(["policy", "paths", "early", "loss"], sort=False)["worst flow"].max()
    at = means.set_index(["policy", "paths", "early", "loss"])
    found = Findings(tables=[("Completion times relative to those without loss (mean, worst flow), and loss as the flows of the leaf see it", means)])
    for loss, high in ((0.01, 1.01), (0.03, 1.02)):
        name = f"{loss * 100:.0f} % loss"
        many = at.loc[("obs", 128, False, loss)]
        found.bands += [
            Band(f"{name}, OBS, 128 paths: mean completion time", many["mean"], 0.99, high, paper="almost no degradation", why=TIMEOUT),
            Band(f"{name}, OBS, 128 paths, early loss detection: mean completion time", at.loc[("obs", 128, True, loss), "mean"], 0.99, high, paper="almost no degradation"),
            Band(
                f"{name}, OBS, 128 paths: perceived loss x 60 / loss",
                many.perceived * SPINES / loss,
                0.6,
                1.4,
                paper="1/128 of the link's loss; by hashing it is 1/60, the number of uplinks",
            ),
        ]
        single = worst.get(("single", 1, False, loss))
        # In few seeds no single path crosses the link.
        if single is not None and single > 1.02:
            found.bands.append(
                Band(
                    f"{name}, single path: worst flow",
                    single,
                    1.08,
                    1.7,
                    paper="(reference measurement: x 1.1 to 1.7 for a flow that is hit)",
                    why=LONG,
                )
            )
    dead = at.loc[("obs", 128, False, 1.0)]
    found.bands += [
        Band("all packets of the link lost, OBS, 128 paths: flows that do not finish", float(dead.unfinished), 0, 0, paper="retransmission on another path, instant recovery"),
        Band(
            "all packets of the link lost, OBS, 128 paths: worst flow",
            worst[("obs", 128, False, 1.0)],
            1,
            3,
            paper="retransmission on another path, instant recovery",
            why="OBS does not learn: it goes on to use the dead uplink for a 60th of the packets, and congestion control takes each loss for congestion. EV state withdraws such paths.",
        ),
    ]
    found.plots.append(("stellar-11", plot(means)))
    found.notes.append("The paper divides the loss by 128 paths. Hashed paths share uplinks: a queue pair's packets cross the link with the probability 1/60, so its loss is the link's divided by 60.")
    return found


TIMEOUT = "a packet that is lost near the end of a flow adds its timeout of 250 us to it, which counts more in short flows. Early loss detection, the driver's default, leaves nothing of it."
LONG = "a single path loses packets in every window, each costs a timeout, and these flows are longer, so they lose more often, than those of the reference measurement (20 MB)."


def plot(means: pandas.DataFrame) -> Plot:
    """Mean completion time over loss."""
    drawing = Plot(figsize=(7, 4), layout="constrained")
    axes = drawing.add_subplot()
    random_loss = means[means.loss < 1]
    for (policy, paths, early), at in random_loss.groupby(["policy", "paths", "early"], sort=False):
        axes.plot(at.loss * 100, at["mean"], "o-", label=f"{policy}, {paths} paths{', early loss detection' if early else ''}")
    axes.set_xlabel("loss on one link, %")
    axes.set_ylabel("mean completion time, relative")
    axes.legend()
    return drawing


FIGURE = Figure(
    name="stellar-11",
    title="Random loss on one link, and a dead link",
    source="STELLAR, figure 11, section 7.2",
    setup="A permutation over 60 spines, of which one loses packets on its link to the first leaf, both ways; timeout 250 us, with and without early loss detection.",
    parts=REFERENCE,
    points=points,
    measure=measure,
    findings=findings,
)
