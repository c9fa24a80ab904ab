//! Records of frames, as a fabric carries them.

use std::net::{IpAddr, Ipv6Addr};

use rand::RngCore;
use sim_net::{
    Classifier, Destination, DropReason, FlowHash, FlowKey, HostId, Label, Parcel, Rewrite,
};
use stellar_transport::endpoint::{Packet, Transit};
use stellar_wire::ip::PROTO_IPV6;
use stellar_wire::{Ipv4, Opcode, Srv6Encap, UsidContainer};

/// A packet on its way, without bytes. To a fabric it is what the frame of the packet is.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub(crate) packet: Packet,
    /// Bytes of the frame, from destination MAC address to iCRC.
    pub(crate) length: u16,
    /// Code point in its IP header.
    pub(crate) dscp: u8,
    /// What switches send it on by.
    pub(crate) route: Route,
    /// What the fabric did to it.
    pub(crate) transit: Transit,
    /// A byte has changed on the way.
    pub(crate) is_damaged: bool,
}

/// What switches read of the outermost IP header of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Route {
    /// The address of a port.
    Port {
        /// The host that it goes to.
        to: HostId,
        /// The port that it goes to; it is the same as the port it comes from.
        port: u8,
        /// Hash of its addresses.
        addresses: FlowHash,
    },
    /// A path, in the header around that of the packet.
    Source {
        /// uSIDs of the path. Switches shift out those that are done.
        container: Ipv6Addr,
        /// Hash of the header. Switches do not look behind it.
        flow: FlowHash,
    },
}

impl Route {
    /// The route of a packet of host address `src` over a path.
    pub(crate) fn over(path: UsidContainer, src: IpAddr, packet: &Packet) -> Self {
        let container = Ipv6Addr::from(path);
        Self::Source {
            container,
            flow: FlowHash::new(&FlowKey {
                src,
                dst: container.into(),
                protocol: PROTO_IPV6,
                flow_label: packet.entropy().0 >> 16,
            }),
        }
    }
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

    #[inline(always)]
    fn read(&self, classifier: &Classifier) -> Result<((), Label), DropReason> {
        let (flow, hops, destination) = match self.route {
            Route::Port {
                to,
                port,
                addresses,
            } => (
                addresses.with_ports(self.packet.entropy().0 as u16, classifier.roce_port),
                Ipv4::default().ttl,
                Destination::Port(to, port.into()),
            ),
            Route::Source { container, flow } => (
                flow.without_ports(),
                Srv6Encap::default().hop_limit,
                Destination::Address(container.into()),
            ),
        };
        let label = Label {
            class: classifier.class(self.dscp, Some(self.opcode())),
            flow,
            hops,
            destination,
        };
        Ok(((), label))
    }

    fn destination<'a>(&'a mut self, (): &'a mut ()) -> &'a mut Ipv6Addr {
        match &mut self.route {
            Route::Source { container, .. } => container,
            Route::Port { .. } => unreachable!("only paths are containers of uSIDs"),
        }
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
