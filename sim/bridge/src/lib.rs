//! A bridge between a port of a simulated card and a peer in another process, such as the network card of a guest under QEMU.
//!
//! ```text
//!  card ══ port ══ Bridge ── impairment ── capture ── LinkSocket ══ UNIX socket ══ peer (QEMU's -netdev dgram or stream)
//!                    └ HostStack answers ARP, neighbour discovery and ping
//! ```
//!
//! [`Bridge`] is the [`sim_nic::Line`] of a card: the card's clock drives it. A bridge carries whole Ethernet frames, from the destination address to
//! the last byte before the frame check sequence, and changes none of them unless [`BitFlip`] says so.
//!
//! **Time.** The peer lives in wall time, the card in simulated time. [`Pace`] keeps simulated time from running ahead, so that a timer of the card leaves
//! the peer the time to answer. Nothing can hold back the peer's timers: they have to be long, or off. `docs/interop.md` says how long.
//!
//! **Flow.** What the peer sends waits in a short queue; when it is full, the socket is not read and the peer has to wait. Nothing is lost there.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod address;
mod bridge;
mod flip;
mod frame;
mod host_stack;
mod impairment;
mod link;
mod pace;

pub use address::{AddressError, LinkAddress};
pub use bridge::{Bridge, BridgeConfig, BridgeCounts, Crossing};
pub use flip::{BitFlip, FlipError};
pub use frame::is_rocev2;
pub use host_stack::{HostAddresses, HostAddressesError};
pub use impairment::{Fate, Impairment, ImpairmentError};
pub use link::LinkError;
pub use pace::Pace;
