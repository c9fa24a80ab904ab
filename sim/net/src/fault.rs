//! Hooks on a channel: filters that decide a frame's fate, taps that watch.

use crate::{ChannelId, Frame, Time};

/// What a [`Filter`] wants done with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    Pass,
    /// It never arrives.
    Drop,
    /// It arrives this many picoseconds later than it would. Frames behind it are not held up, so they may overtake it.
    Delay(Time),
    /// It arrives twice, the copy directly behind it.
    Duplicate,
    /// It arrives with CE set, if it is an ECN-capable IP packet.
    MarkCe,
}

/// Decides the fate of every frame a channel sends, from the frame and its number on this channel (the first is 0).
/// Asked when the frame starts to be sent, before random loss.
pub type Filter = Box<dyn FnMut(&Frame, u64) -> Fate + Send>;

/// Which end of a channel a tap watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TapSide {
    /// Where frames are sent: every frame that got through the queue, at the time its preamble starts. Loss, faults and
    /// filters come after it.
    Transmit,
    /// Where frames arrive: those that did, at the time of their last bit.
    Receive,
}

/// Sees the frames of a channel, to write them to a capture for example. Closures of the same signature are taps.
pub trait Tap: Send {
    /// `frame` passed `channel` at `time`, in picoseconds. At [`TapSide::Receive`] behind a switch's latency, calls of
    /// different channels may come out of the order of their times.
    fn frame(&mut self, channel: ChannelId, time: Time, frame: &Frame);
}

impl<F: FnMut(ChannelId, Time, &Frame) + Send> Tap for F {
    fn frame(&mut self, channel: ChannelId, time: Time, frame: &Frame) {
        self(channel, time, frame);
    }
}
