"""Lines on standard error: how far a sweep is."""

from __future__ import annotations

import sys
import time

__all__ = ["Progress"]

_EVERY_SECONDS = 10
"""Between two lines where a line cannot be overwritten."""


class Progress:
    """A line that is overwritten on a terminal, or a line now and then elsewhere."""

    def __init__(self, total: int, reused: int, *, enabled: bool) -> None:
        self._total, self._reused, self._done, self._failed = total, reused, reused, 0
        self._enabled = enabled and total > 0
        self._began = self._shown = time.monotonic()
        self._overwrite = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._enabled:
            self._show(end="\n")

    def step(self, failed: bool) -> None:
        """A point is done."""
        self._done += 1
        self._failed += failed
        now = time.monotonic()
        if self._enabled and (self._overwrite or now - self._shown > _EVERY_SECONDS):
            self._shown = now
            self._show(end="" if self._overwrite else "\n")

    def _show(self, end: str) -> None:
        start = "\r" if self._overwrite else ""
        seconds = time.monotonic() - self._began
        text = f"sweep: {self._done} of {self._total} points, {self._reused} from before, {self._failed} failed, {seconds:.0f} s"
        print(f"{start}{text}", end=end, file=sys.stderr, flush=True)
