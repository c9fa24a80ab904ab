//! The effect of each event.

use crate::channel::{Channel, End};
use crate::event::Event;
use crate::flight::{length, PacketId};
use crate::occurrence::{Delivery, Occurrence};
use crate::parcel::{Class, Parcel};
use crate::{ChannelId, DropReason, Fabric, HostId, LinkId};

impl<P: Parcel> Fabric<P> {
    /// Executes `event` at the present time; returns what the user has to act on.
    #[inline(always)]
    pub(crate) fn process(&mut self, event: Event) -> Option<Occurrence<P>> {
        match event {
            Event::Send(channel, packet) => self.enqueue(channel, packet, Class::Data),
            Event::Serialized(channel, packet) => self.launch_serialized(channel, packet),
            Event::Wake(channel) => self.wake(channel),
            Event::Arrive {
                channel,
                packet,
                failures,
            } => return self.arrive(channel, packet, failures),
            Event::Balancer(token) => self.call_balancer(token),
            Event::Pause { channel, paused } => self.pause(channel, paused),
            Event::PortFree(host, port) if self.is_port_held_up(host, port) => {}
            Event::PortFree(host, port) => return Some(Occurrence::PortFree(host, port as usize)),
            Event::Alarm(high, low) => {
                let token = u64::from(high) << 32 | u64::from(low);
                return Some(Occurrence::Alarm(token));
            }
            Event::Link { link, up } => {
                self.change_link(link, up);
                return Some(Occurrence::Link(link, up));
            }
            Event::Reroute => {
                if self.reroute_at == Some(self.now) {
                    self.reroute_at = None;
                }
                let channels = &self.channels;
                self.forwarding.reroute(|id| channels[id.index()].up);
            }
        }
        None
    }

    /// Ends a packet on a channel.
    pub(crate) fn drop_on(&mut self, channel: ChannelId, packet: PacketId, reason: DropReason) {
        self.release(packet);
        self.packets.remove(packet);
        self.ledgers[channel.index()].drops.count(reason);
    }

    /// Puts a packet into a channel's queue, or on the line if that is free.
    pub(crate) fn enqueue(&mut self, id: ChannelId, packet: PacketId, mut class: Class) {
        let now = self.now;
        let channel = &self.channels[id.index()];
        if !channel.up {
            return self.drop_on(id, packet, DropReason::LinkDown);
        }
        let starts = !channel.paused || class == Class::Control;
        if channel.is_idle(now) && starts {
            return self.transmit_on(id, packet);
        }
        // Hosts neither trim nor mark: their queues have no limit, and they read no headers.
        if class == Class::Data {
            class = self.trim_or_mark(id, packet);
        }
        let len = self.packets.flight(packet).len;
        let channel = &mut self.channels[id.index()];
        let settings = &self.settings[channel.settings as usize];
        let queue = self.ledgers[id.index()].queue(class);
        if !settings.has_room(class, queue.bytes, len) {
            return self.drop_on(id, packet, DropReason::QueueFull);
        }
        queue.enter(now, len.into());
        channel.push(&mut self.packets, class, packet);
        if !channel.wake_pending && channel.may_start() {
            channel.wake_pending = true;
            self.events
                .push(channel.busy_until.max(now), Event::Wake(id));
        }
    }

    /// Trims a data packet that finds its queue full, marks one that finds it deep; returns its class after that.
    fn trim_or_mark(&mut self, id: ChannelId, packet: PacketId) -> Class {
        let settings = &self.settings[self.channels[id.index()].settings as usize];
        let ledger = &mut self.ledgers[id.index()];
        let len = self.packets.flight(packet).len;
        if !settings.has_room(Class::Data, ledger.data.bytes, len) {
            let (flight, body) = self.packets.both(packet);
            if let (Some(trim), Some(headers)) = (settings.params.trim, &mut body.headers) {
                let dscp = trim.dscp_at(settings.last_hop);
                let roce_port = self.classifier.roce_port;
                if body.parcel.trim(headers, roce_port, dscp) {
                    flight.len = length(&body.parcel);
                    flight.class = Class::Control;
                    ledger.trims += 1;
                    self.release(packet);
                    return Class::Control;
                }
            }
        } else {
            self.mark_by_depth(id, packet, false);
        }
        Class::Data
    }

