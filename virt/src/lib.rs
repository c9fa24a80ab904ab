//! vStellar virtual devices, and the memory service beneath them (STELLAR, sections 4 and 5).

#![warn(missing_docs)]

pub mod pvdma;
pub mod start_up;
