//! Tests across crates: the receive lane end to end. See `tests/tests`.
