"""The tables of `./stellar test --timings`, from the logs of its stages: prints Markdown."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

# How many tests and test programs the tables have.
SLOWEST = 25

PROGRAM = re.compile(r"^ +Running (?:unittests )?(\S+) \(\S*?/([^/]+)-[0-9a-f]{16}\)$")
TEST = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (?:ok|FAILED) <([\d.]+)s>$")


@dataclass(frozen=True)
class Test:
    """A test, the program it is in, and how long it took."""

    program: str
    name: str
    seconds: float


def tests_of(log: str) -> list[Test]:
    """The tests that a log of `cargo test` has times of."""
    found = []
    program = ""
    for line in log.splitlines():
        if match := PROGRAM.match(line):
            program = f"{match[2]} ({match[1]})"
        elif match := TEST.match(line):
            found.append(Test(program, match[1], float(match[2])))
    return found


def stages_of(table: str) -> list[list[str]]:
    """Rows of the stages' table: name, seconds on the wall, seconds of processors."""
    rows = []
    for line in table.splitlines():
        name, wall, user, system = line.split("\t")
        rows.append([name, f"{float(wall):.0f}", f"{float(user) + float(system):.0f}"])
    return rows


def models_of(cache: Path, begin: float) -> list[tuple[str, float]]:
    """Models in the cache that were built after `begin`, with the seconds that it took, longest first."""
    found = []
    for file in cache.glob("*/build.seconds"):
        if file.stat().st_mtime >= begin:
            found.append((file.parent.name, float(file.read_text())))
    return sorted(found, key=lambda model: -model[1])


def table(title: str, head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown, or a sentence if it has no rows."""
    if not rows:
        return f"## {title}\nnone\n"
    lines = [head, ["---"] * len(head), *rows]
    return f"## {title}\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def report(logs: Path, cache: Path) -> str:
    """Returns all tables."""
    tests = [test for log in sorted(logs.glob("*.log")) for test in tests_of(log.read_text(errors="replace"))]
    programs: dict[str, list[float]] = defaultdict(list)
    for test in tests:
        programs[test.program].append(test.seconds)
    by_time = sorted(programs.items(), key=lambda item: -sum(item[1]))
    models = models_of(cache, (logs / "begin.stamp").stat().st_mtime)
    built = [[name, f"{seconds:.1f}"] for name, seconds in [*models, ("all", sum(seconds for _, seconds in models))]]
    slowest = sorted(tests, key=lambda test: -test.seconds)[:SLOWEST]
    return "\n".join([
        table("Stages", ["stage", "seconds", "of processors"], stages_of((logs / "stages.tsv").read_text())),
        table(f"Models built ({len(models)})", ["model", "seconds"], built if models else []),
        table(
            f"Test programs ({len(programs)}, the slowest {SLOWEST})",
            ["program", "tests", "seconds"],
            [[name, str(len(times)), f"{sum(times):.1f}"] for name, times in by_time[:SLOWEST]],
        ),
        table("Slowest tests", ["program", "test", "seconds"], [[t.program, t.name, f"{t.seconds:.1f}"] for t in slowest]),
    ])


def main() -> int:
    """Runs the command line. Its arguments are the directory of logs and the directory of models."""
    logs, cache = map(Path, sys.argv[1:])
    print(report(logs, cache))
    return 0


if __name__ == "__main__":
    sys.exit(main())
