//! Records of frames, as a fabric carries them.

use std::net::Ipv6Addr;

use rand::RngCore;
use sim_net::{Classifier, Destination, DropReason, FlowHash, HostId, Label, Parcel, Rewrite};
use stellar_transport::endpoint::{Packet, Transit};
use stellar_wire::{Ipv4, Opcode};

/// A packet on its way, without bytes. To a fabric it is what the frame of the packet is.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub(crate) packet: Packet,
    /// Bytes of the frame, from destination MAC address to iCRC.
    pub(crate) length: u16,
    /// Code point in its IP header.
    pub(crate) dscp: u8,
    /// The port that it goes to; it is the same as the port it comes from.
    pub(crate) port: u8,
    /// The host that it goes to.
    pub(crate) to: HostId,
    /// Hash of its addresses.
    pub(crate) addresses: FlowHash,
    /// What the fabric did to it.
    pub(crate) transit: Transit,
    /// A byte has changed on the way.
    pub(crate) is_damaged: bool,
}

impl Record {
    fn opcode(&self) -> Opcode {
        match &self.packet {
            Packet::Data(headers) => headers.opcode(),
            Packet::Control(control) => control.body.opcode(),
        }
    }
}

impl Parcel for Record {
    type Headers = ();
    const REWRITTEN: bool = false;

    fn length(&self) -> usize {
        self.length.into()
    }

    fn read(&self, classifier: &Classifier) -> Result<((), Label), DropReason> {
        let label = Label {
            class: classifier.class(self.dscp, Some(self.opcode())),
            flow: self
                .addresses
                .with_ports(self.packet.entropy().0 as u16, classifier.roce_port),
            hops: Ipv4::default().ttl,
            destination: Destination::Port(self.to, self.port.into()),
        };
        Ok(((), label))
    }

    fn destination((): &mut ()) -> &mut Ipv6Addr {
        unreachable!("a record goes to a port, not to a container of uSIDs")
    }

    fn rewrite(&mut self, (): &mut (), _: &Rewrite) {}

    fn mark(&mut self, _: Option<&mut ()>) -> bool {
        let marks = self.packet.is_like_data() && !self.transit.marked;
        self.transit.marked |= marks;
        marks
    }

    fn trim(&mut self, (): &mut (), _: u16, dscp: u8) -> bool {
        let cut = self.packet.payload_and_pad();
        if cut == 0 {
            return false;
        }
        self.length -= cut;
        self.dscp = dscp;
        self.transit.trimmed = true;
        true
    }

    /// The iCRC finds every changed byte, wherever it is. In a frame it may be one that the iCRC does not cover.
    fn corrupt(&mut self, _: &mut dyn RngCore) {
        self.is_damaged = true;
    }
}
