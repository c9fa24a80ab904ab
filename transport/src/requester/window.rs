//! Transmit window of an MRC queue pair (hardware block `tx_window`): the state of every packet that may be unreceived.

use std::collections::{BTreeSet, VecDeque};

use stellar_wire::config::WINDOW_BLOCK;

use super::psn_bits::PsnBits;
use super::window_pool::{blocks_between, WindowPool};
use crate::rx::Psn;
use crate::spray::EvIndex;
use crate::time::Ticks;

/// Packets that the window may hold: the largest value of the register MPR.
pub const SLOTS: u32 = stellar_wire::config::WINDOW;

/// State of a PSN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SlotState {
    /// The packet has not been sent, or the PSN is outside the window.
    Free,
    /// Sent, and neither acknowledged nor lost.
    InFlight,
    /// Known to be received, but not everything before it is.
    Acked,
    /// The packet is lost and will be retransmitted.
    Lost,
}

/// The last transmission of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Path it took.
    pub ev: EvIndex,
    /// Port of that path, 1 bit.
    pub plane: u8,
    /// When it was selected.
    pub at: Ticks,
    /// When it left its port ([`Window::departed`]). A port that does not say so is taken for one at which nothing waits.
    pub departed: Ticks,
    /// The packet had been sent before. A retransmission carries a time stamp.
    pub again: bool,
    /// Timeouts so far. They decide how long the next one is.
    pub retries: u8,
    /// Payload bytes, 14 bits.
    pub length: u16,
    /// Send queue index of the message.
    pub slot: u16,
}

impl Sent {
    /// Whether an answer that reflects `stamp` is about this transmission. A packet sent once carries no time stamp, as there is no
    /// other transmission that the answer could be about.
    pub const fn is_answered_by(&self, stamp: u16) -> bool {
        !self.again || self.at.stamp() == stamp
    }
}

/// The window: PSNs `una` to `next - 1`, at most [`SLOTS`] of them.
#[derive(Clone, Debug)]
pub struct Window {
    una: Psn,
    next: Psn,
    /// Transmit records from `una` on. So the memory follows the number of packets in the window, not the 4,096 that it may hold.
    sent: VecDeque<Sent>,
    in_flight: PsnBits,
    /// PSNs modulo 4,096 of lost packets, by the plane of the transmission that was lost. There are few, and mostly none.
    lost: [BTreeSet<u32>; 2],
    bytes: u32,
}

impl Window {
    /// Most records added when there is no room: doubling would leave half of them unused in thousands of queue pairs.
    const GROWTH: usize = 16;

    /// An empty window whose first packet will be `first`.
    pub fn new(first: Psn) -> Self {
        Self {
            una: first,
            next: first,
            sent: VecDeque::new(),
            in_flight: PsnBits::default(),
            lost: Default::default(),
            bytes: 0,
        }
    }

    /// First PSN not known to be received.
    pub const fn una(&self) -> Psn {
        self.una
    }

    /// First PSN that is not acknowledged: what [`Self::una`] is after the next [`Self::advance`].
    pub fn first_unacknowledged(&self) -> Psn {
        if self.in_flight.contains(self.una) {
            // Mostly it is the one that it was.
            return self.una;
        }
        let in_flight = self.in_flight.next(self.una);
        let lost = (0..2).filter_map(|plane| self.first_lost(plane));
        let unacknowledged = in_flight.into_iter().chain(lost);
        let first = unacknowledged.min_by_key(|psn| psn.distance_from(self.una));
        first.unwrap_or(self.next)
    }

    /// PSN of the next new packet.
    pub const fn next(&self) -> Psn {
        self.next
    }

    /// PSNs in the window.
    pub const fn len(&self) -> u32 {
        self.next.distance_from(self.una)
    }

    /// Whether everything sent has been received.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Payload bytes in flight.
    pub const fn in_flight_bytes(&self) -> u32 {
        self.bytes
    }

    const fn contains(&self, psn: Psn) -> bool {
        psn.distance_from(self.una) < self.len()
    }

    /// State of a PSN.
    pub fn state(&self, psn: Psn) -> SlotState {
        if !self.contains(psn) {
            SlotState::Free
        } else if self.in_flight.contains(psn) {
            SlotState::InFlight
        } else if self.is_lost(psn) {
            SlotState::Lost
        } else {
            SlotState::Acked
        }
    }

    /// Whether a PSN of the window is lost.
    fn is_lost(&self, psn: Psn) -> bool {
        let slot = psn.value() % SLOTS;
        self.has_lost() && self.lost.iter().any(|lost| lost.contains(&slot))
    }

