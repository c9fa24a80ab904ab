//! Makes a stream of tokens for the block, and the reference's result for each.

use rust_hdl::prelude::Block;
use stellar_transport::rx::{self, Psn, PsnTrack as Reference, QpMode, RcClass, RECEIVE_WINDOW};
use stellar_wire::hw::core::TranslatedToken;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::hw::tables::TableSelect;

use hdl_reorder_buf::psn_track::{LATENCY, RC_SPACING, SPACING};
use hdl_reorder_buf::PsnTrack;

use crate::common::{context, error, fence, run, table, Pace, Schedule, QPS};
use crate::psn_track::expect::{ask, receive};
use crate::psn_track::output::{ack_fields, command, outcome_fields, Command, Output};
use crate::psn_track::steps::{Number, Step};

pub struct Pair {
    pub number: u32,
    pub context: rx::QpRow,
    pub track: Reference,
    pub past: Vec<Psn>,
    window: u32,
}

impl Pair {
    pub fn new(number: u32, mode: QpMode, initial_psn: Psn, window: u32) -> Self {
        Self {
            number,
            window,
            context: context(mode, 12, initial_psn),
            track: Reference::with_window(initial_psn, window),
            past: vec![],
        }
    }

    pub fn psn(&self, number: Number) -> Psn {
        let epsn = self.track.epsn();
        match number {
            Number::Ahead(by) => epsn.plus(by.rem_euclid(1 << 24) as u32),
            Number::Within(part) => epsn.plus(part * self.window / 4096),
            Number::Edge(by) => epsn.plus((self.window as i32 + by) as u32),
            Number::Again(before) => self.past.iter().rev().nth(before).copied().unwrap_or(epsn),
        }
    }
}

/// Returns the minimum distance between two tokens of a queue pair in cycles, with a window of `NEAR` packets.
fn spacing<const NEAR: u32>(first: Pace, second: Pace) -> usize {
    match (first, second) {
        (Pace::MrcPacket(a), Pace::MrcPacket(b))
            if a.distance_from(b) < NEAR || b.distance_from(a) < NEAR =>
        {
            1
        }
        (Pace::RcPacket, Pace::RcPacket) => RC_SPACING,
        _ => SPACING,
    }
}

/// A stream for four queue pairs, its expected outputs, and the reference after it.
pub struct Scenario {
    pub schedule: Schedule,
    pub expected: Vec<Output>,
    pub pairs: Vec<Pair>,
}

impl Scenario {
    /// For the card's window.
    pub fn new(initial: [u32; 4]) -> Self {
        Self::with_window(initial, RECEIVE_WINDOW)
    }

    pub fn with_window(initial: [u32; 4], window: u32) -> Self {
        let mode = |i| if i == 3 { QpMode::Rc } else { QpMode::Mrc };
        let pair = |i: usize| Pair::new(QPS[i], mode(i), Psn::new(initial[i]), window);
        let mut scenario = Self {
            schedule: Schedule::new(match window {
                RECEIVE_WINDOW => spacing::<RECEIVE_WINDOW>,
                1024 => spacing::<1024>,
                256 => spacing::<256>,
                _ => panic!("no block with a window of {window} packets"),
            }),
            expected: vec![],
            pairs: (0..4).map(pair).collect(),
        };
        for (at, psn) in initial.into_iter().enumerate() {
            scenario.step(at, 0, &Step::WriteQp(psn));
        }
        scenario
    }

    pub fn step(&mut self, at: usize, gap: usize, step: &Step) {
        let count = self.expected.len() as u32;
        let pair = &mut self.pairs[at];
        let mut token = TranslatedToken::default();
        let number = pair.number;
        let mut pace = Some(Pace::Other);
        let mut output = Output::default();
        let mut alone = false;
        match step {
            Step::Packet { .. } => {
                output = receive(pair, step, count, &mut token);
                pace = Some(match pair.context.mode {
                    QpMode::Rc => Pace::RcPacket,
                    QpMode::Mrc => Pace::MrcPacket(*pair.past.last().expect("just received")),
                });
            }
            Step::Probe { early, psn } => {
                output = ask(pair, *early, *psn, count, &mut token);
                alone = true;
            }
            Step::Error => token.token = error(pair.number),
            Step::WriteQp(initial_psn) => {
                let first = Psn::new(*initial_psn);
                *pair = Pair::new(pair.number, pair.context.mode, first, pair.window);
                token.token = table(TableSelect::Qp, pair.number);
                token.qp = pair.context.to_hw();
            }
            Step::WriteMr => {
                token.token = table(TableSelect::Mr, pair.number);
                pace = None;
            }
            Step::WriteBeyond => token.token = table(TableSelect::Qp, pair.number + 1024),
            Step::Fence => {
                token.token = fence();
                output.command = Some(Command::Fence);
                pace = None;
            }
        }
        let named = pace.map(|pace| (number, pace));
        if alone {
            self.schedule.push_alone(named, gap, token);
        } else {
            self.schedule.push(named, gap, token);
        }
        self.expected.push(output);
    }

    /// Adds a good packet.
    pub fn good(&mut self, at: usize, number: Number) {
        let step = Step::Packet {
            number,
            early: None,
            bad_frame: false,
            rc: (RcClass::Expected, 0, 0),
            late: rx::DropReason::None,
            access: rx::DropReason::None,
            length: 64,
        };
        self.step(at, 0, &step);
    }

    pub fn epsn(&self, at: usize) -> u32 {
        self.pairs[at].track.epsn().value()
    }

    pub fn compare(&self) {
        self.compare_with::<PsnTrack>();
    }

    pub fn compare_with<B: Block + Default + 'static>(&self) {
        let outputs = run::<B, _>(&self.schedule, LATENCY, |dut| {
            let has_outcome = dut.is("outcome_valid");
            if !dut.is("out_valid") {
                assert!(!has_outcome, "an outcome without a command");
                return None;
            }
            let words = dut.words("outcome");
            let outcome = Record::<RxOutcome>::new(&words);
            let ack = has_outcome && outcome.bool("ack_valid");

            let reason = rx::DropReason::ALL[dut.get("out_reason") as usize];
            Some(Output {
                command: Some(command(
                    &dut.words("out_command"),
                    dut.is("out_lane"),
                    dut.is("out_counted"),
                    format!("{reason:?}"),
                    dut.get("out_payload_bytes"),
                )),
                ack: ack.then(|| ack_fields(&outcome.words("ack"))),
                outcome: has_outcome.then(|| outcome_fields(&words)),
            })
        });
        assert_eq!(outputs.len(), self.expected.len());
        for (count, (output, expected)) in outputs.into_iter().zip(&self.expected).enumerate() {
            assert_eq!(&output.unwrap_or_default(), expected, "token {count}");
        }
    }
}
