//! Transmit window in hardware: what became of every packet sent (`docs/transmit.md`).
