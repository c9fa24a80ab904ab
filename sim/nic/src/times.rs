//! When what was seen at the pins of a card.

use std::time::Duration;

use sim_net::Time;
use stellar_wire::host::{ConsumerIndex, Doorbell};

use crate::pcie::Requested;

/// When a kind of event was seen at the pins: times of its cycles, in picoseconds of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Time of the first event; 0 if there was none.
    pub first: Time,
    /// Time of the last event.
    pub last: Time,
    /// Number of events.
    pub count: u64,
}

impl Span {
    /// Records an event at `time`.
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
    /// Cycles that a world requested.
    pub clocks: u64,
    /// Wall time of these cycles, including the simulation of what is around the card.
    pub wall: Duration,
}

impl SimRate {
    /// Adds the cycles and the wall time of another card or run.
    pub fn add(&mut self, other: Self) {
        self.clocks += other.clocks;
        self.wall += other.wall;
    }

    /// Cycles per second of wall time.
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
    /// Beats in which writes of payload begin, and in which they end.
    pub payload_writes: Span,
    pub payload_written: Span,
}

impl PinTimes {
    /// Records a write to a doorbell page.
    pub(crate) fn page_write(&mut self, offset: u16, time: Time) {
        match offset {
            Doorbell::OFFSET | Doorbell::PUSHED_OFFSET | Doorbell::SLOTS..ConsumerIndex::SLOTS => {
                self.doorbells.see(time)
            }
            Doorbell::PUSH_OFFSET..Doorbell::PUSHED_OFFSET => self.pushes.see(time),
            _ => {}
        }
    }

    fn read(&mut self, translated: bool) -> &mut Span {
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

    /// Records what a beat of requests has brought.
    pub(crate) fn requests(&mut self, requested: &Requested, time: Time) {
        for _ in requested.writes_begun.iter().filter(|at| **at) {
            self.payload_writes.see(time);
        }
        for _ in requested.writes_ended.iter().filter(|(at, _)| *at) {
            self.payload_written.see(time);
        }
        for translated in &requested.reads {
            self.read(*translated).see(time);
        }
    }
}
