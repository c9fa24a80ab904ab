//! Interoperation tests of a simulated card with an independent implementation: the soft-RoCE of a Linux kernel, in a guest under QEMU.
//!
//! ```text
//!  cases ── driver ── LoneCard ══ Bridge ══ QEMU's network card ── Linux: rdma_rxe ── libibverbs ── rdma_peer
//!    └───────────────────────── commands over a serial port of the guest ──────────────────────────────┘
//! ```
//!
//! `tools/interop` starts the guest. The program `rdma_peer` in it executes commands from a serial port and judges nothing. [`run`] controls both ends and
//! judges the results: completions at both ends, every byte of all regions, and every packet on the wire.
//! `docs/interop.md` lists the cases.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bed;
mod card_end;
mod cases;
mod completions;
mod memory;
mod message;
mod peer;
mod qmp;
mod run;
mod table;
mod traffic;
mod tshark;

pub use cases::{all as cases, Case, IpVersion};
pub use run::{check_names, run, Options, Report, Row};
