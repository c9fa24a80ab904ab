//! Makes a stream of tokens for the block, and the reference's result for each.

use hdl_reorder_buf::rc_track::SPACING;
use rust_hdl::prelude::*;
use stellar_transport::rx::{self, Psn, QpMode, RcOutcome};
use stellar_wire::hw::core::{AddressedToken, QpToken};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::tables::TableSelect;
use stellar_wire::{Position, Reth};

use crate::common::{context, error, fence, headers, packet, probe, table, Pace, Schedule, QPS};
use crate::rc_track::steps::{Length, Step};

/// A queue pair of the reference, and the state that the stream needs in order to continue plausibly.
pub struct Pair {
    pub number: u32,
    pub mode: QpMode,
    pub context: rx::QpRow,
    track: rx::RcTrack,
    pub epsn: Psn,
    pub msn: u32,
    /// Bytes left of the message in progress.
    left: Option<u32>,
}

impl Pair {
    pub fn new(number: u32, mode: QpMode, initial_psn: Psn, mtu_log2: u8) -> Self {
        Self {
            number,
            mode,
            context: context(mode, mtu_log2, initial_psn),
            track: rx::RcTrack::new(initial_psn),
            epsn: initial_psn,
            msn: 0,
            left: None,
        }
    }

    pub fn headers(&self, step: &Step, number: u32) -> rx::PacketHeaders {
        let Step::Packet {
            ahead,
            position,
            length,
            tail,
            full_packets,
            refused,
            ..
        } = *step
        else {
            unreachable!("only packets have headers")
        };
        let mtu = self.context.mtu();
        let position = position.unwrap_or(match self.left {
            Some(left) if left > mtu => Position::Middle,
            Some(_) => Position::Last,
            None if full_packets > 0 => Position::First,
            None => Position::Only,
        });
        let tail = u32::from(tail);
        let (payload, dma_length) = match position {
            Position::First => (mtu, full_packets * mtu + tail),
            Position::Middle => (mtu, 3 * mtu),
            Position::Last => (self.left.unwrap_or(tail).min(8192), 2 * mtu),
            Position::Only => (tail, tail),
        };
        let (payload, dma_length) = match length {
            Length::Right => (payload, dma_length),
            Length::PayloadOff(by) => (payload.saturating_add_signed(by), dma_length),
            Length::DmaOff(by) => (payload, dma_length.wrapping_add_signed(by)),
            Length::Zero => (0, 0),
            Length::Any(payload, dma_length) => (payload.into(), dma_length),
        };
        let reth = Reth {
            va: 0xffff_ffff_ffff_f000_u64.wrapping_add(u64::from(number) << 9),
            rkey: number.wrapping_mul(0x0101_0101),
            dma_len: dma_length,
        };
        let refused = refused && self.mode == QpMode::Rc;
        let payload = if refused { 0 } else { payload };
        let has_reth = self.mode == QpMode::Mrc || position.starts();
        rx::PacketHeaders {
            refused,
            position,
            reth: has_reth.then_some(reth),
            payload_length: payload as u16,
            ..headers(
                self.mode,
                self.number,
                self.epsn.plus(ahead.rem_euclid(1 << 24) as u32),
                number,
            )
        }
    }

    pub fn receive(&mut self, headers: &rx::PacketHeaders) -> RcOutcome {
        let outcome = self.track.receive(&self.context, headers);
        if outcome.epsn != self.epsn {
            let left = self.left.unwrap_or(headers.dma_length());
            self.left =
                (!headers.position.ends()).then(|| left - u32::from(headers.payload_length));
        }
        (self.epsn, self.msn) = (outcome.epsn, outcome.msn);
        outcome
    }
}

/// Schedule and expected outputs of a stream.
pub fn scenario(
    initial: [(u32, u8); 4],
    steps: &[(usize, usize, Step)],
) -> (Schedule, Vec<AddressedToken>) {
    let mut schedule = Schedule::new(|_, _| SPACING);
    let mut expected = vec![];
    let mut pairs: Vec<Pair> = QPS
        .iter()
        .zip(initial)
        .enumerate()
        .map(|(i, (&qp, (psn, mtu)))| {
            let mode = if i == 3 { QpMode::Mrc } else { QpMode::Rc };
            Pair::new(qp, mode, Psn::new(psn), mtu)
        })
        .collect();
    let first = pairs.iter().enumerate().map(|(i, pair)| {
        let write = Step::WriteQp {
            initial_psn: pair.context.initial_psn.value(),
            mtu_log2: pair.context.mtu_log2,
        };
        (i, 0, write)
    });
    let all: Vec<_> = first.chain(steps.iter().cloned()).collect();
    for (number, (at, gap, step)) in all.iter().enumerate() {
        let pair = &mut pairs[*at];
        let number = number as u32;
        let mut out = AddressedToken::default();
        let mut named = Some(pair.number);
        match step {
            Step::Packet { early, .. } => {
                let headers = pair.headers(step, number);
                out.token = packet(&headers, number);
                out.qp = pair.context.to_hw();
                let reth = headers.reth.unwrap_or_default();
                let (mut va, mut rkey) = (reth.va, reth.rkey);
                match early {
                    Some(reason) => out.reason = *reason,
                    None => {
                        let outcome = pair.receive(&headers);
                        out.reason = outcome.reason;
                        out.rc_class = outcome.class;
                        (va, rkey) = (outcome.address.va, outcome.address.rkey);
                    }
                }
                out.va = va.to_bits();
                out.rkey = u64::from(rkey).to_bits();
                out.rc_epsn = u64::from(pair.epsn.value()).to_bits();
                out.rc_msn = u64::from(pair.msn).to_bits();
            }
            Step::Probe => {
                let headers = headers(pair.mode, pair.number, Psn::new(0), number);
                out.token = probe(&headers, number);
                out.qp = pair.context.to_hw();
                out.rc_epsn = u64::from(pair.epsn.value()).to_bits();
                out.rc_msn = u64::from(pair.msn).to_bits();
            }
            Step::Error => out.token = error(pair.number),
            Step::WriteQp {
                initial_psn,
                mtu_log2,
            } => {
                *pair = Pair::new(pair.number, pair.mode, Psn::new(*initial_psn), *mtu_log2);
                out.token = table(TableSelect::Qp, pair.number);
                out.qp = pair.context.to_hw();
            }
            Step::WriteMr => {
                out.token = table(TableSelect::Mr, pair.number);
                named = None;
            }
            Step::WriteBeyond => out.token = table(TableSelect::Qp, pair.number + 1024),
            Step::Fence => {
                out.token = fence();
                named = None;
            }
        }
        let token = QpToken {
            token: out.token,
            qp: out.qp,
            reason: match step {
                Step::Packet { early: Some(_), .. } => out.reason,
                _ => DropReason::None,
            },
        };
        schedule.push(named.map(|qp| (qp, Pace::Other)), *gap, token);
        expected.push(out);
    }
    (schedule, expected)
}
