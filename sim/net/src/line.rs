//! What happens to a packet on the line of a channel.

use crate::channel::Settings;
use crate::event::Event;
use crate::fault::Fate;
use crate::flight::PacketId;
use crate::parcel::Parcel;
use crate::{ChannelId, DropReason, Fabric, Time};

impl<P: Parcel> Fabric<P> {
    /// Puts a packet on the line, which is free.
    #[inline(never)]
    pub(crate) fn transmit_on(&mut self, id: ChannelId, packet: PacketId) {
        self.release(packet);
        let len = self.packets.flight(packet).len;
        let channel = &mut self.channels[id.index()];
        let settings = &self.settings[channel.settings as usize];
        assert!(channel.busy_until <= self.now, "the line is taken");
        channel.busy_until = self.now + settings.line_time(len);
        channel.line_len = len;
        let last_bit = self.now + settings.through_time(len);
        self.launch(id, packet, last_bit);
    }

    /// Accepts a packet whose last bit its sender has just put on the line itself.
    pub(crate) fn launch_serialized(&mut self, id: ChannelId, packet: PacketId) {
        if self.channels[id.index()].up {
            self.launch(id, packet, self.now);
        } else {
            self.drop_on(id, packet, DropReason::LinkDown);
        }
    }

    /// Decides whether and when a packet arrives whose last bit leaves at `last_bit`.
    #[inline(always)]
    fn launch(&mut self, id: ChannelId, packet: PacketId, last_bit: Time) {
        let flight = self.packets.flight(packet);
        let len = flight.len;
        let channel = &mut self.channels[id.index()];
        let settings = &self.settings[channel.settings as usize];
        let number = channel.sent_frames;
        channel.sent_frames += 1;
        channel.sent_bytes += u64::from(len);
        let arrival = last_bit + settings.params.delay_ps;
        if channel.hooked || settings.draws {
            let start = last_bit.saturating_sub(settings.through_time(len));
            return self.launch_with_faults(id, packet, (start, number), arrival);
        }
        flight.last_bit = arrival;
        let seen = arrival + settings.latency;
        self.fly(id, packet, seen);
    }

    /// The same on a channel with faults or hooks. The packet starts at `start` as number `number`, and would arrive at `arrival`.
    #[inline(never)]
    fn launch_with_faults(
        &mut self,
        id: ChannelId,
        packet: PacketId,
        (start, number): (Time, u64),
        mut arrival: Time,
    ) {
        let len = self.packets.flight(packet).len;
        let hooked = self.channels[id.index()].hooked;
        let Settings {
            ref params,
            latency,
            ..
        } = *self.settings_of(id);
        let (loss, corruption) = (params.loss, params.corruption);
        arrival += self.jitter(id);
        let fate = if hooked {
            self.intercept(id, packet, start, number)
        } else {
            Fate::Pass
        };
        match fate {
            Fate::Pass | Fate::Duplicate => {}
            Fate::Drop => return self.drop_on(id, packet, DropReason::Filter),
            Fate::Delay(extra) => arrival += extra,
            Fate::MarkCe => self.mark(id, packet),
        }
        if self.happens(id, loss) {
            return self.drop_on(id, packet, DropReason::RandomLoss);
        }
        if self.happens(id, corruption) {
            self.corrupt(id, packet);
        }
        self.packets.flight(packet).last_bit = arrival;
        let seen = if hooked && self.hooks[&id].from_first_bit {
            let frame = self.settings_of(id).frame_time(len);
            arrival.saturating_sub(frame).max(self.now)
        } else {
            arrival + latency
        };
        self.fly(id, packet, seen);
        if fate == Fate::Duplicate {
            self.ledgers[id.index()].duplicates += 1;
            let copy = self.packets.duplicate(packet);
            self.fly(id, copy, seen);
        }
    }

    /// Schedules the arrival of a packet that has just started.
    #[inline(always)]
    fn fly(&mut self, channel: ChannelId, packet: PacketId, seen: Time) {
        let failures = self.failures_of(channel).len() as u16;
        let arrive = Event::Arrive {
            channel,
            packet,
            failures,
        };
        self.events.push(seen, arrive);
    }

    /// When a channel went down first since a packet started, before which it had failed `failures` times modulo 2^16.
    #[inline]
    pub(crate) fn next_failure(&self, channel: ChannelId, failures: u16) -> Option<Time> {
        let all = self.failures_of(channel);
        let since = (all.len() as u16).wrapping_sub(failures);
        let next = all.len().checked_sub(usize::from(since))?;
        all.get(next).copied()
    }

    /// Times at which a channel went down so far.
    #[inline]
    fn failures_of(&self, channel: ChannelId) -> &[Time] {
        if self.failures.is_empty() {
            return &[];
        }
        self.failures.get(&channel).map_or(&[], Vec::as_slice)
    }
}
