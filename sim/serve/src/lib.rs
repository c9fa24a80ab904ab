//! Serves Verilated cards as PCI devices over UNIX sockets, by the vfio-user protocol: what `stellar serve` runs.
//!
//! ```text
//!  driver ──nic0.sock──► thread ─┐ jobs            ┌─ card 0 ══╗ two cables
//!                                ├──────► world ──►┤           ║
//!  driver ──nic1.sock──► thread ─┘    one thread   └─ card 1 ══╝
//! ```
//!
//! **A lone card** ([`Server::start_lone`]) has a bridge ([`sim_bridge::Bridge`]) in place of the cables: one of its ports is plugged into it, and the
//! other end of the bridge is in another process.
//!
//! **The clock** belongs to the thread that owns the cards (`world`). What peers ask for is done there, between two clocks or in the clocks
//! it takes; nobody else touches a card. While a driver is connected the clock runs freely as long as something crosses a pin of
//! any card, and for 300 us (simulated) after that, and as far as a driver says that it waits
//! ([`stellar_wire::host::simulation`]). With a bridge that holds without a driver too, and the clock runs while a frame waits at the bridge.
//! Otherwise it stands still, and the thread sleeps; a frame of the bridge wakes it.
//!
//! **Doorbell pages** are a region that drivers map beside BAR2, which they do not ([`stellar_wire::host::simulation`]). Slots of it that they name are looked at between two clocks. What
//! rings elsewhere in a page is a message: all queue pairs ring at its first word, and of two doorbells between two looks the first would be lost.
//!
//! **Memory** of a driver is what it maps, by file descriptor; a file is mapped here once, whatever the number of windows onto it. Maps without a
//! file are accepted, and the card cannot reach them. A driver that shrinks a file it has mapped ends the server (SIGBUS);
//! one sealed against that, as this project's driver makes them, cannot.
//!
//! **A driver that goes**, in whatever way, leaves nothing behind: its memory is unmapped between two clocks, and its card is reset. The other card
//! sees no more of it than of a card that stops to answer. The next driver is served then; one that comes earlier waits.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod backend;
mod clock_page;
mod error;
mod interrupts;
mod memory;
mod pages;
mod regions;
mod server;
mod socket;
mod vectors;
mod world;

pub use error::ServeError;
pub use server::{Counts, Server, Stopper, Traffic};