    /// Marks a data packet that comes to its queue, or leaves it (`departs`), with the probability that the depth says, if the queue marks then.
    #[inline]
    fn mark_by_depth(&mut self, id: ChannelId, packet: PacketId, departs: bool) {
        let settings = &self.settings[self.channels[id.index()].settings as usize];
        let ecn = settings.params.ecn;
        let Some(ecn) = ecn.filter(|ecn| ecn.at_departure == departs) else {
            return;
        };
        let marking = !settings.from_host && (self.ecn_at_last_hop || !settings.last_hop);
        let probability = ecn.probability(self.ledgers[id.index()].data.bytes);
        let is_read = self.packets.flight(packet).is_read;
        if marking && is_read && self.happens(id, probability) {
            self.mark(id, packet);
        }
    }

    /// Marks a packet on its way through a channel.
    pub(crate) fn mark(&mut self, id: ChannelId, packet: PacketId) {
        let body = self.packets.body(packet);
        if body.parcel.mark(body.headers.as_mut()) {
            self.ledgers[id.index()].ecn_marks += 1;
            if let Some(balancer) = &mut self.balancer {
                balancer.marked(packet);
            }
        }
    }

    /// The line is free: sends the next packet.
    fn wake(&mut self, id: ChannelId) {
        let channel = &mut self.channels[id.index()];
        if channel.busy_until > self.now {
            // Packets were lost with the link, and the next one occupied the line before this event.
            return self.events.push(channel.busy_until, Event::Wake(id));
        }
        channel.wake_pending = false;
        let Some((packet, class)) = self.pop(id) else {
            return; // The queue was lost with the link, or is paused.
        };
        if class == Class::Data {
            self.mark_by_depth(id, packet, true);
        }
        let waits = self.channels[id.index()].may_start();
        self.transmit_on(id, packet);
        self.free_port(id);
        if waits {
            let channel = &mut self.channels[id.index()];
            channel.wake_pending = true;
            self.events.push(channel.busy_until, Event::Wake(id));
        }
    }

    /// Takes the next packet from a channel's queues, and says from which.
    #[inline]
    fn pop(&mut self, id: ChannelId) -> Option<(PacketId, Class)> {
        let (packet, class, len) = self.channels[id.index()].pop(&self.packets)?;
        let queue = self.ledgers[id.index()].queue(class);
        queue.leave(self.now, len.into());
        Some((packet, class))
    }

    /// Processes a packet that has passed a channel.
    #[inline]
    fn arrive(&mut self, id: ChannelId, packet: PacketId, failures: u16) -> Option<Occurrence<P>> {
        let last_bit = self.packets.flight(packet).last_bit;
        if self
            .next_failure(id, failures)
            .is_some_and(|time| time < last_bit)
        {
            self.drop_on(id, packet, DropReason::LinkDown);
            return None;
        }
        let Channel {
            to,
            hooked,
            settings,
            ..
        } = self.channels[id.index()];
        if hooked {
            self.show_arrival(id, packet, last_bit);
        }
        match to {
            End::Host { host, port } => {
                self.delivered += 1;
                let frame = self.packets.remove(packet);
                Some(Occurrence::Delivery(Delivery {
                    host,
                    port: port.into(),
                    time: last_bit,
                    frame,
                }))
            }
            End::Switch(switch) => {
                let is_first = self.settings[settings as usize].from_host;
                match self.route(switch, packet, is_first) {
                    Ok((out, class)) => {
                        self.hold(id, packet, class);
                        if self.balancer.is_some() {
                            self.enqueue_balanced(out, packet, class);
                        } else {
                            self.enqueue(out, packet, class);
                        }
                    }
                    Err(reason) => {
                        self.packets.remove(packet);
                        self.switch_drops[switch.index()].count(reason);
                    }
                }
                None
            }
        }
    }

    /// Whether PFC holds up what a host's port was given.
    #[inline]
    fn is_port_held_up(&mut self, host: HostId, port: u32) -> bool {
        if self.pfc.is_none() {
            return false;
        }
        let uplink = self.forwarding.uplink(host, port as usize);
        uplink.is_some_and(|uplink| self.is_held_up(uplink, Event::PortFree(host, port)))
    }

    fn change_link(&mut self, link: LinkId, up: bool) {
        for id in link.channels() {
            self.channels[id.index()].up = up;
            if up {
                continue;
            }
            self.failures.entry(id).or_default().push(self.now);
            self.forget_pause(id);
            while let Some((packet, _)) = self.pop(id) {
                self.drop_on(id, packet, DropReason::LinkDown);
            }
        }
        // A plane's links change together: routing converges on all of them at once.
        if let Some(converged) = self.reroute_delay.map(|delay| self.now + delay) {
            if self.reroute_at != Some(converged) {
                self.reroute_at = Some(converged);
                self.events.push(converged, Event::Reroute);
            }
        }
    }
}
