//! PCIe fabric model.
