"""Stands in for the package cocotb-test, which has no simulator of this project: the tests of cocotbext-axi and cocotbext-pcie start through it."""