    /// Whether a packet is lost.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.lost.iter().any(|lost| !lost.is_empty())
    }

    /// Last transmission of a PSN in the window.
    pub fn sent(&self, psn: Psn) -> Option<&Sent> {
        self.sent.get(psn.distance_from(self.una) as usize)
    }

    /// Asks for the memory of what the next packet changes, and the answer to packet `acked` ([`stellar_fetch`]).
    pub fn fetch(&self, acked: Option<Psn>) {
        let last = self.next.previous();
        for psn in [Some(self.una), Some(last), acked].into_iter().flatten() {
            if let Some(sent) = self.sent(psn) {
                stellar_fetch::fetch(sent);
            }
        }
        self.in_flight.fetch(last);
    }

    /// Blocks of the pool that it holds: those of its PSNs.
    pub fn blocks(&self) -> u32 {
        blocks_between(self.una, self.next)
    }

    /// Adds a new packet, in flight. Returns its PSN.
    ///
    /// # Panics
    /// If it holds 4,096 packets, or needs a block and none is free: the caller checks the window and [`WindowPool::room`] first.
    pub fn push(&mut self, sent: Sent, pool: &mut WindowPool) -> Psn {
        assert!(self.len() < SLOTS, "the transmit window is full");
        let psn = self.next;
        let enters_block = self.is_empty() || psn.value().is_multiple_of(WINDOW_BLOCK);
        self.next = psn.plus(1);
        pool.changed(0, enters_block.into());
        if self.sent.len() == self.sent.capacity() {
            let more = self.sent.len().clamp(1, Self::GROWTH);
            self.sent.reserve_exact(more);
        }
        self.sent.push_back(sent);
        self.start(psn, sent.length);
        psn
    }

    /// Records the retransmission of a lost packet.
    pub fn resend(&mut self, psn: Psn, sent: Sent) {
        assert_eq!(self.state(psn), SlotState::Lost);
        for lost in &mut self.lost {
            lost.remove(&(psn.value() % SLOTS));
        }
        self.sent[psn.distance_from(self.una) as usize] = sent;
        self.start(psn, sent.length);
    }

    fn start(&mut self, psn: Psn, length: u16) {
        self.in_flight.insert(psn);
        self.bytes += u32::from(length);
    }

    /// Records that a packet left by the port of `plane`. If its last transmission is by another plane, this was an earlier one, and changes nothing.
    pub fn departed(&mut self, psn: Psn, plane: u8, at: Ticks) {
        let slot = psn.distance_from(self.una) as usize;
        if let Some(sent) = self.sent.get_mut(slot).filter(|sent| sent.plane == plane) {
            sent.departed = at;
        }
    }

    /// Records that a packet was received. Returns its last transmission and its state before, if it was not acknowledged yet.
    pub fn acknowledge(&mut self, psn: Psn) -> Option<(Sent, SlotState)> {
        let sent = *self.sent(psn)?;
        if self.in_flight.remove(psn) {
            self.bytes -= u32::from(sent.length);
            return Some((sent, SlotState::InFlight));
        }
        if !self.is_lost(psn) {
            return None;
        }
        for lost in &mut self.lost {
            lost.remove(&(psn.value() % SLOTS));
        }
        Some((sent, SlotState::Lost))
    }

    /// Of the 64 PSNs from `base` on, those that may be in flight or lost: all others have been acknowledged, or are not in the window.
    pub(super) fn maybe_unacknowledged(&self, base: Psn) -> u64 {
        if self.has_lost() {
            u64::MAX
        } else {
            self.in_flight.word(base)
        }
    }

    /// Advances the start of the window over everything received. Returns the new start.
    pub fn advance(&mut self, pool: &mut WindowPool) -> Psn {
        let una = self.first_unacknowledged();
        if una == self.una {
            return una;
        }
        let held = self.blocks();
        self.sent.drain(..una.distance_from(self.una) as usize);
        self.una = una;
        self.in_flight.forget_before(self.una);
        pool.changed(held, self.blocks());
        self.una
    }

    /// Records that a packet in flight was lost, and its retries so far. Returns its payload bytes.
    pub fn lose(&mut self, psn: Psn, retries: u8) -> u32 {
        assert_eq!(self.state(psn), SlotState::InFlight);
        let slot = psn.value() % SLOTS;
        let sent = &mut self.sent[psn.distance_from(self.una) as usize];
        sent.retries = retries;
        self.in_flight.remove(psn);
        self.lost[usize::from(sent.plane)].insert(slot);
        self.bytes -= u32::from(sent.length);
        u32::from(sent.length)
    }

    /// Lowest PSN whose last transmission was lost on `plane`.
    pub fn first_lost(&self, plane: u8) -> Option<Psn> {
        let (lost, start) = (&self.lost[usize::from(plane)], self.una.value() % SLOTS);
        let slot = *lost.range(start..).next().or_else(|| lost.first())?;
        Some(self.una.plus((slot + SLOTS - start) % SLOTS))
    }

    /// Lowest PSN in flight that is not before `from`.
    pub fn next_in_flight(&self, from: Psn) -> Option<Psn> {
        self.in_flight.next(from)
    }
}
