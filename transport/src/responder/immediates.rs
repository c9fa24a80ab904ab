//! WRITEs with immediate that arrived on an MRC queue pair, until everything before them has arrived too.

use std::collections::VecDeque;

use thiserror::Error;

use crate::rx::{PacketHeaders, Psn, RECEIVE_WINDOW};
use crate::small_queue::begin_with_one;

/// The sender has more WRITEs with immediate in flight than was agreed. This is fatal for the queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("WRITE with immediate number {rqmsn} is {ahead} ahead of the oldest incomplete one; {max} may be under way")]
pub struct WimmExceeded {
    pub rqmsn: u16,
    pub ahead: u16,
    pub max: u16,
}

/// A WRITE with immediate whose last packet has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub immediate: u32,
    /// Bytes of the message.
    pub length: u32,
    /// METH.MSN.
    pub msn: u16,
    /// First and last PSN of the message. If it has more packets than a window, the first PSN that may be missing.
    first: Psn,
    last: Psn,
    /// Packets of the message that have not arrived.
    missing: u32,
}

/// The stash of WRITEs with immediate. In hardware a queue pair has a part of a memory that all share: MAX_WIMM entries, rounded up to a power of two, whose
/// index is the low bits of the RQMSN.
///
/// A message is *whole* when all of its own packets have arrived, even if earlier packets are missing. A counter without order counts it then. A
/// message is *in order* when all earlier packets have arrived too. Its completion is delivered then.
#[derive(Clone, Debug)]
pub struct Immediates {
    max: u16,
    /// RQMSN of the front.
    next: u16,
    stash: VecDeque<Option<Arrived>>,
}

impl Immediates {
    /// An empty stash of `max` (MAX_WIMM) entries.
    pub const fn new(max: u16) -> Self {
        Self {
            max,
            next: 0,
            stash: VecDeque::new(),
        }
    }

    /// Records an accepted packet. `received` returns whether a PSN has arrived; it includes the PSN of this packet. Returns the number of messages
    /// that are complete because of this packet: at most one.
    ///
    /// # Errors
    /// [`WimmExceeded`] if the packet has immediate data and its number lies beyond the stash.
    pub fn arrive(
        &mut self,
        packet: &PacketHeaders,
        mtu: u32,
        received: impl Fn(Psn) -> bool,
    ) -> Result<u32, WimmExceeded> {
        let meth = packet.meth.unwrap_or_default();
        let ahead = meth.rqmsn.wrapping_sub(self.next);
        let Some(immediate) = packet.immediate else {
            let entry = self.stash.get_mut(usize::from(ahead));
            return Ok(entry.map_or(0, |entry| count_down(entry.as_mut(), packet.psn)));
        };
        if ahead >= self.max {
            return Err(WimmExceeded {
                rqmsn: meth.rqmsn,
                ahead,
                max: self.max,
            });
        }
        let length = packet.dma_length();
        // Only the receive window can lack packets: everything before it has arrived.
        let packets = length.div_ceil(mtu).clamp(1, RECEIVE_WINDOW);
        let first = packet.psn.plus(Psn::MODULUS - (packets - 1));
        let missing = missing_between(first, packet.psn, received);
        if self.stash.len() <= usize::from(ahead) {
            begin_with_one(&mut self.stash);
            self.stash.resize(usize::from(ahead) + 1, None);
        }
        self.stash[usize::from(ahead)] = Some(Arrived {
            immediate,
            length,
            msn: meth.msn,
            first,
            last: packet.psn,
            missing,
        });
        Ok(u32::from(missing == 0))
    }

    /// The next message in order, if everything before `epsn`, the first PSN missing, covers it.
    pub fn deliver(&mut self, epsn: Psn) -> Option<Arrived> {
        let front = self.stash.front().copied().flatten();
        let arrived = front.filter(|arrived| arrived.last.is_behind(epsn))?;
        self.stash.pop_front();
        self.next = self.next.wrapping_add(1);
        Some(arrived)
    }
}

/// One packet fewer is missing, if it is one of this message. Returns 1 if it was the last one.
fn count_down(entry: Option<&mut Arrived>, psn: Psn) -> u32 {
    match entry {
        // Packets of other messages may have this number: 0 in those without immediate.
        Some(entry)
            if entry.missing > 0
                && psn.distance_from(entry.first) < entry.last.distance_from(entry.first) =>
        {
            entry.missing -= 1;
            u32::from(entry.missing == 0)
        }
        _ => 0,
    }
}

/// PSNs from `first` up to, but not including, `last` that have not arrived.
fn missing_between(first: Psn, last: Psn, received: impl Fn(Psn) -> bool) -> u32 {
    let packets = last.distance_from(first);
    (1..=packets)
        .filter(|&back| !received(last.plus(Psn::MODULUS - back)))
        .count() as u32
}

#[cfg(test)]
mod tests {
    use stellar_wire::mrc::{Entropy, Meth};
    use stellar_wire::{Position, Reth};

    use super::*;
    use crate::rx::QpMode;

    fn packet(psn: u32, position: Position, immediate: Option<u32>) -> PacketHeaders {
        PacketHeaders {
            mode: QpMode::Mrc,
            refused: false,
            position,
            reth: Some(Reth {
                dma_len: u32::MAX,
                ..Reth::default()
            }),
            immediate,
            meth: Some(Meth { rqmsn: 0, msn: 0 }),
            timestamp: None,
            ack_req: false,
            solicited: false,
            retransmission: false,
            pkey: 0xffff,
            dest_qp: 2,
            psn: Psn::new(psn),
            ecn_ce: false,
            entropy: Entropy(0),
            payload_offset: 0,
            payload_length: 256,
        }
    }

    #[test]
    fn a_message_longer_than_all_psns_counts_no_more_than_was_missing() {
        let mut immediates = Immediates::new(4);
        let last = packet(5000, Position::Last, Some(7));
        immediates.arrive(&last, 256, |_| true).unwrap();
        for psn in 5001..5005 {
            let middle = packet(psn, Position::Middle, None);
            assert_eq!(immediates.arrive(&middle, 256, |_| true), Ok(0));
        }
    }
}
