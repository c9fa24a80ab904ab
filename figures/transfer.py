"""The transfer engine's three patterns at scale ("RDMA Point-to-Point Communication for LLM Systems", arXiv 2510.27656, and its blog): pages of a KV cache, dispatch and combine of experts, new weights."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy
import pandas
from matplotlib.figure import Figure as Plot

from figures.figure import REFERENCE, Band, Figure, Findings, Scale, all_finish
from openstellar import cluster

GBPS = 400
# Marks of the built-in fabric, twice as far, as the rate is.
ECN = {"min_bytes": 83_000, "max_bytes": 315_400, "max_probability": 1.0}
# Network cards of a server, which are on one leaf.
SERVER = 8
SPINES = 8


class Scheme(NamedTuple):
    """How packets of a queue pair travel."""

    transport: str
    policy: str | None
    paths: int


# Unordered and over many paths; one path with the same transport, which keeps the order; RC, which needs the order.
SCHEMES = {"spray": Scheme("mrc", "obs", 128), "one path": Scheme("mrc", "single", 1), "rc": Scheme("rc", None, 1)}

# KV cache: bytes of a layer, nanoseconds in which a layer is computed, layers of a request, requests of a prefiller one after the other.
LAYER, LAYER_NS, LAYERS, REQUESTS = 1 << 20, 26_000, 16, 2
# Experts: tokens of a rank, experts of a token, experts, bytes of a token in dispatch (FP8) and in combine (BF16).
TOKENS, TOP, EXPERTS, DISPATCH, COMBINE = 128, 8, 256, 7168, 14_336
# Dispatch in microseconds by ranks, on cards of 400 Gb/s, as the engine's repository has it; with 8 all ranks are in one server, so nothing crosses the network.
DISPATCH_US = {8: 50.5, 16: 110.2, 32: 153.9, 64: 187.5}
COMBINE_US = 309.1
# Weights: bytes of a piece, pieces that a trainer has under way.
PIECE, UNDER_WAY = 1 << 20, 4


class Schedule:
    """The lines of a schedule in GOAL, by rank."""

    def __init__(self, ranks: int) -> None:
        self.lines: list[list[str]] = [[] for _ in range(ranks)]
        self.count = [0] * ranks

    def add(self, rank: int, operation: str, after: list[str] | None = None) -> str:
        """Adds an operation that starts when those in `after` are complete; returns its label."""
        self.count[rank] += 1
        label = f"l{self.count[rank]}"
        self.lines[rank].append(f"{label}: {operation}")
        self.lines[rank] += [f"{label} requires {other}" for other in after or []]
        return label

    def send(self, src: int, dst: int, size: int, tag: int, after: list[str] | None = None) -> tuple[str, str]:
        """A message; returns the labels of both ends."""
        sent = self.add(src, f"send {size}b to {dst} tag {tag}", after)
        return sent, self.add(dst, f"recv {size}b from {src} tag {tag}")

    def text(self) -> str:
        """The schedule."""
        ranks = [f"rank {rank} {{\n" + "\n".join(lines) + "\n}" for rank, lines in enumerate(self.lines)]
        return "\n".join([f"num_ranks {len(ranks)}", *ranks]) + "\n"


def kv_cache(ranks: int, seed: int) -> Schedule:
    """The first half of the ranks prefills. A layer is sent when it is computed, to a decoder that is drawn anew for every request; no two prefillers have the same one at a time."""
    schedule, rng, half = Schedule(ranks), numpy.random.default_rng(seed), ranks // 2
    computed: dict[int, list[str]] = defaultdict(list)
    for _ in range(REQUESTS):
        for prefiller, decoder in enumerate(rng.permutation(half).tolist()):
            for _ in range(LAYERS):
                layer = schedule.add(prefiller, f"calc {LAYER_NS}", computed[prefiller])
                computed[prefiller] = [layer]
                schedule.send(prefiller, half + decoder, LAYER, 0, [layer])
    return schedule


def routes(ranks: int, seed: int) -> numpy.ndarray:
    """Tokens that each rank has for each other one: a token goes once to a rank that has any of its experts, which are drawn. Ranks of one server need no network."""
    rng = numpy.random.default_rng(seed)
    tokens = numpy.zeros((ranks, ranks), dtype=int)
    for rank in range(ranks):
        for _ in range(TOKENS):
            owners = numpy.unique(rng.choice(EXPERTS, TOP, replace=False) * ranks // EXPERTS)
            tokens[rank, owners] += 1
    servers = numpy.arange(ranks) // SERVER
    tokens[servers[:, None] == servers[None, :]] = 0
    return tokens


def experts(ranks: int, seed: int) -> Schedule:
    """Dispatch, and combine from every rank that has all of its tokens."""
    schedule, tokens = Schedule(ranks), routes(ranks, seed)
    pairs = [(src, dst) for src in range(ranks) for dst in numpy.roll(range(ranks), -src).tolist() if tokens[src, dst]]
    received: dict[int, list[str]] = defaultdict(list)
    for src, dst in pairs:
        received[dst].append(schedule.send(src, dst, int(tokens[src, dst]) * DISPATCH, 0)[1])
    for dst, labels in list(received.items()):
        received[dst] = [schedule.add(dst, "calc 0", labels)]
    for src, dst in pairs:
        schedule.send(dst, src, int(tokens[src, dst]) * COMBINE, 1, received[dst])
    return schedule


def weights(ranks: int, seed: int) -> Schedule:
    """The first half of the ranks trains. Each sends a piece to every one of the others, in an order of its own."""
    schedule, rng, half = Schedule(ranks), numpy.random.default_rng(seed), ranks // 2
    for trainer in range(half):
        sent: list[str] = []
        for replica in rng.permutation(half).tolist():
            sent.append(schedule.send(trainer, half + replica, PIECE, 0, sent[-UNDER_WAY:][:1] if len(sent) >= UNDER_WAY else None)[0])
    return schedule


PATTERNS = {"kv-cache": kv_cache, "experts": experts, "weights": weights}


def points(scale: Scale) -> list[dict[str, Any]]:
    """Every pattern with every scheme, and the experts of spraying with fewer ranks too."""
    ranks = 64
    wanted = [(pattern, ranks, scheme) for pattern in PATTERNS for scheme in SCHEMES] + [("experts", fewer, "spray") for fewer in (16, 32)]
    return [{"pattern": pattern, "ranks": count, "scheme": scheme, "seed": seed} for pattern, count, scheme in wanted for seed in scale.seeds]


def measure(point: dict[str, Any]) -> dict[str, Any]:
    """Runs a pattern; its times in microseconds, and those that the rates of the lines allow."""
    scheme, ranks = SCHEMES[point["scheme"]], point["ranks"]
    link = {"rate_gbps": GBPS, "ecn": ECN}
    run = cluster.run(
        topology=cluster.leaf_spine(leaves=ranks // SERVER, hosts=SERVER, spines=SPINES, host_link=link, spine_link=link),
        workload=cluster.goal(PATTERNS[point["pattern"]](ranks, point["seed"]).text(), file=point["pattern"]),
        transport=scheme.transport,
        policy=scheme.policy,
        paths=scheme.paths,
        early_loss=128 if scheme.transport == "mrc" else 0,
        queue_pairs="per-pair",
        sample_us=0,
        limit_us=100_000,
        seed=point["seed"],
    )
    flows = run.flows.pandas()
    flows["end_us"] = flows.start_us + flows.received_us
    packets, totals = run.totals["packets"], run.totals["flows"]
    return times(point["pattern"], flows) | {
        "again_%": 100 * packets["retransmitted"] / packets["data"],
        "dropped": sum(packets["dropped"].values()) if isinstance(packets["dropped"], dict) else packets["dropped"],
        "unfinished": totals["total"] - totals["finished"],
        "hash": run.hash,
    }


def line_us(flows: pandas.DataFrame) -> float:
    """The time that the busiest line of a host needs for the bytes of flows."""
    busiest = max(flows.groupby("src").bytes.sum().max(), flows.groupby("dst").bytes.sum().max())
    return float(busiest) * 8e-3 / GBPS


def times(pattern: str, flows: pandas.DataFrame) -> dict[str, float]:
    """What the application waits for: the mean, the greatest, and what the lines need."""
    if pattern == "kv-cache":
        # From the end of a request's computation, when its last layer leaves, until all of its layers are there.
        ordered = flows.sort_values(["src", "start_us"], kind="stable")
        request = ordered.groupby("src").cumcount() // LAYERS
        requests = ordered.groupby([ordered.src, request])
        lag = requests.end_us.max() - requests.start_us.max()
        return {"mean_us": float(lag.mean()), "most_us": float(lag.max()), "all_us": float(lag.max()), "line_us": LAYER * 8e-3 / GBPS}
    if pattern == "experts":
        is_dispatch = flows.start_us == 0
        first, second = flows[is_dispatch], flows[~is_dispatch]
        ends = first.groupby("dst").end_us.max()
        combined = second.groupby("dst").end_us.max()
        combine = float(combined.mean() - ends.mean())
        return {"mean_us": float(ends.mean()), "most_us": float(ends.max()), "combine_us": combine, "all_us": float(combined.max()), "line_us": line_us(first)}
    ends = flows.groupby("dst").end_us.max()
    return {"mean_us": float(ends.mean()), "most_us": float(ends.max()), "all_us": float(ends.max()), "line_us": line_us(flows)}


def findings(rows: pandas.DataFrame, scale: Scale) -> Findings:
    """Means over seeds: spraying against what keeps the order, and against the lines and the paper's times."""
    columns = ["mean_us", "most_us", "combine_us", "all_us", "line_us", "again_%", "dropped"]
    means = rows.groupby(["pattern", "ranks", "scheme"], sort=False)[columns].mean().reset_index()
    at = means.set_index(["pattern", "ranks", "scheme"])
    title = "Time that the application waits (mean over ranks or requests, greatest), that of combine behind it (mean), all of it (greatest), and what the busiest line needs for the bytes; packets sent again in %, dropped"
    found = Findings(tables=[(title, means)])
    for pattern in PATTERNS:
        spray = at.loc[(pattern, 64, "spray")]
        found.bands += [
            Band(f"{pattern}: all of it, {scheme} / spray", float(at.loc[(pattern, 64, scheme)].all_us / spray.all_us), 1, 100, paper="no need of order, so any path will do", why=NO_WINDOW if scheme == "rc" else "")
            for scheme in ("one path", "rc")
        ]
    fixed = DISPATCH_US[8]
    for ranks in (16, 32, 64):
        here = float(at.loc[("experts", ranks, "spray")].mean_us) + fixed
        found.bands.append(Band(f"experts: dispatch of {ranks} ranks, network here + {fixed} us / the engine's", here / DISPATCH_US[ranks], 0.85, 1.15, paper=f"{DISPATCH_US[ranks]} us"))
    combine = float(at.loc[("experts", 64, "spray")].combine_us) + fixed
    found.bands.append(Band(f"experts: combine of 64 ranks, network here + {fixed} us / the engine's", combine / COMBINE_US, 0.85, 1.15, paper=f"{COMBINE_US} us", why=SHARED))
    found.bands.append(all_finish(rows))
    found.notes += [
        "The engine's times are those of GPUs, with kernels and copies; 8 ranks in one server use no network, so their 50.5 us stand here for what is not network. That the two add up is an assumption, and so is that the engine's times are means over ranks: the greatest times are in the table.",
        "Routing is drawn evenly: a token has 8 of 256 experts and goes once to a rank. Real routers are skewed. Sizes of a KV cache and of weights, and the time of a layer, are ours.",
        "With RC a queue pair has a fixed window and no congestion control, as in the card; the paper's cards have both.",
    ]
    found.plots.append(("transfer-engine", plot(means[means.ranks == 64])))
    return found


