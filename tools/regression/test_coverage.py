"""Tests of coverage.py."""

from __future__ import annotations

import tempfile
from pathlib import Path

from coverage import hardware, report, software


def point(module: str, kind: str, line: int, what: str, count: int) -> str:
    """Returns a line of Verilator's coverage file."""
    fields = {"f": "top.v", "l": line, "n": 3, "page": f"v_{kind}/{module}", "o": what, "h": f"TOP.top.{module}"}
    return "C '" + "".join(f"\x01{name}\x02{value}" for name, value in fields.items()) + f"' {count}\n"


def main() -> None:
    """Runs the tests."""
    summary = {
        "data": [
            {
                "files": [
                    {"filename": "/tree/hdl/nic/src/lane.rs", "summary": {"lines": {"count": 8, "covered": 6}}},
                    {"filename": "/tree/hdl/nic/tests/lane.rs", "summary": {"lines": {"count": 100, "covered": 100}}},
                    {"filename": "/elsewhere/src/lib.rs", "summary": {"lines": {"count": 100, "covered": 0}}},
                ]
            }
        ]
    }
    assert software(summary, Path("/tree")) == [["hdl/nic", "6 of 8", "75 %"]]
    with tempfile.TemporaryDirectory() as directory:
        models = Path(directory)
        # The module is at other lines in the second model, where what the first left out is met.
        first = [point("fifo", "line", 10, "block", 4), point("fifo", "branch", 12, "if", 0), point("fifo", "toggle", 11, "full[0]", 0)]
        second = [point("fifo", "line", 110, "block", 0), point("fifo", "branch", 112, "if", 2), point("fifo", "toggle", 111, "full[0]", 0)]
        (models / "a-1.dat").write_text("# SystemC::Coverage-3\n" + "".join(first))
        (models / "b-2.dat").write_text("# SystemC::Coverage-3\n" + "".join(second))
        assert hardware(models) == [["fifo", "2 of 2", "100 %", "0 of 1", "0 %"]], hardware(models)
        assert "| fifo | 2 of 2 | 100 % | 0 of 1 | 0 % |\n" in report(models, summary, Path("/tree"))
    print("all of coverage.py passed")


if __name__ == "__main__":
    main()
