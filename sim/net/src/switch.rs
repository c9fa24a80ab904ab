//! What a switch does with a packet.

use crate::flight::{Flight, PacketId, TargetId};
use crate::parcel::{Class, Parcel, Rewrite};
use crate::{ChannelId, DropReason, Fabric, SwitchId};

impl<P: Parcel> Fabric<P> {
    /// Reads the headers, decides the output and rewrites the packet for the next hop.
    pub(crate) fn route(
        &mut self,
        at: SwitchId,
        packet: PacketId,
    ) -> Result<(ChannelId, Class), DropReason> {
        if !self.packets.flight(packet).is_read {
            self.read(packet)?;
        }
        let flight = self.packets.flight(packet);
        if flight.hops <= 1 {
            return Err(DropReason::HopLimit);
        }
        flight.hops -= 1;
        let Flight {
            target,
            flow,
            hops,
            class,
            ..
        } = *flight;
        let channels = &self.channels;
        let is_up = |id: ChannelId| channels[id.index()].up;
        let out = if target == TargetId::PER_SWITCH {
            let headers = self.packets.body(packet).headers.as_mut();
            let destination = P::destination(headers.expect("what was read has headers"));
            self.forwarding.by_usid(at, destination, flow, is_up)?
        } else {
            self.forwarding.towards(at, target, flow, is_up)?
        };
        if P::REWRITTEN {
            let rewrite = Rewrite {
                hops,
                dst: self.next_macs[out.index()],
                src: self.switch_macs[at.index()],
            };
            let body = self.packets.body(packet);
            let headers = body.headers.as_mut();
            let headers = headers.expect("what was read has headers");
            body.parcel.rewrite(headers, &rewrite);
        }
        Ok((out, class))
    }

    /// Reads the headers of a packet.
    pub(crate) fn read(&mut self, packet: PacketId) -> Result<(), DropReason> {
        let (flight, body) = self.packets.both(packet);
        let (headers, label) = body.parcel.read(&self.classifier)?;
        body.headers = Some(headers);
        flight.class = label.class;
        flight.flow = label.flow;
        flight.hops = label.hops;
        flight.target = self.forwarding.target(label.destination);
        flight.is_read = true;
        Ok(())
    }
}
