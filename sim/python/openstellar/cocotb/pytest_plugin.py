"""Makes cocotb's pytest plugin simulate on OpenStellar: `pytest -p cocotb_tools._pytest.plugin -p openstellar.cocotb.pytest_plugin`."""

from __future__ import annotations

import pytest

from openstellar.cocotb.runner import Runner


@pytest.hookimpl(optionalhook=True)
def pytest_cocotb_make_runner(simulator_name: str) -> Runner:
    """The runner for every HDL fixture, whichever simulator is named, because the command line accepts only cocotb's own."""
    return Runner()
