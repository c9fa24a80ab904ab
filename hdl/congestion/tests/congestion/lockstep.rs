//! Sends the same requests to the engine and to the reference, and compares their responses.

use hdl_congestion::nscc_engine::max_cycles;
use rust_hdl::prelude::*;
use stellar_transport::congestion::{AckSample, Nscc, NsccParams};
use stellar_transport::time::Ticks;
use stellar_wire::hw::congestion::{NsccConfig, NsccOp, NsccRequest, WindowChange};

use crate::bench::Bench;

/// One request.
#[derive(Clone, Debug)]
pub enum Op {
    Query,
    Ack {
        sample: Option<AckSample>,
        penalty: u8,
    },
    Loss(u32),
    Change(WindowChange),
    Configure(NsccParams),
}

/// The engine, and one reference for each queue pair.
pub struct Lockstep {
    bench: Bench,
    pub pairs: Vec<Nscc>,
}

impl Lockstep {
    /// Configures queue pair n with `params[n]`.
    pub fn new(params: &[NsccParams], now: Ticks) -> Self {
        let mut lockstep = Self {
            bench: Bench::new(),
            pairs: params.iter().map(|p| Nscc::new(p, now)).collect(),
        };
        for (qp, params) in params.iter().enumerate() {
            lockstep.step(qp, now, &Op::Configure(*params));
        }
        lockstep
    }

    pub fn idle(&mut self, cycles: u32) {
        self.bench.idle(cycles);
    }

    /// Executes one request on both, and compares the window and the time it took. Returns the cycles.
    pub fn step(&mut self, qp: usize, now: Ticks, op: &Op) -> u32 {
        let mut request = NsccRequest {
            // Bits above those of the engine's queue pairs do not matter.
            qp: (qp as u64 | 0x2a8).to_bits(),
            now: u64::from(now.0).to_bits(),
            ..NsccRequest::default()
        };
        let mut registers = NsccConfig::default();
        let pair = &mut self.pairs[qp];
        let limit = match op {
            Op::Query => {
                request.op = NsccOp::Query;
                max_cycles::QUERY
            }
            Op::Configure(params) => {
                request.op = NsccOp::Configure;
                registers = params.registers().to_hw();
                *pair = Nscc::new(params, now);
                max_cycles::CONFIGURE
            }
            Op::Loss(bytes) => {
                request.op = NsccOp::Loss;
                request.bytes = u64::from(*bytes).to_bits();
                pair.on_loss(*bytes);
                max_cycles::LOSS
            }
            Op::Change(change) => {
                request.op = NsccOp::Change;
                request.change = *change;
                pair.change(*change);
                max_cycles::CHANGE
            }
            Op::Ack { sample, penalty } => {
                request.op = NsccOp::Ack;
                request.penalty = u64::from(*penalty).to_bits();
                if let Some(sample) = sample {
                    request.sample = true;
                    request.bytes = u64::from(sample.acked_bytes).to_bits();
                    request.rtt_valid = sample.rtt.is_some();
                    // Without a round trip the field is ignored.
                    request.rtt = u64::from(sample.rtt.map_or(77, |rtt| rtt.0)).to_bits();
                    request.ecn = sample.ecn;
                    request.in_flight = u64::from(sample.in_flight).to_bits();
                    pair.on_ack(*sample, now);
                }
                pair.on_receiver_penalty(*penalty);
                max_cycles::ACK
            }
        };
        let (window, cycles) = self.bench.call(request, registers);
        assert_eq!(window, pair.cwnd(), "{op:?} at {now:?}: {pair:?}");
        assert!(cycles <= limit, "{op:?} took {cycles} cycles");
        cycles
    }
}
