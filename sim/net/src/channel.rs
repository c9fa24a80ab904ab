//! One direction of a link: output queues, line, faults.

use std::collections::VecDeque;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::fault::{Filter, Tap};
use crate::frame::{FCS, GAP, MIN_FRAME, PREAMBLE};
use crate::headers::Class;
use crate::packet::{OnWire, PacketId};
use crate::stats::{ChannelStats, QueueStats, Sample};
use crate::topology::LinkParams;
use crate::{ChannelId, Frame, Node, Time};

/// A frame in a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub packet: PacketId,
    pub len: usize,
}

pub(crate) struct Channel {
    pub params: LinkParams,
    pub from: Node,
    pub to: Node,
    pub up: bool,
    /// How often the link has gone down so far.
    failures: Vec<Time>,
    pub stats: ChannelStats,
    /// The receiver is a host that takes frames from their first bit on.
    pub from_first_bit: bool,
    pub filter: Option<Filter>,
    pub transmit_tap: Option<Box<dyn Tap>>,
    pub receive_tap: Option<Box<dyn Tap>>,
    /// The line is busy until then.
    pub busy_until: Time,
    /// A wake event is scheduled.
    pub wake_pending: bool,
    data: VecDeque<Waiting>,
    control: VecDeque<Waiting>,
    /// Line time of all waiting frames.
    backlog: Time,
    rng: ChaCha8Rng,
}

impl Channel {
    pub(crate) fn new(
        id: ChannelId,
        params: LinkParams,
        (from, to): (Node, Node),
        seed: u64,
    ) -> Self {
        // Each channel has a random stream of its own, so events on one link do not change the random choices of others.
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::from(id.0));
        Self {
            params,
            from,
            to,
            up: true,
            failures: Vec::new(),
            stats: ChannelStats::default(),
            from_first_bit: false,
            filter: None,
            transmit_tap: None,
            receive_tap: None,
            busy_until: 0,
            wake_pending: false,
            data: VecDeque::new(),
            control: VecDeque::new(),
            backlog: 0,
            rng,
        }
    }

    /// The sender is a host. A host decides the order of its own frames: it has one queue without limit and without marking.
    pub(crate) fn sender_is_host(&self) -> bool {
        matches!(self.from, Node::Host { .. })
    }

    /// The receiver is a host.
    pub(crate) fn is_last_hop(&self) -> bool {
        matches!(self.to, Node::Host { .. })
    }

    /// Time on the line, from preamble to gap.
    fn line_time(&self, len: usize) -> Time {
        self.time_of(PREAMBLE + len.max(MIN_FRAME) + FCS + GAP)
    }

    /// Time from preamble to last bit.
    pub(crate) fn through_time(&self, len: usize) -> Time {
        self.time_of(PREAMBLE + len.max(MIN_FRAME) + FCS)
    }

    /// Time from the first bit of the destination address to the last bit.
    pub(crate) fn frame_time(&self, len: usize) -> Time {
        self.time_of(len.max(MIN_FRAME) + FCS)
    }

    /// Time `bytes` take, in picoseconds, rounded up.
    fn time_of(&self, bytes: usize) -> Time {
        (bytes as u64 * 8_000_000).div_ceil(self.params.rate_mbps)
    }

    fn queue(&mut self, class: Class) -> (&mut VecDeque<Waiting>, &mut QueueStats) {
        match class {
            Class::Data => (&mut self.data, &mut self.stats.data),
            Class::Control => (&mut self.control, &mut self.stats.control),
        }
    }

    /// Whether a frame can start at `now` without waiting.
    pub(crate) fn is_idle(&self, now: Time) -> bool {
        self.busy_until <= now && !self.has_waiting()
    }

    pub(crate) fn has_waiting(&self) -> bool {
        !self.data.is_empty() || !self.control.is_empty()
    }

    /// Bytes waiting in the queue of `class`.
    pub(crate) fn depth(&self, class: Class) -> u64 {
        match class {
            Class::Data => self.stats.data.bytes,
            Class::Control => self.stats.control.bytes,
        }
    }

    /// Whether the queue of `class` has room for `len` bytes.
    pub(crate) fn has_room(&self, class: Class, len: usize) -> bool {
        let capacity = match class {
            Class::Data => self.params.queue_bytes,
            Class::Control => self.params.control_queue_bytes,
        };
        self.sender_is_host() || self.depth(class) + len as u64 <= capacity
    }

    /// When the line will have sent everything in its queues.
    pub(crate) fn free_at(&self) -> Time {
        self.busy_until + self.backlog
    }

    pub(crate) fn push(&mut self, class: Class, frame: Waiting, now: Time) {
        self.backlog += self.line_time(frame.len);
        let (queue, stats) = self.queue(class);
        queue.push_back(frame);
        stats.enter(now, frame.len as u64);
    }

    /// Takes the next frame: control first.
    pub(crate) fn pop(&mut self, now: Time) -> Option<Waiting> {
        let class = if self.control.is_empty() {
            Class::Data
        } else {
            Class::Control
        };
        let (queue, stats) = self.queue(class);
        let frame = queue.pop_front()?;
        stats.leave(now, frame.len as u64);
        self.backlog -= self.line_time(frame.len);
        Some(frame)
    }

    /// Occupies the line, which must be free, for a frame of `len` bytes from `start`; returns when its last bit leaves.
    pub(crate) fn occupy(&mut self, len: usize, start: Time) -> Time {
        debug_assert!(self.busy_until <= start, "the line is taken");
        self.busy_until = start + self.line_time(len);
        start + self.through_time(len)
    }

    /// The link goes down.
    pub(crate) fn fail(&mut self, now: Time) {
        self.up = false;
        self.failures.push(now);
    }

    /// A record of a frame's stay on this channel, which starts now.
    pub(crate) fn stay(&self, last_bit: Time) -> OnWire {
        let failures = self.failures.len();
        OnWire { last_bit, failures }
    }

    /// Whether the link went down during `stay`.
    pub(crate) fn failed_during(&self, stay: &OnWire) -> bool {
        let next = self.failures.get(stay.failures);
        next.is_some_and(|&time| time < stay.last_bit)
    }

    /// Whether an event of this probability happens. Draws no random number if it cannot happen.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.rng.random::<f64>() < probability
    }

    /// Extra delay of one frame.
    pub(crate) fn jitter(&mut self) -> Time {
        match self.params.jitter_ps {
            0 => 0,
            most => self.rng.random_range(0..=most),
        }
    }

    /// Changes a random stored byte to a random other value.
    pub(crate) fn corrupt(&mut self, frame: &mut Frame) {
        let bytes = frame.bytes_mut();
        let at = self.rng.random_range(0..bytes.len());
        bytes[at] ^= self.rng.random_range(1..=u8::MAX);
        self.stats.corrupted += 1;
    }

    /// State for a time series.
    pub(crate) fn sample(&self, id: ChannelId, time: Time) -> Sample {
        Sample {
            time,
            channel: id,
            data_bytes: self.stats.data.bytes,
            control_bytes: self.stats.control.bytes,
            sent_bytes: self.stats.sent_bytes,
        }
    }

    /// Statistics up to `now`.
    pub(crate) fn stats_at(&self, now: Time) -> ChannelStats {
        let mut stats = self.stats;
        stats.data.settle(now);
        stats.control.settle(now);
        stats
    }
}
