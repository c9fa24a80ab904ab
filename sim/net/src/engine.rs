//! The effect of each event.

use crate::channel::Waiting;
use crate::event::Event;
use crate::fabric::{Delivery, Fabric};
use crate::fault::Fate;
use crate::headers::{outer_ip, readdress, Class, Headers};
use crate::packet::{Packet, PacketId};
use crate::trim::trimmed;
use crate::{ChannelId, DropReason, LinkId, Node, SwitchId, Time};

impl Fabric {
    /// Executes `event` at the present time; returns a frame if it reached a host.
    pub(crate) fn process(&mut self, event: Event) -> Option<Delivery> {
        match event {
            Event::Send(channel, packet) => self.enqueue(channel, packet, Class::Data),
            Event::Serialized(channel, packet) => self.launch_serialized(channel, packet),
            Event::Wake(channel) => self.wake(channel),
            Event::Arrive(channel, packet) => return self.arrive(channel, packet),
            Event::Link { link, up } => self.change_link(link, up),
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
    fn drop_on(&mut self, channel: ChannelId, packet: PacketId, reason: DropReason) {
        self.packets.remove(packet);
        self.channels[channel.index()].stats.drops.count(reason);
    }

    /// Puts a packet into a channel's queue, or on the line if that is free.
    fn enqueue(&mut self, id: ChannelId, packet_id: PacketId, mut class: Class) {
        let now = self.now;
        if !self.channels[id.index()].up {
            return self.drop_on(id, packet_id, DropReason::LinkDown);
        }
        if self.channels[id.index()].is_idle(now) {
            return self.transmit(id, packet_id);
        }
        let packet = self.packets.get_mut(packet_id);
        let channel = &mut self.channels[id.index()];
        // Hosts neither trim nor mark: their queues have no limit, and they read no headers.
        if class == Class::Data {
            if !channel.has_room(class, packet.frame.len()) {
                let cut = channel.params.trim.and_then(|trim| {
                    let dscp = trim.dscp_at(channel.is_last_hop());
                    trimmed(&packet.frame, self.classifier.roce_port, dscp)
                });
                if let (Some((frame, outer)), Some(headers)) = (cut, &mut packet.headers) {
                    packet.frame = frame;
                    headers.outer = outer;
                    headers.class = Class::Control;
                    class = Class::Control;
                    channel.stats.trims += 1;
                }
            } else if let (Some(ecn), Some(headers)) = (channel.params.ecn, &mut packet.headers) {
                let marking = self.ecn_at_last_hop || !channel.is_last_hop();
                let probability = ecn.probability(channel.depth(class));
                if marking && channel.happens(probability) && headers.outer.mark() {
                    headers.outer.write(packet.frame.bytes_mut());
                    channel.stats.ecn_marks += 1;
                }
            }
        }
        let len = packet.frame.len();
        if !channel.has_room(class, len) {
            return self.drop_on(id, packet_id, DropReason::QueueFull);
        }
        let packet = packet_id;
        channel.push(class, Waiting { packet, len }, now);
        if !channel.wake_pending {
            channel.wake_pending = true;
            self.events.push(channel.busy_until, Event::Wake(id));
        }
    }

    /// The line is free: sends the next frame.
    fn wake(&mut self, id: ChannelId) {
        let channel = &mut self.channels[id.index()];
        if channel.busy_until > self.now {
            // Frames were lost with the link, and the next frame occupied the line before this event.
            return self.events.push(channel.busy_until, Event::Wake(id));
        }
        channel.wake_pending = false;
        let Some(next) = channel.pop(self.now) else {
            return; // The queue was lost with the link.
        };
        let waits = channel.has_waiting();
        self.transmit(id, next.packet);
        if waits {
            let channel = &mut self.channels[id.index()];
            channel.wake_pending = true;
            self.events.push(channel.busy_until, Event::Wake(id));
        }
    }

    /// Puts a packet on the line, which is free.
    fn transmit(&mut self, id: ChannelId, packet_id: PacketId) {
        let len = self.packets.get_mut(packet_id).frame.len();
        let last_bit = self.channels[id.index()].occupy(len, self.now);
        self.launch(id, packet_id, last_bit);
    }

    /// Accepts a packet whose last bit its sender has just put on the line itself.
    fn launch_serialized(&mut self, id: ChannelId, packet_id: PacketId) {
        if self.channels[id.index()].up {
            self.launch(id, packet_id, self.now);
        } else {
            self.drop_on(id, packet_id, DropReason::LinkDown);
        }
    }

    /// Decides whether and when a packet arrives whose last bit leaves at `last_bit`.
    fn launch(&mut self, id: ChannelId, packet_id: PacketId, last_bit: Time) {
        let packet = self.packets.get_mut(packet_id);
        let channel = &mut self.channels[id.index()];
        let len = packet.frame.len();
        let number = channel.stats.sent_frames;
        channel.stats.sent_frames += 1;
        channel.stats.sent_bytes += len as u64;
        let start = last_bit.saturating_sub(channel.through_time(len));
        if let Some(tap) = &mut channel.transmit_tap {
            tap.frame(id, start, &packet.frame);
        }
        let mut arrival = last_bit + channel.params.delay_ps + channel.jitter();
        let mut twice = false;
        match channel
            .filter
            .as_mut()
            .map_or(Fate::Pass, |filter| filter(&packet.frame, number))
        {
            Fate::Pass => {}
            Fate::Drop => return self.drop_on(id, packet_id, DropReason::Filter),
            Fate::Delay(extra) => arrival += extra,
            Fate::Duplicate => twice = true,
            Fate::MarkCe => {
                if mark_ce(packet) {
                    channel.stats.ecn_marks += 1;
                }
            }
        }
        if channel.happens(channel.params.loss) {
            return self.drop_on(id, packet_id, DropReason::RandomLoss);
        }
        if channel.happens(channel.params.corruption) {
            channel.corrupt(&mut packet.frame);
            packet.headers = None;
        }
        packet.wire = Some(channel.stay(arrival));
        let seen = if channel.from_first_bit {
            arrival
                .saturating_sub(channel.frame_time(len))
                .max(self.now)
        } else {
            arrival + self.latency[id.index()]
        };
        self.events.push(seen, Event::Arrive(id, packet_id));
        if twice {
            channel.stats.duplicates += 1;
            let copy = packet.clone();
            let copy = self.packets.insert(copy);
            self.events.push(seen, Event::Arrive(id, copy));
        }
    }

    /// Processes a packet that has passed a channel.
    fn arrive(&mut self, id: ChannelId, packet_id: PacketId) -> Option<Delivery> {
        let packet = self.packets.get_mut(packet_id);
        let channel = &mut self.channels[id.index()];
        let stay = packet.wire.take().expect("only what was sent arrives");
        if channel.failed_during(&stay) {
            self.drop_on(id, packet_id, DropReason::LinkDown);
            return None;
        }
        let last_bit = stay.last_bit;
        if let Some(tap) = &mut channel.receive_tap {
            tap.frame(id, last_bit, &packet.frame);
        }
        match channel.to {
            Node::Host { host, port } => {
                self.delivered += 1;
                let frame = self.packets.remove(packet_id).frame;
                Some(Delivery {
                    host,
                    port,
                    time: last_bit,
                    frame,
                })
            }
            Node::Switch(switch) => {
                match self.route(switch, packet_id) {
                    Ok((out, class)) => self.enqueue(out, packet_id, class),
                    Err(reason) => {
                        self.packets.remove(packet_id);
                        self.switch_drops[switch.index()].count(reason);
                    }
                }
                None
            }
        }
    }

    /// Reads the headers, decides the output and rewrites the frame for the next hop.
    fn route(&mut self, at: SwitchId, id: PacketId) -> Result<(ChannelId, Class), DropReason> {
        let packet = self.packets.get_mut(id);
        let headers = match &mut packet.headers {
            Some(headers) => headers,
            none => none.insert(Headers::parse(&packet.frame, &self.classifier)?),
        };
        let channels = &self.channels;
        let out = self
            .forwarding
            .forward(at, headers, |id| channels[id.index()].up)?;
        let bytes = packet.frame.bytes_mut();
        headers.outer.write(bytes);
        readdress(
            bytes,
            self.next_macs[out.index()],
            self.switch_macs[at.index()],
        );
        Ok((out, headers.class))
    }

    fn change_link(&mut self, link: LinkId, up: bool) {
        let now = self.now;
        for id in link.channels() {
            let channel = &mut self.channels[id.index()];
            if up {
                channel.up = true;
                continue;
            }
            channel.fail(now);
            while let Some(waiting) = self.channels[id.index()].pop(now) {
                self.drop_on(id, waiting.packet, DropReason::LinkDown);
            }
        }
        // A plane's links change together: routing converges on all of them at once.
        if let Some(converged) = self.reroute_delay.map(|delay| now + delay) {
            if self.reroute_at != Some(converged) {
                self.reroute_at = Some(converged);
                self.events.push(converged, Event::Reroute);
            }
        }
    }

    /// Takes the samples due before `time`: between events nothing changes.
    pub(crate) fn sample_until(&mut self, time: Time) {
        let Some(sampler) = &mut self.sampler else {
            return;
        };
        while sampler.next < time {
            for &id in &sampler.channels {
                sampler
                    .samples
                    .push(self.channels[id.index()].sample(id, sampler.next));
            }
            sampler.next += sampler.period;
        }
    }
}

/// Sets CE in the frame's outermost IP header, if it has one and is ECN-capable.
fn mark_ce(packet: &mut Packet) -> bool {
    let Ok(mut outer) = outer_ip(packet.frame.bytes()) else {
        return false;
    };
    let marks = outer.mark();
    if marks {
        outer.write(packet.frame.bytes_mut());
        if let Some(headers) = &mut packet.headers {
            headers.outer = outer;
        }
    }
    marks
}
