"""The project's hardware as Verilog."""

from __future__ import annotations

from pathlib import Path

from openstellar import _native

__all__ = ["write_lane"]


def write_lane(directory: str | Path, width: int = 512) -> tuple[str, Path]:
    """Writes the Verilog of the receive lane, `width` bits wide (512 or 1024), into `directory`.

    Returns the name of its top module and the file. A file that is there already with the same text is left alone.
    """
    top, text = _native.lane_verilog(width)
    path = Path(directory) / f"{top}.v"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)
    return top, path
