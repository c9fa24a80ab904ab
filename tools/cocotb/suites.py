"""The tests that cocotbext-axi, cocotbext-eth and cocotbext-pcie ship in their source packages, unmodified, on both simulators."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

import stock
from comparison import differences
from openstellar.cocotb.results import Outcome, read_results
from simulators import SIMULATORS

PACKAGES = ("cocotbext-axi", "cocotbext-eth", "cocotbext-pcie")
REQUIREMENTS = Path(__file__).parent / "requirements-suites.txt"
SHIMS = Path(__file__).parent / "shims"


def fetch() -> dict[str, Path]:
    """The source packages, downloaded once and checked by hash: the archive of each."""
    directory = stock.STATE / "suites"
    stamp = directory / "stellar.stamp"
    if not stock.up_to_date(stamp, REQUIREMENTS):
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        stock.pip("download", "--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", str(REQUIREMENTS), "-d", str(directory))
        stamp.write_text(stock.digest(REQUIREMENTS))
    return {name: next(directory.glob(f"{name.replace('-', '_')}-*.tar.gz")) for name in PACKAGES}


@dataclass
class Run:
    """A suite on one simulator."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """Outcomes of cocotb's tests, by the pytest test that ran them and their own name."""
    broken: list[str] = field(default_factory=list)
    """pytest tests without results: the model was not built, or the simulation ended early."""
    log: Path = Path()


def run_suite(archive: Path, simulator: str, only: str | None) -> Run:
    """Unpacks a source package afresh and runs its tests."""
    work = stock.STATE / "suites" / simulator
    with tarfile.open(archive) as tar:
        root = work / tar.getnames()[0].split("/")[0]
        shutil.rmtree(root, ignore_errors=True)
        tar.extractall(work, filter="data")
    log = root / "pytest.log"
    variables = {**os.environ, **SIMULATORS[simulator](root).environment()}
    variables |= {"SIM": simulator, "PYTHONPATH": str(SHIMS), "COCOTB_RANDOM_SEED": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "suite_runners", "-q", "-rfE", "--import-mode=importlib"]
    command += [f"--junitxml={root / 'pytest.xml'}", *(["-k", only] if only else []), "tests"]
    with log.open("w") as output:
        subprocess.run(command, cwd=root, env=variables, stdout=output, stderr=subprocess.STDOUT, check=False)
    return collect(root)


def collect(root: Path) -> Run:
    """The outcomes of the tests of an unpacked source package."""
    run = Run(log=root / "pytest.log")
    for test, outcome in read_results(root / "pytest.xml").items():
        # A test's build directory has the name of the test; a test without a directory did not simulate.
        name = test.rsplit(".", 1)[-1].replace("[", "-").replace("]", "")
        results = list(root.glob(f"tests/**/sim_build/{name}/*.result.xml"))
        if results:
            found = read_results(results[0])
            run.outcomes |= {f"{name}/{inner}": one for inner, one in found.items()}
        elif not outcome.passed:
            run.broken.append(f"{name}: {outcome.message.splitlines()[0] if outcome.message else 'no results'}")
        else:
            run.outcomes[name] = outcome
    return run


def report(package: str, ours: Run, other: Run | None) -> int:
    """Prints passes, failures and their reasons. Returns the number of tests that pass on stock only."""
    failed = [name for name, outcome in ours.outcomes.items() if not outcome.passed]
    print(f"{package}: {len(ours.outcomes) - len(failed)} pass, {len(failed)} fail, {len(ours.broken)} did not run (log: {ours.log})")
    for name in failed:
        reason = ours.outcomes[name].message.splitlines()
        same = other is not None and name in other.outcomes and not other.outcomes[name].passed
        print(f"  fails{' on both' if same else ''}: {name}: {reason[-1] if reason else 'no reason given'}")
    for line in ours.broken:
        print(f"  did not run: {line}")
    if other is None:
        return len(failed) + len(ours.broken)
    stock_failed = sum(not outcome.passed for outcome in other.outcomes.values())
    print(f"  stock: {len(other.outcomes) - stock_failed} pass, {stock_failed} fail, {len(other.broken)} did not run (log: {other.log})")
    for line in other.broken:
        print(f"  did not run on stock: {line}")
    for line in differences(ours.outcomes, other.outcomes):
        print(f"  differs: {line}")
    return sum(
        outcome.passed and not (name in ours.outcomes and ours.outcomes[name].passed) for name, outcome in other.outcomes.items()
    )


def run_suites(packages: list[str], only: str | None, *, on_stock: bool) -> int:
    """Runs the suites of `packages`. Returns 1 if a test that passes on stock does not pass here."""
    if on_stock:
        stock.use()
    archives = fetch()
    lost = 0
    for package in packages:
        ours = run_suite(archives[package], "openstellar", only)
        other = run_suite(archives[package], "stock", only) if on_stock else None
        lost += report(package, ours, other)
        sys.stdout.flush()
    return 1 if lost else 0
