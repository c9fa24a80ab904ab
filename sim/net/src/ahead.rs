//! Asks for the memory of the next events before their turn ([`stellar_fetch`]). Nothing here changes a run.

use stellar_fetch::fetch;

use crate::channel::End;
use crate::event::Event;
use crate::forwarding::Next;
use crate::parcel::Parcel;
use crate::{Fabric, HostId};

/// Events that are looked at together, so the most of [`Fabric::coming`]. What they need fits into the second cache, of a megabyte.
pub const AHEAD: usize = 64;
/// Hosts from which on it pays to look ahead: a smaller fabric is in the caches anyway, and with 120 hosts the asking took a fifth of the speed.
pub(crate) const LARGE: usize = 256;

/// Something that comes to a host.
#[derive(Clone, Copy, Debug)]
pub enum Coming<'a, P> {
    /// A packet reaches the host.
    Delivery(HostId, &'a P),
    /// A port of the host is free.
    PortFree(HostId, usize),
}

impl<P: Parcel> Fabric<P> {
    /// Whether the fabric has looked ahead since the last call, so that it is time for hosts to ask for what they need for [`Self::coming`]. A small
    /// fabric never does.
    #[inline]
    pub fn has_looked_ahead(&mut self) -> bool {
        std::mem::take(&mut self.has_looked)
    }

    /// What probably comes to hosts next, in order. Anything may come before it, and a packet may be lost yet.
    pub fn coming(&self) -> impl Iterator<Item = Coming<'_, P>> {
        let events = self.events.next_events(AHEAD);
        events.filter_map(|event| match *event {
            Event::Arrive {
                channel, packet, ..
            } => match self.channels[channel.index()].to {
                End::Host { host, .. } => {
                    let parcel = self.packets.parcel(packet);
                    parcel.map(|parcel| Coming::Delivery(host, parcel))
                }
                End::Switch(_) => None,
            },
            Event::PortFree(host, port) => Some(Coming::PortFree(host, port as usize)),
            _ => None,
        })
    }

    /// Asks for the memory of the next events, if it is time for that. The present event has been taken.
    #[inline]
    pub(crate) fn look_ahead(&mut self) {
        if self.is_large && self.events.taken() % AHEAD == 1 {
            self.has_looked = true;
            self.fetch_events();
            self.fetch_outputs();
        }
    }

    /// Asks for the channels and packets of the next events.
    fn fetch_events(&self) {
        for event in self.events.next_events(AHEAD) {
            match *event {
                Event::Arrive {
                    channel, packet, ..
                } => {
                    fetch(&self.channels[channel.index()]);
                    fetch(self.packets.peek(packet));
                }
                Event::Wake(channel) => {
                    fetch(&self.channels[channel.index()]);
                    fetch(&self.ledgers[channel.index()].data);
                }
                _ => {}
            }
        }
    }

    /// Asks for what the events change next: the channels that packets probably go onto, the ends of queues, and packets that reach hosts.
    fn fetch_outputs(&mut self) {
        self.ahead.clear();
        for event in self.events.next_events(AHEAD) {
            match *event {
                Event::Arrive {
                    channel, packet, ..
                } => {
                    let End::Switch(at) = self.channels[channel.index()].to else {
                        self.packets.fetch_body(packet);
                        continue;
                    };
                    let flight = self.packets.peek(packet);
                    let out = match self.forwarding.towards(at, flight.target) {
                        Ok(Next::Channel(out)) => Ok(out),
                        Ok(Next::Switch(to)) => {
                            self.forwarding.hashed(at, to, flight.flow, |_| true)
                        }
                        Err(reason) => Err(reason),
                    };
                    if let Ok(out) = out {
                        fetch(&self.channels[out.index()]);
                        fetch(&self.ledgers[out.index()].data);
                        self.ahead.push(out);
                    }
                }
                Event::Wake(channel) => {
                    if let Some(first) = self.channels[channel.index()].first(&self.packets) {
                        fetch(first);
                    }
                }
                _ => {}
            }
        }
        for out in &self.ahead {
            if let Some(last) = self.channels[out.index()].last(&self.packets) {
                fetch(last);
            }
        }
    }
}
