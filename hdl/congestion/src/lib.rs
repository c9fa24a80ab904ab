//! Congestion window in hardware: NSCC in fixed point (`docs/multipath.md`).
