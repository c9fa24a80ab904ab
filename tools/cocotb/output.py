"""Captures the output of simulators and compilers in files."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def captured(path: Path) -> Iterator[None]:
    """Redirects the output of this process and its children to a file, and prints the end of the file if the block raises an exception."""
    sys.stdout.flush()
    saved = [os.dup(1), os.dup(2)]
    with path.open("wb") as file:
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        failed = True
        try:
            yield
            failed = False
        finally:
            sys.stdout.flush()
            for number, copy in zip((1, 2), saved, strict=True):
                os.dup2(copy, number)
                os.close(copy)
            if failed:
                print(path.read_text(errors="replace")[-4000:], file=sys.stderr)
