"""Tests of timings.py, on lines as `cargo test` prints them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from timings import models_of, report, tests_of

CARGO = """\
     Running unittests src/lib.rs (target/debug/deps/stellar_wire-0123456789abcdef)

running 1 test
test codec::tests::round_trip ... ok <0.005s>

     Running tests/lanes/main.rs (target/debug/deps/lanes-fedcba9876543210)
test rate::two_lanes ... ok <71.250s>
test order - should panic ... FAILED <2.000s>
test skipped ... ignored
"""


def main() -> None:
    """Runs the tests."""
    expected = [("codec::tests::round_trip", 0.005), ("rate::two_lanes", 71.25), ("order", 2.0)]
    assert [(t.name, t.seconds) for t in tests_of(CARGO)] == expected, tests_of(CARGO)
    assert tests_of(CARGO)[1].program == "lanes (tests/lanes/main.rs)"
    with tempfile.TemporaryDirectory() as directory:
        logs, cache = Path(directory), Path(directory) / "verilated"
        for name, seconds in (("old-1", "9.0"), ("small-1", "1.5"), ("large-1", "60.0")):
            (cache / name).mkdir(parents=True)
            (cache / name / "build.seconds").write_text(seconds + "\n")
        os.utime(cache / "old-1/build.seconds", (0, 0))
        (logs / "begin.stamp").touch()
        os.utime(logs / "begin.stamp", (1, 1))
        assert models_of(cache, 1) == [("large-1", 60.0), ("small-1", 1.5)]
        (logs / "tests.log").write_text(CARGO)
        (logs / "stages.tsv").write_text("tests\t80.1\t100.0\t20.4\n")
        text = report(logs, cache)
    for line in ("| tests | 80 | 120 |", "| large-1 | 60.0 |", "| all | 61.5 |", "| lanes (tests/lanes/main.rs) | 2 | 73.2 |"):
        assert line in text.splitlines(), text
    print("all of timings.py passed")


if __name__ == "__main__":
    main()