SHARED = "ranks that have their tokens combine while others still dispatch, so both share the lines. How much that makes was not measured."
NO_WINDOW = "RC has no congestion control here: its senders fill queues of 4.15 MB, and lose few packets where few senders meet. How much that makes was not measured."


def plot(means: pandas.DataFrame) -> Plot:
    """Greatest times by scheme, a drawing per pattern."""
    drawing = Plot(figsize=(10, 3.5), layout="constrained")
    for column, pattern in enumerate(PATTERNS):
        axes = drawing.add_subplot(1, len(PATTERNS), column + 1)
        at = means[means.pattern == pattern]
        axes.bar(at.scheme, at.most_us)
        axes.axhline(at.line_us.iloc[0], linestyle="--", color="gray")
        axes.set_title(pattern)
        axes.set_ylabel("greatest time, us (dashed: lines)")
    return drawing


FIGURE = Figure(
    name="transfer-engine",
    title="KV cache, experts and weights: spraying against what keeps the order",
    source="RDMA Point-to-Point Communication for LLM Systems, arXiv 2510.27656, and its blog",
    setup="64 ranks of one 400 Gb/s card each, eight in a server and on a leaf, 8 spines of 400 Gb/s; one queue pair per pair of ranks, WRITEs with immediate, MTU 4,096. KV cache: 32 prefillers send 1 MiB per layer; experts: 128 tokens per rank, 8 of 256 experts; weights: 32 trainers send 1 MiB to each of 32 replicas.",
    parts=REFERENCE + " The transfer engine does not run: its patterns are schedules of messages, and computing is waiting.",
    points=points,
    measure=measure,
    findings=findings,
    quick_seeds=2,
    full_seeds=6,
)
