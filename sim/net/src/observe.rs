//! Observing a fabric, and interfering with it.

use crate::fabric::{Fabric, FabricError, Sampler};
use crate::fault::{Filter, Tap, TapSide};
use crate::stats::{ChannelStats, Drops, Sample, Totals};
use crate::{ChannelId, SwitchId, Time};

impl Fabric {
    /// Decides the fate of every frame on `channel` from now on; replaces the filter before it, `None` removes it.
    ///
    /// # Errors
    /// [`FabricError::NoSuchChannel`].
    pub fn set_filter(
        &mut self,
        channel: ChannelId,
        filter: Option<Filter>,
    ) -> Result<(), FabricError> {
        self.channel_mut(channel)?.filter = filter;
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
        tap: Box<dyn Tap>,
    ) -> Result<(), FabricError> {
        let channel = self.channel_mut(channel)?;
        match side {
            TapSide::Transmit => channel.transmit_tap = Some(tap),
            TapSide::Receive => channel.receive_tap = Some(tap),
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
        Ok(self.channel(channel)?.stats_at(self.now))
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
        for channel in &self.channels {
            totals.duplicated += channel.stats.duplicates;
            totals.dropped.add(&channel.stats.drops);
        }
        for drops in &self.switch_drops {
            totals.dropped.add(drops);
        }
        totals
    }
}
