//! Hooks on a channel: filters, which decide a frame's fate, and taps, which observe frames.

use crate::{ChannelId, Frame, Time};

/// The fate of a frame, as a [`Filter`] decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives unchanged.
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

/// Decides the fate of every frame a channel sends, from the frame and its number on this channel (the first is 0). It is called when the frame
/// starts to be sent, before random loss.
pub type Filter = Box<dyn FnMut(&Frame, u64) -> Fate + Send>;

/// The end of a channel that a tap observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TapSide {
    /// The sender's end: every frame that got through the queue, at the time its preamble starts. Loss, faults and filters come after it.
    Transmit,
    /// The receiver's end: the frames that arrived, at the time of their last bit.
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
