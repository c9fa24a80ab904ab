//! What a switch does with a packet.

use crate::balance::{Choice, Forwarded, Loads};
use crate::event::Event;
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
        let mut flight = self.packets.flight(packet);
        if !flight.is_read {
            self.read(packet)?;
            flight = self.packets.flight(packet);
        }
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
            let body = self.packets.body(packet);
            let headers = body.headers.as_mut();
            let headers = headers.expect("what was read has headers");
            self.forwarding
                .by_usid(at, body.parcel.destination(headers))?
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
        let &Flight {
            flow, len, class, ..
        } = self.packets.peek(packet);
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
                    balancer.delivers(&forwarded, &mut self.effects);
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
                        class,
                        len,
                        is_first,
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

    /// Puts a packet into its queue, unless the balancer holds it, and those that the balancer releases.
    pub(crate) fn enqueue_balanced(&mut self, out: ChannelId, packet: PacketId, class: Class) {
        let before = std::mem::take(&mut self.effects.before);
        self.enqueue_held(before);
        if !std::mem::take(&mut self.effects.holds) {
            self.enqueue(out, packet, class);
        }
        self.apply_effects();
    }

    /// A time of the balancer has come.
    pub(crate) fn call_balancer(&mut self, token: u32) {
        if let Some(balancer) = &mut self.balancer {
            balancer.on_timer(token, self.now, &mut self.effects);
        }
        self.apply_effects();
    }

    fn apply_effects(&mut self) {
        for (time, token) in self.effects.timers.drain(..) {
            self.events.push(time, Event::Balancer(token));
        }
        let released = std::mem::take(&mut self.effects.released);
        self.enqueue_held(released);
    }

    fn enqueue_held(&mut self, packets: Vec<(PacketId, ChannelId)>) {
        for (packet, out) in packets {
            self.enqueue(out, packet, Class::Data);
        }
    }

    /// Reads the headers of a packet.
    #[inline(never)]
    fn read(&mut self, packet: PacketId) -> Result<(), DropReason> {
        let (flight, body) = self.packets.both(packet);
        let headers = flight.read(&body.parcel, &self.classifier, &self.forwarding)?;
        body.headers = Some(headers);
        Ok(())
    }
}
