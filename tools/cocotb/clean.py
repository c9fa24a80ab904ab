"""Tests the Python wheel in a clean virtual environment, as a user installs it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import stock

WHEELS = stock.STATE / "wheels"


def wheel() -> Path:
    """The wheel that ./stellar has built. Raises InstallError if there is not exactly one."""
    found = sorted(WHEELS.glob("openstellar-*.whl"))
    if len(found) != 1:
        raise stock.InstallError(f"{len(found)} wheels in {WHEELS}, not one: delete them and try again")
    return found[0]


def run_in_clean_environment(only: str | None) -> int:
    """Installs the wheel and the packages of its `test` extra into a new virtual environment, and runs tests/cocotb with that environment's pytest.

    Returns pytest's status. Raises InstallError if pip fails, or if the tests would not use the installed package.
    """
    built = wheel()
    # Variables about this process' own Python must not reach the new one.
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    with tempfile.TemporaryDirectory(prefix="stellar-venv-") as directory:
        environment = Path(directory) / "venv"
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        python = environment / "bin" / "python"
        print(f"pip install {built.name}[test]", flush=True)
        stock.pip("install", f"{built}[test]", python=str(python))
        command = [str(python), "-c", "import openstellar; print(openstellar.__file__)"]
        found = subprocess.run(command, cwd=directory, env=variables, capture_output=True, text=True, check=True).stdout.strip()
        if not Path(found).is_relative_to(environment):
            raise stock.InstallError(f"openstellar comes from {found}, not from the new environment {environment}")
        print("pytest tests/cocotb", flush=True)
        command = [str(environment / "bin" / "pytest"), "-q", "-p", "no:cacheprovider", *(["-k", only] if only else []), "tests/cocotb"]
        return subprocess.run(command, cwd=stock.ROOT, env=variables, check=False).returncode
