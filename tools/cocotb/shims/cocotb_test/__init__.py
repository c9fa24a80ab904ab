"""A replacement for the package cocotb-test, which does not support this project's simulator. The tests of cocotbext-axi and cocotbext-pcie start
through it.
"""
