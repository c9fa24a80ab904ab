"""The project's own programs."""

from __future__ import annotations

import resource
import subprocess
from pathlib import Path


def build(target: Path, *what: str) -> Path:
    """Builds programs, and returns the directory of binaries."""
    # The whole workspace's features, as in `./stellar test`: what that has built is not built again.
    subprocess.run(["cargo", "build", "--quiet", "--workspace", *what], check=True)
    return target / "debug"


def processor_time() -> float:
    """Seconds that processors have worked for children of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
