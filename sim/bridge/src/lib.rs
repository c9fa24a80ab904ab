//! A bridge between a port of a simulated card and a peer in another process, such as the network card of a guest under QEMU.
//!
//! ```text
//!  card ══ port ══ Bridge ── impairment ── capture ── LinkSocket ══ UNIX socket ══ peer (QEMU's -netdev dgram or stream)
//!                    └ HostStack answers ARP, neighbour discovery and ping
//! ```
//!
//! [`Bridge`] is the [`sim_nic::Line`] of a card: the card's clock drives it. A bridge carries whole Ethernet frames, from the destination address to
//! the last byte before the frame check sequence. It changes no byte of them, except for [`BitFlip`].
//!
//! **Time.** The peer's timers run on wall time, the card's on simulated time. [`Pace`] limits the speed of simulated time, so that the peer can respond
//! before a timer of the card expires. Nothing can slow the peer's timers: they must be long, or off. `docs/interop.md` has the values.
//!
//! **Flow control.** Frames of the peer wait in a short queue. When it is full, the bridge does not read the socket, and the peer must wait. No frame is
//! lost there.

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
