//! Random operations, relative to the state of the window.

use proptest::prelude::*;
use stellar_transport::requester::{SackView, Sent, SlotState, Window};
use stellar_transport::rx::Psn;
use stellar_transport::spray::EvIndex;
use stellar_transport::time::Ticks;

use crate::burst::Pace;
use crate::server::Server;

/// A PSN of a step, relative to the window.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    FromUna(i32),
    FromNext(i32),
    /// At this position in the window, in thousandths.
    Within(u32),
}

impl Place {
    pub fn psn(self, window: &Window) -> Psn {
        let plus = |psn: Psn, by: i32| psn.plus(by.rem_euclid(1 << 24) as u32);
        match self {
            Self::FromUna(by) => plus(window.una(), by),
            Self::FromNext(by) => plus(window.next(), by),
            Self::Within(thousandth) => window.una().plus(window.len() * thousandth / 1000),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Step {
    Query,
    /// Sends this number of packets, in bursts of this length.
    Push(usize, usize, Sent, Rhythm),
    /// The first packet lost on a plane.
    ResendFirst(u8, Sent),
    /// The first lost packet from a place on.
    Resend(Place, Sent),
    Read(Place),
    /// The first packets in flight from a place on.
    Lose(Place, usize, u8),
    NextInFlight(Place),
    Sack(SackStep),
    Configure(u32),
}

#[derive(Clone, Copy, Debug)]
pub struct SackStep {
    cack: Place,
    acked: Place,
    /// The bitmap begins at the word of the answered packet, or this many PSNs before it.
    base: Option<i32>,
    bitmap: u64,
    /// Changed so that it can be accepted, if possible.
    mended: bool,
    /// The SACK reflects the time stamp of the last transmission.
    stamped: bool,
}

impl SackStep {
    fn view(&self, window: &Window) -> (SackView, u16) {
        let last = window.next().previous();
        let sent = |psn: Psn| {
            if self.mended && !psn.is_behind(window.next()) {
                last
            } else {
                psn
            }
        };
        let acked = sent(self.acked.psn(window));
        let base = match self.base {
            None => Psn::new(acked.value() & !63),
            Some(before) => acked.plus((-before).rem_euclid(1 << 24) as u32),
        };
        let mut bitmap = self.bitmap;
        if self.mended {
            let bit = acked.distance_from(base);
            bitmap |= 1_u64.checked_shl(bit).unwrap_or(0);
            let sent = (0..64).filter(|&i| base.plus(i).is_behind(window.next()));
            bitmap &= sent.fold(0, |mask, i| mask | 1 << i);
        }
        let view = SackView {
            cack: sent(self.cack.psn(window)),
            acked,
            base,
            bitmap,
        };
        let at = window.sent(acked).map_or(0, |sent| sent.at.stamp());
        (view, if self.stamped { at } else { !at })
    }
}

/// Timing of a burst.
#[derive(Clone, Copy, Debug)]
pub struct Rhythm {
    /// Bit i: packet i comes after this many idle cycles.
    late: u32,
    cycles: u32,
}

impl Rhythm {
    fn pace(self, packets: usize) -> Pace {
        let gaps = (0..packets).map(|i| (self.late >> i & 1) * self.cycles);
        Pace(gaps.collect())
    }
}

/// Returns consecutive packets that differ.
pub fn packets(count: usize, first: Sent) -> Vec<Sent> {
    let packet = |i| Sent {
        at: Ticks(first.at.0.wrapping_add(i as u32)),
        departed: Ticks(first.departed.0.wrapping_add(3 * i as u32)),
        length: first.length.saturating_sub(i as u16),
        ..first
    };
    (0..count).map(packet).collect()
}

impl Step {
    pub fn run(&self, server: &mut Server, qp: usize) {
        let window = &server.windows[qp];
        match *self {
            Self::Query => server.query(qp, window.una()),
            Self::Push(0, _, _, rhythm) => server.burst(qp, &[], &rhythm.pace(0)),
            Self::Push(count, each, sent, rhythm) => {
                for burst in packets(count, sent).chunks(each) {
                    server.burst(qp, burst, &rhythm.pace(burst.len()));
                }
            }
            Self::ResendFirst(plane, sent) => {
                if let Some(psn) = window.first_lost(plane) {
                    server.resend(qp, psn, sent);
                }
            }
            Self::Resend(place, sent) => {
                let from = place.psn(window);
                let lost = (0..window.len())
                    .map(|i| from.plus(i))
                    .find(|&psn| window.state(psn) == SlotState::Lost);
                if let Some(psn) = lost {
                    server.resend(qp, psn, sent);
                }
            }
            Self::Read(place) => server.read(qp, place.psn(window)),
            Self::Lose(place, count, retries) => {
                let from = place.psn(window);
                for i in 0..count {
                    let psn = from.plus(i as u32);
                    if server.windows[qp].state(psn) == SlotState::InFlight {
                        server.lose(qp, psn, retries);
                    }
                }
            }
            Self::NextInFlight(place) => {
                let psn = place.psn(window);
                if psn.distance_from(window.una()) <= window.len() {
                    server.next_in_flight(qp, psn);
                }
            }
            Self::Sack(sack) => {
                let (view, stamp) = sack.view(window);
                server.sack(qp, &view, stamp);
            }
            Self::Configure(psn) => server.configure(qp, Psn::new(psn)),
        }
    }
}

pub fn sent() -> impl Strategy<Value = Sent> {
    let length = prop_oneof![Just(8192_u16), Just(0), 0..=16_383_u16];
    (
        0..144_u8,
        any::<u32>(),
        any::<bool>(),
        any::<u8>(),
        length,
        any::<u16>(),
    )
        .prop_map(|(ev, at, again, retries, length, slot)| Sent {
            ev: EvIndex::new(ev).expect("below 144"),
            plane: ev & 1,
            at: Ticks(at),
            departed: Ticks(at.rotate_left(7)),
            again,
            retries,
            length,
            slot,
        })
}

pub fn psn() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        0xff_f800..=0xff_ffff_u32,
        0..=0xff_ffff_u32,
        (0..=0x3_ffff_u32).prop_map(|word| word << 6),
        0x7f_fc00..=0x80_0040_u32,
    ]
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        4 => (-2..=2_i32).prop_map(Place::FromUna),
        2 => (-2..=1_i32).prop_map(Place::FromNext),
        4 => (0..=1000_u32).prop_map(Place::Within),
        1 => (-130..=130_i32).prop_map(Place::FromUna),
    ]
}

