//! Serves Verilated cards as PCI devices over UNIX sockets, by the vfio-user protocol. `stellar serve` runs this server.
//!
//! ```text
//!  driver ──nic0.sock──► thread ─┐ jobs            ┌─ card 0 ══╗ two cables
//!                                ├──────► world ──►┤           ║
//!  driver ──nic1.sock──► thread ─┘    one thread   └─ card 1 ══╝
//! ```
//!
//! **A lone card** ([`Server::start_lone`]) has a bridge ([`sim_bridge::Bridge`]) in place of the cables: one of its ports is plugged into it, and
//! the other end of the bridge is in another process.
//!
//! **Both functions** of a card have a socket: `nic0.data.sock` is that of card 0's data function. Memory has to be mapped at both, at the same address, as it has to
//! be in two IOMMU domains. A connection that ends is a function-level reset.
//!
//! **The clock** belongs to the thread that owns the cards (`world`). This thread executes the requests of peers, between two cycles or in the cycles
//! that they take. No other thread uses a card. While a driver is connected, the clock runs as long as any pin of a card is active and 300 us
//! (simulated) longer. It also runs until the time that a waiting driver requests ([`stellar_wire::host::simulation`]). With a bridge, the same holds
//! without a driver, and the clock also runs while a frame waits at the bridge. Otherwise the clock is stopped and the thread sleeps until a frame of
//! the bridge wakes it.
//!
//! **Doorbell pages** are a region beside BAR2. Drivers map this region, but not BAR2 ([`stellar_wire::host::simulation`]). The server polls the
//! slots that drivers have named between two cycles. Doorbells at other places of a page are messages: all queue pairs share the first word of a
//! page, so if two doorbells came between two polls, the first would be lost.
//!
//! **Memory** of a driver is what it maps by file descriptor. The server maps a file once, even if several windows show parts of it. Mappings without
//! a file are accepted, but the card cannot access them. A driver that shrinks a mapped file ends the server (SIGBUS); this project's driver seals
//! its files to prevent that.
//!
//! **A driver that disconnects**, in whatever way, leaves nothing behind: its memory is unmapped between two cycles, and its card is reset. To the
//! other card this looks like a card that stops responding. Then the next driver is served. A driver that connects earlier waits.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod backend;
mod clock_page;
mod config_region;
mod data_function;
mod error;
mod interrupts;
mod memory;
mod pages;
mod ranges;
mod regions;
mod server;
mod socket;
mod vectors;
mod world;

pub use error::ServeError;
pub use server::{Counts, Server, Stopper, Traffic};
