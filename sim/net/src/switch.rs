//! What a switch does with a packet.

use crate::balance::{Choice, Forwarded, Loads};
use crate::flight::{Flight, PacketId, TargetId};
use crate::forwarding::Next;
use crate::parcel::{Class, Parcel, Rewrite};
use crate::{ChannelId, DropReason, Fabric, SwitchId};

impl<P: Parcel> Fabric<P> {
    /// Reads the headers, decides the output and rewrites the packet for the next hop.
    pub(crate) fn route(
        &mut self,
        at: SwitchId,
        packet: PacketId,
        is_first: bool,
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
        let next = if target == TargetId::PER_SWITCH {
            let headers = self.packets.body(packet).headers.as_mut();
            let destination = P::destination(headers.expect("what was read has headers"));
            self.forwarding.by_usid(at, destination)?
        } else {
            self.forwarding.towards(at, target)?
        };
        let out = match next {
            Next::Switch(switch) if self.balancer.is_none() => {
                let channels = &self.channels;
                let is_up = |id: ChannelId| channels[id.index()].up;
                self.forwarding.hashed(at, switch, flow, is_up)?
            }
            next => self.balanced(at, next, packet, is_first)?,
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

    /// Has the balancer choose among the channels of switch `at`, if there are several.
    fn balanced(
        &mut self,
        at: SwitchId,
        next: Next,
        packet: PacketId,
        is_first: bool,
    ) -> Result<ChannelId, DropReason> {
        let Some(balancer) = &mut self.balancer else {
            let Next::Channel(out) = next else {
                return Err(DropReason::NoRoute);
            };
            return Ok(out);
        };
        let &Flight { flow, len, .. } = self.packets.peek(packet);
        let now = self.now;
        let mut forwarded = Forwarded {
            now,
            at,
            packet,
            out: ChannelId(0),
            len,
            last: at,
            is_first,
        };
        match next {
            Next::Channel(out) => {
                forwarded.out = out;
                let settings = self.channels[out.index()].settings as usize;
                if self.settings[settings].last_hop {
                    balancer.delivers(&forwarded);
                }
            }
            Next::Switch(last) => {
                self.up.clear();
                let group = self.forwarding.group(at, last).iter().copied();
                let channels = &self.channels;
                self.up.extend(group.filter(|id| channels[id.index()].up));
                forwarded.out = match self.up[..] {
                    [] => return Err(DropReason::NoRoute),
                    [only] => only,
                    ref group => balancer.choose(&Choice {
                        now,
                        at,
                        last,
                        flow,
                        group,
                        loads: Loads {
                            channels,
                            ledgers: &self.ledgers,
                            now,
                        },
                    }),
                };
                forwarded.last = last;
                balancer.forwarded(&forwarded);
            }
        }
        Ok(forwarded.out)
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
