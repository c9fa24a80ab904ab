//! When what was seen at the pins of a card.

use std::time::Duration;

use sim_bfm::WriteBeat;
use sim_net::Time;
use stellar_wire::host::{ConsumerIndex, Doorbell};

/// When something was seen, in picoseconds of the world: the time of the clock it was seen in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The first time; 0 if it never was.
    pub first: Time,
    /// The last time.
    pub last: Time,
    /// How often.
    pub count: u64,
}

impl Span {
    /// It is seen.
    pub(crate) fn see(&mut self, time: Time) {
        if self.count == 0 {
            self.first = time;
        }
        self.last = time;
        self.count += 1;
    }
}

/// How fast a card is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimRate {
    /// Clocks that a world asked for.
    pub clocks: u64,
    /// Time on the wall that they took, with what is around the card.
    pub wall: Duration,
}

impl SimRate {
    /// Adds clocks made elsewhere.
    pub fn add(&mut self, other: Self) {
        self.clocks += other.clocks;
        self.wall += other.wall;
    }

    /// Clocks per second on the wall.
    pub fn clocks_per_second(self) -> f64 {
        self.clocks as f64 / self.wall.as_secs_f64()
    }
}

/// What was seen at the pins since power-up. *Payload* is what is accessed with a translated address, as GPU memory is; *descriptors* are
/// send queue entries in host memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PinTimes {
    /// Doorbells taken.
    pub doorbells: Span,
    /// Words of pushed entries taken.
    pub pushes: Span,
    /// Requests for descriptors, and last beats of their completions.
    pub descriptor_reads: Span,
    pub descriptor_data: Span,
    /// Requests for payload, and last beats of their completions.
    pub payload_reads: Span,
    pub payload_data: Span,
    /// First beats of frames that leave.
    pub frames_out: Span,
    /// Last beats of frames that arrive.
    pub frames_in: Span,
    /// First and last beats of writes of payload.
    pub payload_writes: Span,
    pub payload_written: Span,
}

impl PinTimes {
    /// A write to a doorbell page.
    pub(crate) fn page_write(&mut self, offset: u16, time: Time) {
        match offset {
            Doorbell::OFFSET | Doorbell::PUSHED_OFFSET | Doorbell::SLOTS..ConsumerIndex::SLOTS => {
                self.doorbells.see(time)
            }
            Doorbell::PUSH_OFFSET..Doorbell::PUSHED_OFFSET => self.pushes.see(time),
            _ => {}
        }
    }

    pub(crate) fn read(&mut self, translated: bool) -> &mut Span {
        if translated {
            &mut self.payload_reads
        } else {
            &mut self.descriptor_reads
        }
    }

    pub(crate) fn data(&mut self, translated: bool) -> &mut Span {
        if translated {
            &mut self.payload_data
        } else {
            &mut self.descriptor_data
        }
    }

    pub(crate) fn write(&mut self, translated: bool, write: &WriteBeat, time: Time) {
        if translated && write.header.is_some() {
            self.payload_writes.see(time);
        }
        if translated && write.beat.last {
            self.payload_written.see(time);
        }
    }
}
