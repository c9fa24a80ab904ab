//! Faults of a channel by chance, and hooks: filters, which decide a frame's fate, and taps, which observe frames.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::channel::Settings;
use crate::flight::PacketId;
use crate::parcel::Parcel;
use crate::{ChannelId, Fabric, Frame, Time};

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
pub type Filter<P = Frame> = Box<dyn FnMut(&P, u64) -> Fate + Send>;

/// The end of a channel that a tap observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TapSide {
    /// The sender's end: every frame that got through the queue, at the time its preamble starts. Loss, faults and filters come after it.
    Transmit,
    /// The receiver's end: the frames that arrived, at the time of their last bit.
    Receive,
}

/// Sees the frames of a channel, to write them to a capture for example. Closures of the same signature are taps.
pub trait Tap<P = Frame>: Send {
    /// `frame` passed `channel` at `time`, in picoseconds. At [`TapSide::Receive`] behind a switch's latency, calls of
    /// different channels may come out of the order of their times.
    fn frame(&mut self, channel: ChannelId, time: Time, frame: &P);
}

impl<P, F: FnMut(ChannelId, Time, &P) + Send> Tap<P> for F {
    fn frame(&mut self, channel: ChannelId, time: Time, frame: &P) {
        self(channel, time, frame);
    }
}

impl<P: Parcel> Fabric<P> {
    pub(crate) fn settings_of(&self, id: ChannelId) -> &Settings {
        &self.settings[self.channels[id.index()].settings as usize]
    }

    /// The random stream of a channel. Each has its own, so events on one link do not change the random choices of others.
    fn die(&mut self, id: ChannelId) -> &mut ChaCha8Rng {
        let seed = self.seed;
        self.dice[id.index()].get_or_insert_with(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(u64::from(id.0));
            Box::new(rng)
        })
    }

    /// Whether an event of this probability happens. Draws no random number if it cannot happen.
    pub(crate) fn happens(&mut self, id: ChannelId, probability: f64) -> bool {
        probability > 0.0 && self.die(id).random::<f64>() < probability
    }

    /// Extra delay of one packet.
    pub(crate) fn jitter(&mut self, id: ChannelId) -> Time {
        match self.settings_of(id).params.jitter_ps {
            0 => 0,
            most => self.die(id).random_range(0..=most),
        }
    }

    /// Changes a byte of a packet on a channel.
    pub(crate) fn corrupt(&mut self, id: ChannelId, packet: PacketId) {
        self.die(id);
        let (flight, body) = self.packets.both(packet);
        let rng = self.dice[id.index()].as_mut().expect("made above");
        body.parcel.corrupt(&mut **rng);
        body.headers = None;
        flight.is_read = false;
        self.ledgers[id.index()].corrupted += 1;
    }

    /// Shows a packet that starts at `start`, as number `number` of its channel, to the tap, and has the filter decide its fate.
    pub(crate) fn intercept(
        &mut self,
        id: ChannelId,
        packet: PacketId,
        start: Time,
        number: u64,
    ) -> Fate {
        let parcel = &self.packets.body(packet).parcel;
        let Some(hooks) = self.hooks.get_mut(&id) else {
            return Fate::Pass;
        };
        if let Some(tap) = &mut hooks.transmit_tap {
            tap.frame(id, start, parcel);
        }
        let filter = hooks.filter.as_mut();
        filter.map_or(Fate::Pass, |filter| filter(parcel, number))
    }

    /// Shows a packet whose last bit arrived at `time` to the tap.
    pub(crate) fn show_arrival(&mut self, id: ChannelId, packet: PacketId, time: Time) {
        let hooks = self.hooks.get_mut(&id);
        if let Some(tap) = hooks.and_then(|hooks| hooks.receive_tap.as_mut()) {
            tap.frame(id, time, &self.packets.body(packet).parcel);
        }
    }
}
