"""Builds the project's own programs, and measures the processor time that they use."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path


def build(target: Path, *what: str) -> Path:
    """Builds programs, and returns the directory of binaries."""
    # The features of the whole workspace, as in `./stellar test`, so that its builds are reused.
    subprocess.run(["cargo", "build", "--quiet", "--workspace", *what], check=True)
    return target / "debug"


def processor_time() -> float:
    """Processor seconds of this process' children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
