"""cocotb on OpenStellar's simulator: the unmodified cocotb, without VPI.

    from openstellar.cocotb import Runner

    runner = Runner()
    runner.build(sources=["counter.v"], hdl_toplevel="counter")
    runner.test(test_module="test_counter", hdl_toplevel="counter")

With cocotb's pytest plugin: `pytest -p cocotb_tools._pytest.plugin -p openstellar.cocotb.pytest_plugin`.
"""

from openstellar.cocotb.runner import Runner

__all__ = ["Runner"]
