//! Counters of channels, queues and the whole fabric.

use serde::{Serialize, Serializer};

use crate::channel::Channel;
use crate::parcel::Class;
use crate::{ChannelId, DropReason, Time};

/// Dropped frames by reason. Serialized as a map from every reason's name to its count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    /// Frames dropped for `reason`.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// Frames dropped for any reason.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL
            .into_iter()
            .map(|reason| (reason, self.of(reason)))
            .filter(|&(_, count)| count != 0)
    }

    pub(crate) fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }
}

impl Serialize for Drops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(DropReason::ALL.map(|reason| (reason, self.of(reason))))
    }
}

/// One output queue. Depth is bytes waiting (destination MAC address to iCRC), without the frame being sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct QueueStats {
    /// Frames that had to wait.
    pub waited: u64,
    /// Depth now, in bytes.
    pub bytes: u64,
    /// Greatest depth, in bytes.
    pub max_bytes: u64,
    /// Integral of the depth over time since 0, in byte-picoseconds.
    pub byte_time: u128,
    /// Time of the last change.
    #[serde(skip)]
    changed: Time,
}

impl QueueStats {
    /// Time-weighted mean depth over `elapsed` picoseconds from 0, in bytes; 0 if no time passed.
    pub fn mean_bytes(&self, elapsed: Time) -> f64 {
        if elapsed == 0 {
            0.0
        } else {
            self.byte_time as f64 / elapsed as f64
        }
    }

    /// Adds the time since the last change to the integral.
    #[inline]
    pub(crate) fn settle(&mut self, now: Time) {
        self.byte_time += u128::from(self.bytes) * u128::from(now - self.changed);
        self.changed = now;
    }

    #[inline]
    pub(crate) fn enter(&mut self, now: Time, bytes: u64) {
        self.settle(now);
        self.waited += 1;
        self.bytes += bytes;
        self.max_bytes = self.max_bytes.max(self.bytes);
    }

    #[inline]
    pub(crate) fn leave(&mut self, now: Time, bytes: u64) {
        self.settle(now);
        self.bytes -= bytes;
    }
}

/// One direction of a link, with the sender's queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChannelStats {
    /// Frames whose sending began.
    pub sent_frames: u64,
    /// Their bytes, destination MAC address to iCRC.
    pub sent_bytes: u64,
    /// Frames lost in the queue or on the link.
    pub drops: Drops,
    /// Frames that got CE here, in the queue or by a filter.
    pub ecn_marks: u64,
    /// Frames cut to their headers.
    pub trims: u64,
    /// Frames with a byte changed.
    pub corrupted: u64,
    /// Copies made by a filter.
    pub duplicates: u64,
    /// Times that the receiver, a switch, paused the sender (PFC).
    pub pauses: u64,
    /// Queue of the data class. On a host's channel, the only one.
    pub data: QueueStats,
    /// Queue of the control class.
    pub control: QueueStats,
}

/// What is counted at a channel, beside what the channel counts itself. The data queue, which most events change, is in the first cache line.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Ledger {
    pub data: QueueStats,
    pub ecn_marks: u64,
    pub trims: u64,
    pub control: QueueStats,
    pub corrupted: u64,
    pub duplicates: u64,
    pub pauses: u64,
    pub drops: Drops,
}

impl Ledger {
    /// The queue of a class.
    #[inline]
    pub(crate) fn queue(&mut self, class: Class) -> &mut QueueStats {
        match class {
            Class::Data => &mut self.data,
            Class::Control => &mut self.control,
        }
    }

    /// Statistics up to `now`, with what the channel counts.
    pub(crate) fn stats(&self, channel: &Channel, now: Time) -> ChannelStats {
        let (mut data, mut control) = (self.data, self.control);
        data.settle(now);
        control.settle(now);
        ChannelStats {
            sent_frames: channel.sent_frames,
            sent_bytes: channel.sent_bytes,
            drops: self.drops,
            ecn_marks: self.ecn_marks,
            trims: self.trims,
            corrupted: self.corrupted,
            duplicates: self.duplicates,
            pauses: self.pauses,
            data,
            control,
        }
    }
}

/// The whole fabric. `sent + duplicated = delivered + dropped.total() + in_flight`, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Frames given to [`Fabric::send`](crate::Fabric::send).
    pub sent: u64,
    /// Copies made by filters.
    pub duplicated: u64,
    /// Frames given to hosts.
    pub delivered: u64,
    /// Frames dropped, in queues, on links and in switches.
    pub dropped: Drops,
    /// Frames still in the fabric. They are counted where they are stored, not computed from the other fields.
    pub in_flight: u64,
}

/// State of a channel at one moment of a time series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// When, in picoseconds.
    pub time: Time,
    /// Where.
    pub channel: ChannelId,
    /// Depth of the data queue, in bytes.
    pub data_bytes: u64,
    /// Depth of the control queue, in bytes.
    pub control_bytes: u64,
    /// Length of the frame on the line, in bytes; 0 if there is none.
    pub line_bytes: u64,
    /// Bytes whose sending began until then, destination MAC address to iCRC.
    pub sent_bytes: u64,
}
