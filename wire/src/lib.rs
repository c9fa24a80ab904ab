//! Wire formats and table layouts: the one definition of every header, descriptor and entry.
//!
//! Every header is a plain struct that implements [`Header`]. `parse` reads it from the front of a byte slice, and `emit` appends it to a vector.
//! [`RoceFrame`] builds and parses whole packets.
//!
//! [`rows`] are the tables of the card as software writes them. [`config`] has the settings from which the rows follow. With the feature `hdl`, `hw`
//! has the records that hardware blocks exchange; only this part needs rust-hdl.
//!
//! Conventions, everywhere in this crate:
//! - Reserved bits are sent as zero and ignored on receipt, except where a struct has a field for them (BTH, IPv4),
//!   which it has where real traffic must be re-emitted bit for bit.
//! - `parse` never panics. `emit` panics if a value does not fit its field (a 25-bit PSN): it never truncates.
//! - Fields narrower than their Rust type say their width in the field's comment.

mod code_enum;
mod error;
mod header;
mod psn;
mod record_enum;

pub mod aeth;
pub mod atomic;
pub mod bth;
pub mod config;
pub mod deth;
pub mod ethernet;
pub mod ext;
pub mod frame;
pub mod host;
#[cfg(feature = "hdl")]
pub mod hw;
pub mod icrc;
pub mod ieth;
pub mod immdt;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
pub mod mrc;
pub mod mtu;
pub mod opcode;
pub mod pcie;
pub mod receive;
pub mod reth;
pub mod rows;
pub mod srv6;
pub mod time;
pub mod transfer;
pub mod udp;
pub mod vstellar;

pub use aeth::{Aeth, NakCode, Syndrome};
pub use atomic::{AtomicAckEth, AtomicEth};
pub use bth::Bth;
pub use deth::Deth;
pub use error::WireError;
pub use ethernet::{Ethernet, MacAddr, Vlan};
pub use ext::{ExtHeaders, ExtKind};
pub use frame::RoceFrame;
pub use header::Header;
pub use ieth::Ieth;
pub use immdt::ImmDt;
pub use ip::{Ecn, Ip};
pub use ipv4::Ipv4;
pub use ipv6::Ipv6;
pub use opcode::{Opcode, Position, Transport};
pub use psn::Psn;
pub use reth::Reth;
pub use srv6::{Srv6Encap, UsidContainer};
pub use udp::Udp;
