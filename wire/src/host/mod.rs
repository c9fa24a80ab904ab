//! Records shared between a driver and the card through host memory and doorbell pages: work queue entries (WQE),
//! completion queue entries (CQE), event queue entries (EQE), the doorbell and consumer index words, the register map, the
//! PCI configuration space, the MSI-X table, and the clock of a simulated card.
//!
//! All are little-endian. Reserved bytes are written as zero and ignored on reading. Offsets stand in each record's own
//! table; a field narrower than its Rust type says its width, and `to_bytes` panics rather than cut a value down.

pub mod admin;
pub mod config_space;
mod consumer;
pub mod counters;
mod cqe;
mod doorbell;
mod eqe;
mod path_count;
pub mod qp_counters;
pub mod registers;
pub mod simulation;
mod status;
pub mod vector_table;
mod wqe;

pub use consumer::ConsumerIndex;
pub use counters::{CardCounter, PortCounter};
pub use cqe::{Cqe, CqeOpcode};
pub use doorbell::Doorbell;
pub use eqe::{Eqe, EventKind};
pub use path_count::{PathCount, PathCountSelect, PathEvent};
pub use qp_counters::{QpCounter, QpCounterSelect, QpCounters};
pub use status::WcStatus;
pub use vector_table::VectorEntry;
pub use wqe::{Wqe, WqeOpcode, WqeSize};

fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from(le16(bytes, at)) | u32::from(le16(bytes, at + 2)) << 16
}

fn le64(bytes: &[u8], at: usize) -> u64 {
    u64::from(le32(bytes, at)) | u64::from(le32(bytes, at + 4)) << 32
}

/// Writes a little-endian field at its place.
fn put<const N: usize>(out: &mut [u8], at: usize, field: [u8; N]) {
    out[at..at + N].copy_from_slice(&field);
}