fn far_place() -> impl Strategy<Value = Place> {
    let edge =
        prop::sample::select(&[1024, 4095, 4096, 4097, 4098, 8000, 0x7f_f000, 0x7f_ffff][..]);
    prop_oneof![
        20 => place(),
        1 => edge.prop_map(|by| Place::FromUna(-by)),
        1 => (-3..=3).prop_map(|by| Place::FromUna(by + 0x80_0000)),
        1 => (-3..=3).prop_map(|by| Place::FromNext(by + 0x80_0000)),
    ]
}

fn sack() -> impl Strategy<Value = SackStep> {
    let cack = prop_oneof![
        4 => (-3..=3_i32).prop_map(Place::FromUna),
        1 => far_place(),
    ];
    let base = prop_oneof![
        4 => Just(None),
        3 => (0..64_i32).prop_map(Some),
        1 => (-1100..1100_i32).prop_map(Some),
        1 => (-3..=3).prop_map(|by| Some(by + 0x80_0000)),
    ];
    let bitmap = prop_oneof![
        2 => any::<u64>(),
        2 => (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a & b),
        2 => Just(0),
        1 => Just(u64::MAX),
    ];
    let flags = (prop::bool::weighted(0.9), any::<bool>());
    (cack, far_place(), base, bitmap, flags).prop_map(
        |(cack, acked, base, bitmap, (mended, stamped))| SackStep {
            cack,
            acked,
            base,
            bitmap,
            mended,
            stamped,
        },
    )
}

fn rhythm() -> impl Strategy<Value = Rhythm> {
    let late = prop_oneof![Just(0), any::<u32>()];
    (late, 1..4_u32).prop_map(|(late, cycles)| Rhythm { late, cycles })
}

fn push() -> impl Strategy<Value = Step> {
    let count = prop_oneof![60 => 0..5_usize, 12 => 1..100_usize, 1 => Just(4096)];
    let each = prop_oneof![Just(1), Just(32), 1..=32_usize];
    (count, each, sent(), rhythm())
        .prop_map(|(count, each, sent, rhythm)| Step::Push(count, each, sent, rhythm))
}

pub fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Query),
        6 => push(),
        3 => (0..2_u8, sent()).prop_map(|(plane, sent)| Step::ResendFirst(plane, sent)),
        2 => (place(), sent()).prop_map(|(place, sent)| Step::Resend(place, sent)),
        2 => place().prop_map(Step::Read),
        5 => (place(), 1..6_usize, any::<u8>()).prop_map(|(place, n, tries)| Step::Lose(place, n, tries)),
        4 => place().prop_map(Step::NextInFlight),
        8 => sack().prop_map(Step::Sack),
        1 => psn().prop_map(Step::Configure),
    ]
}
