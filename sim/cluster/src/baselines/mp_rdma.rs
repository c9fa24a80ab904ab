//! MP-RDMA (Lu et al., NSDI 2018): acknowledgements clock packets out on their own paths, and there is one window, which marks decrease.

use std::collections::VecDeque;

use stellar_transport::rx::Psn;
use stellar_transport::spray::{EvIndex, Feedback, Lfsr32, PathAck, PathPolicy, Paths};
use stellar_transport::time::Ticks;

use super::outstanding::{path, Packet};
use super::round_trips::slots;
use super::{Outstanding, Rounds};

/// One packet of the window.
const ONE: u32 = 1 << 8;
/// An acknowledgement that is this many packets behind the highest one does not let a packet leave on its path (out-of-order aware path selection).
const BEHIND: u32 = 32;
/// Round trips of which one begins with a packet on a path that is drawn.
const PROBE_ONE_IN: u32 = 100;
/// Packets that an acknowledgement lets leave at most.
const MOST_CLOCKED: u16 = 2;

#[derive(Clone, Debug)]
pub(super) struct MpRdma {
    mtu: u32,
    /// In packets, 24.8.
    window: u32,
    /// Paths on which a packet may leave, as plane and slot.
    clock: VecDeque<(u8, u8)>,
    outstanding: Outstanding,
    /// Highest PSN that was acknowledged.
    highest: Option<Psn>,
    rounds: Rounds,
    /// The next packet takes a path that is drawn.
    explores: bool,
    dice: Lfsr32,
}

impl MpRdma {
    /// A window of `most` packets, at least one. `seed` 0 counts as 1.
    pub fn new(mtu: u32, most: u32, seed: u32) -> Self {
        Self {
            mtu,
            window: most.max(1) * ONE,
            clock: VecDeque::new(),
            outstanding: Outstanding::default(),
            highest: None,
            rounds: Rounds::default(),
            explores: false,
            dice: Lfsr32::new(seed.max(1)).expect("not 0"),
        }
    }

    /// A number below `bound`.
    fn draw(&mut self, bound: u32) -> u32 {
        ((u64::from(self.dice.next_word()) * u64::from(bound)) >> 32) as u32
    }

    fn drawn(&mut self, candidates: u64) -> u8 {
        let number = self.draw(candidates.count_ones()) as usize;
        slots(candidates).nth(number).unwrap_or_default()
    }

    fn decrease(&mut self) {
        self.window = self.window.saturating_sub(ONE / 2).max(ONE);
    }
}

impl PathPolicy for MpRdma {
    fn choose(&mut self, _: &mut Paths, plane: u8, candidates: u64) -> u8 {
        let explores = std::mem::take(&mut self.explores);
        let fits = |&(of, slot): &(u8, u8)| of == plane && candidates >> slot & 1 == 1;
        match self.clock.iter().position(fits) {
            Some(at) if !explores => self.clock.remove(at).map_or(0, |(_, slot)| slot),
            _ => self.drawn(candidates),
        }
    }

    fn on_sent(&mut self, paths: &Paths, psn: Psn, index: EvIndex, length: u16) {
        if let Some(path) = path(paths, index) {
            self.outstanding.sent(psn, Packet { path, length });
        }
    }

    fn window(&self) -> Option<u32> {
        Some((u64::from(self.window) * u64::from(self.mtu) / u64::from(ONE)) as u32)
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, _: Ticks) {
        if ack.hint == Feedback::Good {
            self.window += u32::from(ack.packets) * ONE * ONE / self.window;
        } else {
            self.decrease();
        }
        let path = index.and_then(|index| path(paths, index));
        if let Some((path, (psn, _))) =
            path.and_then(|path| Some((path, self.outstanding.arrived(path)?)))
        {
            let highest = self.highest.filter(|&highest| psn.is_behind(highest));
            self.highest = highest.or(Some(psn));
            if highest.is_none_or(|highest| highest.distance_from(psn) < BEHIND) {
                let packets = ack.packets.clamp(1, MOST_CLOCKED);
                self.clock.extend((0..packets).map(|_| path));
            }
        }
        while self.outstanding.passed(ack.una).is_some() {}
        // What it lets leave is bounded by the window.
        let most = (self.window / ONE) as usize;
        self.clock.drain(..self.clock.len().saturating_sub(most));
        if self.rounds.ends(ack) {
            self.explores = self.draw(PROBE_ONE_IN) == 0;
        }
    }

    fn on_feedback(&mut self, _: &mut Paths, _: EvIndex, feedback: Feedback, _: Ticks) {
        if matches!(feedback, Feedback::Timeout | Feedback::Trimmed) {
            self.decrease();
        }
    }

    fn on_empty(&mut self, _: &mut Paths) {
        self.clock.clear();
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(self.clone())
    }
}
