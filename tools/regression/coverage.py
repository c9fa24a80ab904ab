"""The tables of `./stellar test --coverage`: prints Markdown.

The arguments are the directory of the models' counts, and a file that `llvm-cov export --summary-only` made of those of the programs.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

KINDS = ("line", "toggle")

# Points of a module and kind that were met, and all of them.
Points = dict[tuple[str, str], tuple[set[tuple[str, ...]], set[tuple[str, ...]]]]


def fields_of(point: str) -> dict[str, str]:
    """A point of Verilator's: fields with a name and a value, each behind a control character."""
    parts = (part.split("\x02", 1) for part in point.split("\x01") if "\x02" in part)
    return {part[0]: part[1] for part in parts}


def add_file(text: str, points: Points) -> None:
    """Adds the counts in a file of Verilator's."""
    found = []
    # A module is at other lines in each model that has it: lines count from its first.
    first: dict[str, int] = {}
    for line in text.splitlines():
        if not line.startswith("C '"):
            continue
        point, count = line[3:].rsplit("' ", 1)
        fields = fields_of(point)
        kind, _, module = fields.get("page", "").partition("/")
        kind = kind.removeprefix("v_")
        if kind in ("branch", "line"):
            kind = "line"
        elif kind != "toggle":
            continue
        number = int(fields.get("l", "0"))
        first[module] = min(first.get(module, number), number)
        found.append((module, kind, number, fields.get("n", ""), fields.get("o", ""), int(count)))
    for module, kind, number, column, what, count in found:
        met, known = points[module, kind]
        key = (str(number - first[module]), column, what)
        known.add(key)
        if count > 0:
            met.add(key)


def hardware(directory: Path) -> list[list[str]]:
    """A row for each module: what share of its lines and of its signals' bits was met."""
    points: Points = defaultdict(lambda: (set(), set()))
    for file in sorted(directory.glob("*.dat")):
        add_file(file.read_text(errors="replace"), points)
    rows = []
    for module in sorted({module for module, _ in points}):
        row = [module]
        for kind in KINDS:
            met, known = points.get((module, kind), (set(), set()))
            row += share(len(met), len(known))
        rows.append(row)
    return rows


def software(summary: dict, root: Path) -> list[list[str]]:
    """Returns a row for each crate: which share of its lines was executed."""
    crates: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for data in summary["data"]:
        for file in data["files"]:
            path = Path(file["filename"])
            if not path.is_relative_to(root) or "src" not in path.relative_to(root).parts:
                continue
            parts = path.relative_to(root).parts
            lines = file["summary"]["lines"]
            sums = crates["/".join(parts[: parts.index("src")])]
            sums[0] += lines["covered"]
            sums[1] += lines["count"]
    return [[name, *share(*sums)] for name, sums in sorted(crates.items())]


def share(met: int, known: int) -> list[str]:
    """Returns the text `met of known` and the percentage."""
    return [f"{met} of {known}", f"{100 * met / known:.0f} %" if known else ""]


def table(title: str, head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, or a sentence if it has no rows."""
    if not rows:
        return f"## {title}\nnone\n"
    lines = [head, ["---"] * len(head), *rows]
    return f"## {title}\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def report(models: Path, summary: dict, root: Path) -> str:
    """Returns both tables, of hardware and of software."""
    return "\n".join([
        table("Rust", ["crate", "lines", ""], software(summary, root)),
        table("Verilog", ["module", "lines and branches", "", "bits that toggled", ""], hardware(models)),
    ])


def main() -> int:
    """Runs the command line."""
    models, summary = map(Path, sys.argv[1:])
    print(report(models, json.loads(summary.read_text()), Path.cwd()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
