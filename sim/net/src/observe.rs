//! Observing a fabric, and interfering with it.

use crate::fault::{Filter, Tap, TapSide};
use crate::parcel::Parcel;
use crate::stats::{ChannelStats, Drops, Sample, Totals};
use crate::{ChannelId, Fabric, FabricError, SwitchId, Time};

/// What interferes with a channel.
pub(crate) struct Hooks<P> {
    pub filter: Option<Filter<P>>,
    pub transmit_tap: Option<Box<dyn Tap<P>>>,
    pub receive_tap: Option<Box<dyn Tap<P>>>,
    /// The receiver is a host that takes frames from their first bit on.
    pub from_first_bit: bool,
}

/// Channels to sample, period, and samples so far.
pub(crate) struct Sampler {
    pub period: Time,
    pub next: Time,
    pub channels: Vec<ChannelId>,
    pub samples: Vec<Sample>,
}

impl<P: Parcel> Fabric<P> {
    /// The hooks of a channel, which from now on asks for them.
    pub(crate) fn hooks_mut(&mut self, id: ChannelId) -> Result<&mut Hooks<P>, FabricError> {
        let channel = self.channels.get_mut(id.index());
        channel.ok_or(FabricError::NoSuchChannel(id))?.hooked = true;
        Ok(self.hooks.entry(id).or_insert(Hooks {
            filter: None,
            transmit_tap: None,
            receive_tap: None,
            from_first_bit: false,
        }))
    }

    /// Decides the fate of every frame on `channel` from now on; replaces the filter before it, `None` removes it.
    ///
    /// # Errors
    /// [`FabricError::NoSuchChannel`].
    pub fn set_filter(
        &mut self,
        channel: ChannelId,
        filter: Option<Filter<P>>,
    ) -> Result<(), FabricError> {
        self.hooks_mut(channel)?.filter = filter;
        Ok(())
    }

    /// Shows every frame at one end of `channel` to `tap` from now on; replaces the tap before it.
    ///
    /// # Errors
    /// [`FabricError::NoSuchChannel`].
    pub fn set_tap(
        &mut self,
        channel: ChannelId,
        side: TapSide,
        tap: Box<dyn Tap<P>>,
    ) -> Result<(), FabricError> {
        let hooks = self.hooks_mut(channel)?;
        match side {
            TapSide::Transmit => hooks.transmit_tap = Some(tap),
            TapSide::Receive => hooks.receive_tap = Some(tap),
        }
        Ok(())
    }

    /// Records the state of `channels` every `period` picoseconds, from now on, for [`Self::samples`]. Each sample shows the state after everything
    /// at its time and before. Replaces the series before it.
    ///
    /// # Errors
    /// [`FabricError::NoSuchChannel`], [`FabricError::ZeroPeriod`].
    pub fn sample_every(
        &mut self,
        period: Time,
        channels: Vec<ChannelId>,
    ) -> Result<(), FabricError> {
        if period == 0 {
            return Err(FabricError::ZeroPeriod);
        }
        for &channel in &channels {
            self.channel(channel)?;
        }
        self.sampler = Some(Sampler {
            period,
            next: self.now,
            channels,
            samples: Vec::new(),
        });
        Ok(())
    }

    /// The time series so far: every sample whose time is before the present.
    pub fn samples(&self) -> &[Sample] {
        self.sampler
            .as_ref()
            .map_or(&[], |sampler| &sampler.samples)
    }

    /// Statistics of a channel up to the present.
    ///
    /// # Errors
    /// [`FabricError::NoSuchChannel`].
    pub fn stats(&self, channel: ChannelId) -> Result<ChannelStats, FabricError> {
        let sent = self.channel(channel)?;
        Ok(self.ledgers[channel.index()].stats(sent, self.now))
    }

    /// Frames a switch dropped because it could not forward them; `None` if there is no such switch. Frames that found
    /// no room count at the channel.
    pub fn switch_drops(&self, switch: SwitchId) -> Option<Drops> {
        self.switch_drops.get(switch.index()).copied()
    }

    /// Sums over the whole fabric. The function walks all of it, so do not call it for every event.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals {
            sent: self.sent,
            delivered: self.delivered,
            in_flight: self.packets.live(),
            ..Totals::default()
        };
        for ledger in &self.ledgers {
            totals.duplicated += ledger.duplicates;
            totals.dropped.add(&ledger.drops);
        }
        for drops in &self.switch_drops {
            totals.dropped.add(drops);
        }
        totals
    }

    /// Takes the samples due before `time`: between events nothing changes.
    pub(crate) fn sample_until(&mut self, time: Time) {
        let Some(sampler) = &mut self.sampler else {
            return;
        };
        while sampler.next < time {
            for &id in &sampler.channels {
                let ledger = &self.ledgers[id.index()];
                let channel = &self.channels[id.index()];
                let busy = channel.busy_until > sampler.next;
                sampler.samples.push(Sample {
                    time: sampler.next,
                    channel: id,
                    data_bytes: ledger.data.bytes,
                    control_bytes: ledger.control.bytes,
                    line_bytes: if busy { channel.line_len.into() } else { 0 },
                    sent_bytes: channel.sent_bytes,
                });
            }
            sampler.next += sampler.period;
        }
    }
}
