"""The project's hardware as Verilog."""

from __future__ import annotations

from pathlib import Path

from openstellar import _native

__all__ = ["designs", "write"]


def designs() -> dict[str, str]:
    """Names and descriptions of the blocks."""
    return dict(_native.designs())


def write(directory: str | Path, *names: str, file: str | None = None) -> tuple[list[str], Path]:
    """Writes the Verilog of the blocks `names` into `directory`, all into one file. Modules that several blocks share are in the file once.

    Returns the names of their top modules, in the same order, and the file, which is named after the last one unless `file` says otherwise. An
    existing file with the same text is not written again. Raises ValueError with the closest names if a block does not exist.
    """
    if not names:
        raise ValueError("name at least one design; openstellar.designs.designs() lists them")
    tops, text = _native.design_verilog(list(names))
    path = Path(directory) / (file or f"{tops[-1]}.v")
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)
    return tops, path
