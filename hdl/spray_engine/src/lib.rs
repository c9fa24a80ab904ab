//! Path choice in hardware: which entropy value each packet takes (`docs/multipath.md`).
