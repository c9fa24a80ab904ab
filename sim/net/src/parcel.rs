//! What a fabric carries: frames, or records of frames.

use std::net::{IpAddr, Ipv6Addr};

use rand::RngCore;
use stellar_wire::{MacAddr, Opcode};

use crate::{DropReason, FabricError, HostId};

/// Class of service. Control packets are sent before data packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Packets with payload, MRC's probes, and everything that is not control.
    Data,
    /// Acknowledgements, trimmed packets.
    Control,
}

/// How packets are divided into classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Classifier {
    /// Code points of the control class; with `None`, the BTH opcode decides.
    pub control_dscp: Option<Vec<u8>>,
    /// UDP destination port of RoCEv2 and MRC.
    pub roce_port: u16,
}

impl Classifier {
    /// The class of a packet by its DSCP, and by its BTH opcode if it has one. A probe is like data: cards send it with the code point of data and
    /// ECN-capable, so that it waits, and is marked, where data would be.
    #[inline]
    pub fn class(&self, dscp: u8, opcode: Option<Opcode>) -> Class {
        let control = match &self.control_dscp {
            Some(list) => list.contains(&dscp),
            None => matches!(
                opcode,
                Some(
                    Opcode::RcAck
                        | Opcode::Cnp
                        | Opcode::MrcAck
                        | Opcode::MrcSack
                        | Opcode::MrcNack
                )
            ),
        };
        if control {
            Class::Control
        } else {
            Class::Data
        }
    }
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To the host port with this address. In the uSID block this is a container of uSIDs, which the switches process.
    Address(IpAddr),
    /// To this host and port.
    Port(HostId, usize),
}

/// What the first switch reads of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Class of service.
    pub class: Class,
    /// Hash of what makes a flow, see [`crate::FlowHash`].
    pub flow: u64,
    /// Hop limit.
    pub hops: u8,
    /// Where it goes.
    pub destination: Destination,
}

/// What a switch writes into a packet that it sends on.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite {
    /// Hop limit.
    pub hops: u8,
    /// MAC address of the next node.
    pub dst: MacAddr,
    /// MAC address of the switch.
    pub src: MacAddr,
}

/// Something that a [`Fabric`](crate::Fabric) carries. A [`Frame`](crate::Frame) has bytes, and its headers are parsed once. Records of frames have
/// the same facts as fields. If a record's answers are those of the frame, everything in the fabric happens at the same times.
pub trait Parcel: Clone {
    /// The headers that switches change, as the first switch read them.
    type Headers: Clone;
    /// Whether switches write hop limit and MAC addresses into it.
    const REWRITTEN: bool;

    /// Bytes from the destination MAC address to the iCRC.
    fn length(&self) -> usize;

    /// Whether a host may send it.
    ///
    /// # Errors
    /// Why not.
    fn check(&self) -> Result<(), FabricError> {
        Ok(())
    }

    /// Reads its headers.
    ///
    /// # Errors
    /// Why a switch drops it.
    fn read(&self, classifier: &Classifier) -> Result<(Self::Headers, Label), DropReason>;

    /// The IPv6 destination, if that is a container of uSIDs. Switches shift uSIDs out of it.
    fn destination<'a>(&'a mut self, headers: &'a mut Self::Headers) -> &'a mut Ipv6Addr;

    /// Writes the headers back. Called only if [`Self::REWRITTEN`].
    fn rewrite(&mut self, headers: &mut Self::Headers, rewrite: &Rewrite);

    /// Sets CE if the packet is ECN-capable and has no CE yet; returns whether it did. `headers` are there if a switch has read the packet.
    fn mark(&mut self, headers: Option<&mut Self::Headers>) -> bool;

    /// Cuts the packet to its headers, with `dscp` in every IP header; returns whether it could. See [`crate::Trimming`].
    fn trim(&mut self, headers: &mut Self::Headers, roce_port: u16, dscp: u8) -> bool;

    /// Changes a random byte to a random other value.
    fn corrupt(&mut self, rng: &mut dyn RngCore);
}
