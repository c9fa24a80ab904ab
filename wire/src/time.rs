//! Transport time: a 32-bit count of 8 ns ticks that wraps after 34.4 s.
//!
//! Eight nanoseconds are two cycles of the 250 MHz clock. Because the count wraps, two times have no order. Compare their distance instead.

/// An entropy value for control packets that nothing confirms lives for one to two epochs of 2^15 ticks (262 us), which is about the timeout after which a peer sends again
/// what was not answered.
pub const CONTROL_PATH_EPOCH_LOG2: usize = 15;

/// A duplicate is answered once in an epoch of 2^10 ticks (8.2 us), unless the answer has news. A peer that lost the answer sends again after a timeout, which is
/// longer.
pub const REPEATED_ANSWER_EPOCH_LOG2: usize = 10;

/// A responder visits the pending packets of a queue pair once in 2^13 ticks (65.5 us), and acknowledges what has been pending since the visit before. With visits after 8 us, 64
/// queue pairs that share two ports of 200 Gb/s, and so fill 16 KiB in 21 us each, would send 7.8 million SACKs a second more: 2 % of both ports. A sender's timeout is longer than two visits
/// (`DEFAULT_RTO` is 250 us).
pub const PENDING_VISIT_LOG2: usize = 13;

/// Queue pair n is visited when the ticks modulo 2^13 are n * 2^3, so that visits of 1,024 queue pairs do not come at once.
pub const PENDING_VISIT_QP_LOG2: usize = 3;

/// log2 of the ticks from the visit of one queue pair to that of the next one, in a card of 2^`queue_pair_bits` queue pairs: [`PENDING_VISIT_QP_LOG2`] with up to
/// 1,024 of them, and at least one. A visit takes a cycle from the packets that a responder takes, so at most one in four cycles is one.
pub const fn visit_step_log2(queue_pair_bits: usize) -> usize {
    let few = PENDING_VISIT_LOG2 - PENDING_VISIT_QP_LOG2;
    if queue_pair_bits <= few {
        PENDING_VISIT_QP_LOG2
    } else if queue_pair_bits < PENDING_VISIT_LOG2 {
        PENDING_VISIT_LOG2 - queue_pair_bits
    } else {
        1
    }
}

/// log2 of the ticks from one visit of a queue pair to the next one: [`PENDING_VISIT_LOG2`] with up to 4,096 queue pairs, and twice as long for twice as many.
pub const fn visit_period_log2(queue_pair_bits: usize) -> usize {
    let all = queue_pair_bits + visit_step_log2(queue_pair_bits);
    if all > PENDING_VISIT_LOG2 {
        all
    } else {
        PENDING_VISIT_LOG2
    }
}

/// A point in time, or a span of it, in ticks of 8 ns, modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ticks(pub u32);

impl Ticks {
    /// Nanoseconds in one tick.
    pub const NANOSECONDS: u32 = 8;
    /// Picoseconds in one tick.
    pub const PICOSECONDS: u64 = 8_000;

    /// The whole ticks in `ns` nanoseconds, modulo 2^32.
    pub const fn from_ns(ns: u64) -> Self {
        Self((ns / Self::NANOSECONDS as u64) as u32)
    }

    /// The whole ticks in `us` microseconds, modulo 2^32.
    pub const fn from_us(us: u32) -> Self {
        Self::from_ns(us as u64 * 1_000)
    }

    /// The whole ticks in `ps` picoseconds, modulo 2^32.
    #[inline]
    pub const fn from_ps(ps: u64) -> Self {
        Self((ps / Self::PICOSECONDS) as u32)
    }

    /// The span in nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0 as u64 * Self::NANOSECONDS as u64
    }

    /// The span in picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0 as u64 * Self::PICOSECONDS
    }

    /// This time plus `span`, modulo 2^32.
    #[inline]
    pub const fn plus(self, span: Self) -> Self {
        Self(self.0.wrapping_add(span.0))
    }

    /// The span from `earlier` to this time, modulo 2^32.
    #[inline]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.wrapping_sub(earlier.0))
    }

    /// Whether at least `span` has passed since `start`. The result is exact if this is called at least once in 34 s. After a longer pause it may
    /// become true one `span` late.
    #[inline]
    pub const fn elapsed(self, start: Self, span: Self) -> bool {
        self.since(start).0 >= span.0
    }

    /// Whether this time is at or after `deadline`, that is, less than half of the range (17.2 s) ahead of it.
    #[inline]
    pub const fn reached(self, deadline: Self) -> bool {
        self.since(deadline).0 < 1 << 31
    }

    /// The low 16 bits, as TSETH carries them.
    #[inline]
    pub const fn stamp(self) -> u16 {
        self.0 as u16
    }

    /// Round trip of a packet that left with `stamp` in its TSETH: the difference modulo 2^16 ticks. A round trip of
    /// 524,288 ns or more comes out too short by a multiple of that, so a sender takes no sample from a packet it sent
    /// longer ago.
    #[inline]
    pub const fn round_trip(self, stamp: u16) -> Self {
        Self(self.stamp().wrapping_sub(stamp) as u32)
    }
}
