//! Responder in hardware: answers, immediates and arrival counters (`docs/transmit.md`).
