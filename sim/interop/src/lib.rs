//! A simulated card against a peer that nobody here wrote: the soft-RoCE of a Linux kernel, in a guest under QEMU.
//!
//! ```text
//!  cases ── driver ── LoneCard ══ Bridge ══ QEMU's network card ── Linux: rdma_rxe ── libibverbs ── rdma_peer
//!    └───────────────────────── commands over a serial port of the guest ──────────────────────────────┘
//! ```
//!
//! `tools/interop` starts the guest, and `rdma_peer` in it, which does what it is told over a serial port and judges nothing. [`run`] tells both ends what
//! to do and judges what comes of it: completions on both sides, every byte of all four regions, and every frame on the wire.
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

pub use cases::{all as cases, Case, IpVersion, Outcome};
pub use run::{run, Options, Report, Row};
