//! vStellar virtual devices, and the memory service beneath them (STELLAR, sections 4 and 5).
//!
//! ```text
//!  guest                                          host
//!  GuestDriver ── virtio queue in guest memory ──► Service ── checks ──► stellar-driver ──► tables of the card
//!  GuestQueuePair ── doorbell page (shared-memory region) ─────────────────────────────────► card
//!        rings and regions in guest memory ◄── DMA, mapped by Pvdma on first use ────────── card
//! ```
//!
//! [`host::Service`] makes devices of one card for guests. [`guest`] runs inside a guest: control requests, and queue pairs that send without the
//! host. [`pvdma`] pins guest memory when it is first used. [`start_up`] is a model of the time that this saves.

#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod guest;
pub mod host;
mod layout;
pub mod pvdma;
pub mod start_up;
mod window;

pub use layout::{GuestLayout, LayoutError};
pub use window::{DoorbellWindow, WindowFault};
