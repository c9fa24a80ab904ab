"""The project's hardware as Verilog."""

from __future__ import annotations

from pathlib import Path

from openstellar import _native

__all__ = ["designs", "write"]


def designs() -> dict[str, str]:
    """Names of the blocks that can be had, and what each is."""
    return dict(_native.designs())


def write(directory: str | Path, *names: str, file: str | None = None) -> tuple[list[str], Path]:
    """Writes the Verilog of the blocks `names` into `directory`, all into one file, in which modules that blocks share are there once.

    Returns the names of their top modules, in the same order, and the file, which is named after the last one unless `file` says otherwise. A file
    that is there already with the same text is left alone. Raises ValueError with the closest names for a block there is not.
    """
    if not names:
        raise ValueError("name at least one design; openstellar.designs.designs() lists them")
    tops, text = _native.design_verilog(list(names))
    path = Path(directory) / (file or f"{tops[-1]}.v")
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)
    return tops, path
