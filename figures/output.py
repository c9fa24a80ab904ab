"""A figure's tables on the terminal, and its plots and page in files."""

from __future__ import annotations

import html
import json
import math
from pathlib import Path
from typing import Any

import matplotlib
import pandas

from figures.figure import Band, Figure, Findings, Scale

matplotlib.use("svg")
# The same measurements give the same bytes.
matplotlib.rcParams["svg.hashsalt"] = "openstellar"
matplotlib.rcParams["svg.fonttype"] = "none"

__all__ = ["bands_table", "page", "text", "write"]


def number(value: Any) -> str:
    """A number with four significant digits; anything else as it is."""
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def bands_table(bands: list[Band]) -> pandas.DataFrame:
    """A row per band."""
    rows = [
        {
            "what": band.what,
            "measured": f"{number(float(band.value))} {band.unit}".strip(),
            "band": f"{number(float(band.low))} to {number(float(band.high))}",
            "verdict": band.verdict,
            "paper": band.paper,
        }
        for band in bands
    ]
    return pandas.DataFrame(rows)


def reasons(found: Findings) -> list[str]:
    """A sentence per band that does not hold, if it is known why."""
    return [f"{band.what} is outside: {band.why}" for band in found.bands if not band.holds and band.why]


def text(figure: Figure, scale: Scale, found: Findings) -> str:
    """For the terminal."""
    parts = [f"{figure.name}: {figure.title} ({figure.source}; {scale.name})", figure.setup, figure.parts]
    for title, table in found.tables:
        parts.append(f"{title}\n{table.map(number).to_string(index=False)}")
    if found.bands:
        parts.append(bands_table(found.bands).to_string(index=False))
    parts += reasons(found)
    parts += [f"note: {note}" for note in found.notes]
    return "\n\n".join(parts)


def write(figure: Figure, scale: Scale, found: Findings, directory: Path) -> Path:
    """Writes the plots (SVG), the page (HTML) and the values (JSON). Returns the page's path."""
    directory.mkdir(parents=True, exist_ok=True)
    drawings = []
    for name, plot in found.plots:
        file = directory / f"{name}.svg"
        plot.savefig(file, metadata={"Date": None})
        drawing = file.read_text()
        drawings.append(drawing[drawing.index("<svg") :])
    file = directory / f"{figure.name}.html"
    file.write_text(page(figure, scale, found, drawings))
    (directory / f"{figure.name}.json").write_text(json.dumps(as_json(figure, scale, found), indent=1))
    return file


def as_json(figure: Figure, scale: Scale, found: Findings) -> dict[str, Any]:
    """For programs."""
    bands = [{**vars(band), "verdict": band.verdict} for band in found.bands]
    tables = {title: json.loads(table.to_json(orient="records")) for title, table in found.tables}
    return {"figure": figure.name, "scale": scale.name, "bands": bands, "tables": tables, "notes": found.notes}


def page(figure: Figure, scale: Scale, found: Findings, drawings: list[str]) -> str:
    """A page with everything, the drawings within it."""
    def paragraph(sentence: str) -> str:
        return f"<p>{html.escape(sentence)}</p>"

    body = [f"<h1>{html.escape(figure.title)}</h1>", paragraph(f"{figure.source}; {scale.name} set, {len(scale.seeds)} seeds."), paragraph(figure.setup)]
    body.append(paragraph(figure.parts))
    if found.bands:
        body.append(bands_table(found.bands).to_html(index=False))
    body += map(paragraph, reasons(found))
    body += drawings
    for title, table in found.tables:
        body += [f"<h2>{html.escape(title)}</h2>", table.map(number).to_html(index=False)]
    body += [paragraph(f"Note: {note}") for note in found.notes]
    style = "body{font-family:sans-serif;max-width:70em;margin:2em auto}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em}"
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(figure.title)}</title><style>{style}</style></head>'
    return f"{head}<body>{''.join(body)}</body></html>\n"
