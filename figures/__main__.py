"""`./stellar figures`: runs figures, prints their tables, and writes their plots and pages."""

from __future__ import annotations

import argparse
import difflib
import sys
import time
from pathlib import Path

import cloudpickle
import pandas

import figures
from figures import output
from figures.catalogue import ALL
from figures.figure import Figure, Findings
from openstellar import sweep

# Measuring functions travel to workers as code: those on other machines have the package openstellar, and not this folder.
cloudpickle.register_pickle_by_value(figures)


def chosen(names: list[str]) -> list[Figure]:
    """The figures of these names, or all. Raises ValueError for an unknown name, with the closest ones."""
    known = {figure.name: figure for figure in ALL}
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known) or list(known)
            raise ValueError(f"unknown figure {name!r}; did you mean {', '.join(close)}? ./stellar figures --list shows all")
    return [known[name] for name in names] or list(ALL)


def run(figure: Figure, arguments: argparse.Namespace) -> Findings | None:
    """Runs a figure and writes its files; None if a point failed."""
    scale = figure.scale(full=arguments.full)
    began = time.monotonic()
    result = sweep.run(
        figure.measure,
        figure.points(scale),
        directory=arguments.directory / "points" / figure.name,
        workers=arguments.workers,
        scheduler=arguments.scheduler,
        progress=not arguments.quiet,
    )
    for failure in result.failed:
        print(f"{figure.name}: a point failed: {failure}\n{failure.traceback}", file=sys.stderr)
    if result.failed:
        return None
    rows = pandas.DataFrame([point | row for point, row in zip(result.points, result.rows, strict=True)])
    found = figure.findings(rows, scale)
    file = output.write(figure, scale, found, arguments.directory)
    print(output.text(figure, scale, found))
    print(f"\n{file}, after {time.monotonic() - began:.0f} s; {result.reused} of {len(result.rows)} points from before\n", flush=True)
    return found


def main() -> int:
    """Runs what the arguments choose. Returns 0 if every band holds or is known not to, with the reason; 3 if another does not; 1 after an error."""
    parser = argparse.ArgumentParser(prog="./stellar figures", description="The papers' figures: measured here, beside the papers' numbers. `figures pcie` has those of PCIe.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures; all with --quick or --full alone")
    parser.add_argument("--list", action="store_true", help="show the figures")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="few seeds, short flows: all figures in less than five minutes on two processors (default)")
    size.add_argument("--full", action="store_true", help="the set that docs/figures.md has; what a run that was ended has finished is not run again")
    parser.add_argument("--directory", type=Path, default=Path("out/figures"), help="plots, pages, and what is finished [default: %(default)s]")
    parser.add_argument("--workers", type=int, help="processes [default: one per processor]")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler, like tcp://HOST:8786")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    arguments = parser.parse_args()
    if arguments.list:
        print("pcie       STELLAR, figures 7, 8, 13 and 14: `./stellar figures pcie --help`")
        for figure in ALL:
            print(f"{figure.name:10} {figure.source}: {figure.title}" + (f" [not here: {figure.missing()}]" if figure.missing() else ""))
        return 0
    if not (arguments.names or arguments.quick or arguments.full):
        parser.error("name figures, or give --quick, --full or --list")
    try:
        figures_to_run = chosen(arguments.names)
        outside, failed = [], []
        for figure in figures_to_run:
            if why := figure.missing():
                print(f"{figure.name}: not here: {why}\n")
                continue
            found = run(figure, arguments)
            if found is None:
                failed.append(figure.name)
            else:
                outside += [(figure.name, band) for band in found.bands if not band.holds]
    except (ValueError, ImportError, ConnectionError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for name, band in outside:
        print(f"OUTSIDE its band: {name}: {band.what}" + (" (explained above)" if band.why else ""))
    return 1 if failed else 3 if any(not band.why for _, band in outside) else 0


if __name__ == "__main__":
    sys.exit(main())
