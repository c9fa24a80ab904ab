//! Builds and drives Verilated models.
