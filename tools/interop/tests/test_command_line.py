"""Tests the command line of `./stellar interop`."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, str(Path(__file__).resolve().parents[1])]


def interop(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "command"),
        (["siw"], "siw"),
        (["vfio", "--seconds", "0"], "above 0"),
        (["rxe", "--seconds", "soon"], "--seconds"),
        (["rxe", "--sim-mode", "slow"], "--sim-mode"),
        (["rxe", "--link", "tap"], "--link"),
        (["rxe", "--flip", "3"], "BYTE.BIT"),
        (["rxe", "--flip", "3.8"], "BYTE.BIT"),
        (["rxe", "--seed", "x"], "--seed"),
        (["rxe", "--short", "--case", "psn-wrap"], "--case"),
        (["rxe", "now"], "now"),
    ],
)
def test_bad_usage_is_named_and_ends_with_2(arguments: list[str], named: str) -> None:
    done = interop(*arguments)
    assert done.returncode == 2
    assert named in done.stderr


def test_help_names_the_options() -> None:
    done = interop("rxe", "--help")
    assert done.returncode == 0
    for option in ("--short", "--case", "--list", "--seed", "--sim-mode", "--link", "--flip", "--directory", "--seconds", "--required"):
        assert option in done.stdout
