//! The engine's Verilog agrees with rust-hdl's simulation, and passes other tools.

use hdl_spray_engine::entropy_lookup::Reflected;
use hdl_spray_engine::SprayEngine;
use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_testkit::tools;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{
    EntropyBucket, EntropyProfileEntry, ExplicitEntropy, NamedBy, PathAckRecord, SprayConfig,
    SprayFeedback, SprayOp, SprayPolicy, SprayRequest,
};

use crate::spray_engine::engine::Q;

fn random_request(rng: &mut TestRng) -> SprayRequest {
    let ops = [
        SprayOp::Choose,
        SprayOp::Choose,
        SprayOp::Feedback,
        SprayOp::Ack,
        SprayOp::Ack,
        SprayOp::Probe,
        SprayOp::Query,
        SprayOp::Deny,
        SprayOp::Allow,
        SprayOp::Configure,
    ];
    let feedback = [
        SprayFeedback::Good,
        SprayFeedback::Skip,
        SprayFeedback::Trimmed,
        SprayFeedback::Timeout,
        SprayFeedback::AlwaysSkip,
        SprayFeedback::ProbeAnswered,
    ];
    let near: Bits<3> = Bits::random(rng);
    SprayRequest {
        op: ops[rng.random_range(0..ops.len())],
        qp: Bits::random(rng),
        plane: bool::random(rng),
        count: rng.random_range(1..=32_u64).to_bits(),
        avoid_valid: bool::random(rng),
        avoid: Bits::random(rng),
        named_by: [NamedBy::Value, NamedBy::Index, NamedBy::Home][rng.random_range(0..3)],
        index: if bool::random(rng) {
            bit_cast::<8, 3>(near)
        } else {
            Bits::random(rng)
        },
        feedback: feedback[rng.random_range(0..feedback.len())],
        ack: PathAckRecord {
            entropy: Bits::random(rng),
            hint: feedback[rng.random_range(0..2)],
            sampled: bool::random(rng),
            round_trip: Bits::random(rng),
            packets: rng.random_range(0..=32_u64).to_bits(),
            una: Bits::random(rng),
            next_psn: Bits::random(rng),
            in_flight: Bits::random(rng),
        },
        empty: bool::random(rng),
        now: Bits::random(rng),
    }
}

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut SprayEngine<{ Q }>, rng: &mut TestRng| {
        block.reset.next = rng.random_range(0..100) == 0;
        block.plane_up.next = rng.random_range(0..4_u64).to_bits();
        block.request.valid.next = bool::random(rng);
        block.request.record.next = random_request(rng);
        block.reflected.valid.next = rng.random_range(0..3) == 0;
        block.reflected.record.next = Reflected {
            qp: Bits::random(rng),
            entropy: Bits::random(rng),
            marked: bool::random(rng),
        };
        block.settings.next = SprayConfig {
            policy: SprayPolicy::ALL[rng.random_range(0..SprayPolicy::COUNT)],
            paths: rng.random_range(0..=128_u64).to_bits(),
            seed: Bits::random(rng),
            profile: Bits::random(rng),
            rotation: Bits::random(rng),
            skip_next_turn: bool::random(rng),
            probe_interval: Bits::random(rng),
            base_rtt: Bits::random(rng),
            bend_after: Bits::random(rng),
        };
        block.profile.valid.next = rng.random_range(0..8) == 0;
        block.profile.index.next = Bits::random(rng);
        block.profile.record.next = EntropyProfileEntry {
            base: Bits::random(rng),
            stride_log2: rng.random_range(0..=24_u64).to_bits(),
            active: rng.random_range(1..=128_u64).to_bits(),
            backups: rng.random_range(0..=16_u64).to_bits(),
            explicit: bool::random(rng),
        };
        block.values.valid.next = bool::random(rng);
        block.values.row.next = Bits::random(rng);
        block.values.record.next = ExplicitEntropy {
            value: Bits::random(rng),
            bucket: EntropyBucket {
                first: Bits::random(rng),
                first_number: Bits::random(rng),
                second: Bits::random(rng),
                second_number: Bits::random(rng),
            },
        };
    };
    check(
        SprayEngine::default,
        Some(|b| &mut b.clock),
        drive,
        1_000,
        1,
    )
    .unwrap();
}

#[test]
fn lints_in_verilator_parses_in_icarus_and_elaborates_in_yosys_without_latches() {
    tools::assert_clean::<SprayEngine<10>>();
}
