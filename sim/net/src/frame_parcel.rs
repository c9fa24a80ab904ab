//! Frames as a fabric carries them.

use std::net::{IpAddr, Ipv6Addr};

use rand::{Rng, RngCore};
use stellar_wire::ip::PROTO_UDP;
use stellar_wire::{Bth, Ethernet, Header, Ip, Udp};

use crate::hash::{FlowHash, FlowKey};
use crate::headers::{outer_ip, IpAt};
use crate::parcel::{Classifier, Destination, Label, Parcel, Rewrite};
use crate::trim::trimmed;
use crate::{DropReason, FabricError, Frame};

impl Parcel for Frame {
    /// The outermost IP header, as it is in the frame.
    type Headers = IpAt;
    const REWRITTEN: bool = true;

    fn length(&self) -> usize {
        self.len()
    }

    fn check(&self) -> Result<(), FabricError> {
        let stored = self.bytes().len();
        if stored < Ethernet::LEN {
            return Err(FabricError::NoEthernetHeader { stored });
        }
        Ok(())
    }

    fn read(&self, classifier: &Classifier) -> Result<(IpAt, Label), DropReason> {
        let bytes = self.bytes();
        let mut outer = outer_ip(bytes)?;
        let behind = &bytes[outer.at + outer.ip.header_len()..];
        // Inside an encapsulation, switches read only the class: they hash the outer header.
        let (ip, datagram) = match outer.inner_ethertype() {
            None => (Some(outer.ip), behind),
            Some(ethertype) => match Ip::parse(ethertype, behind) {
                Ok((ip, rest)) => (Some(ip), rest),
                Err(_) => (None, behind),
            },
        };
        let udp = ip
            .filter(|ip| ip.protocol() == PROTO_UDP)
            .and_then(|_| Udp::parse(datagram).ok());
        let key = FlowKey::of(&outer.ip);
        let hash = FlowHash::new(&key);
        let mut flow = hash.without_ports();
        let mut opcode = None;
        if let Some((udp, transport)) = udp {
            if outer.inner_ethertype().is_none() {
                flow = hash.with_ports(udp.sport, udp.dport);
            }
            if udp.dport == classifier.roce_port {
                opcode = Bth::parse(transport).ok().map(|(bth, _)| bth.opcode);
            }
        }
        let label = Label {
            class: classifier.class(outer.dscp(), opcode),
            flow,
            hops: *outer.hops(),
            destination: Destination::Address(key.dst),
        };
        Ok((outer, label))
    }

    fn destination<'a>(&'a mut self, headers: &'a mut IpAt) -> &'a mut Ipv6Addr {
        match &mut headers.ip {
            Ip::V6(ip) => &mut ip.dst,
            Ip::V4(_) => unreachable!("a container of uSIDs is an IPv6 destination"),
        }
    }

    fn rewrite(&mut self, headers: &mut IpAt, rewrite: &Rewrite) {
        *headers.hops() = rewrite.hops;
        let bytes = self.bytes_mut();
        headers.write(bytes);
        bytes[..6].copy_from_slice(&rewrite.dst.0);
        bytes[6..12].copy_from_slice(&rewrite.src.0);
    }

    fn mark(&mut self, headers: Option<&mut IpAt>) -> bool {
        let Ok(mut outer) = outer_ip(self.bytes()) else {
            return false;
        };
        let marks = outer.mark();
        if marks {
            outer.write(self.bytes_mut());
            if let Some(headers) = headers {
                *headers = outer;
            }
        }
        marks
    }

    fn trim(&mut self, headers: &mut IpAt, roce_port: u16, dscp: u8) -> bool {
        let Some((frame, outer)) = trimmed(self, roce_port, dscp) else {
            return false;
        };
        *self = frame;
        *headers = outer;
        true
    }

    fn corrupt(&mut self, rng: &mut dyn RngCore) {
        let bytes = self.bytes_mut();
        let at = rng.random_range(0..bytes.len());
        bytes[at] ^= rng.random_range(1..=u8::MAX);
    }
}

impl FlowKey {
    /// The part of an IP header.
    fn of(ip: &Ip) -> Self {
        let (src, dst, flow_label) = match ip {
            Ip::V4(ip) => (IpAddr::V4(ip.src), IpAddr::V4(ip.dst), 0),
            Ip::V6(ip) => (IpAddr::V6(ip.src), IpAddr::V6(ip.dst), ip.flow_label),
        };
        Self {
            src,
            dst,
            protocol: ip.protocol(),
            flow_label,
        }
    }
}
