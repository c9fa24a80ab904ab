//! `LocalTranslate`, Verilated at full size, against `locate_payload` of the reference requester.

use std::collections::BTreeMap;

use hdl_emtt::{local_translate, LocalTranslate};
use hdl_testkit::equivalence::check;
use hdl_testkit::library;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rand::Rng;
use rust_hdl::prelude::*;
use sim_verilated::Model;
use stellar_transport::requester::Payload;
use stellar_transport::rx::{pieces_to_hw, DropReason};
use stellar_wire::hw::core::TokenKind;
use stellar_wire::hw::fence::EpochEnd;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::{TranslateRequest, TranslateResponse};
use stellar_wire::hw::tables::TableWrite;

use crate::translation::reference::{LocalPacket, World};
use crate::translation::stage::assert_fields;
use crate::translation::traffic::{traffic, Op};
use crate::translation::{BANK_BITS, REGION_BITS};

/// The inputs of one cycle, and the response that the request must get.
#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    table: Option<TableWrite>,
    request: Option<(TranslateRequest, Result<TranslateResponse, DropReason>)>,
}

fn request(packet: &LocalPacket, tag: u32) -> TranslateRequest {
    TranslateRequest {
        qp: u64::from(tag & 0x3ff).to_bits(),
        pd: u64::from(packet.pd).to_bits(),
        lkey: u64::from(packet.lkey).to_bits(),
        va: packet.va.to_bits(),
        message_length: u64::from(packet.message_length).to_bits(),
        offset: u64::from(packet.offset).to_bits(),
        length: u64::from(packet.length).to_bits(),
    }
}

/// Converts the traffic of the receive lane's test: its packets become packets of local messages.
fn clocks(ops: &[Op]) -> Vec<Clock> {
    let mut world = World::default();
    let mut out = vec![];
    for op in ops {
        if let Op::Packet(packet) = op {
            let Some(local) = world.local_packet(packet) else {
                continue;
            };
            let request = request(&local, packet.tag);
            let answer = world.locate(&local).map(|payload| match payload {
                Payload::Memory(segments) => TranslateResponse {
                    qp: request.qp,
                    fault: false,
                    segments: pieces_to_hw(&segments),
                    epoch: false,
                },
                Payload::Inline(_) => unreachable!("the message is not inline"),
            });
            out.push(Clock {
                request: Some((request, answer)),
                ..Clock::default()
            });
        } else {
            out.extend(world.steps(op).into_iter().map(|step| {
                Clock {
                    table: step
                        .filter(|step| step.input.token.kind == TokenKind::Table)
                        .map(|step| step.input.token.table),
                    ..Clock::default()
                }
            }));
        }
    }
    out
}

fn model() -> Model {
    library::<LocalTranslate<REGION_BITS, BANK_BITS>>().instantiate()
}

/// An epoch that changes often.
fn epoch_of(clock: usize) -> bool {
    clock / 3 % 2 == 1
}

fn run(clocks: &[Clock]) {
    let mut model = model();
    let port = |model: &Model, name: &str| model.port(name).expect("a port of local_translate");
    let clock = port(&model, "clock");
    let idle = [Clock::default(); local_translate::LATENCY];
    for (n, now) in clocks.iter().chain(&idle).enumerate() {
        let epoch = epoch_of(n);
        // Answers come exactly when their time is up.
        if n >= local_translate::LATENCY {
            let due = clocks[n - local_translate::LATENCY].request;
            let valid = model.get_u64(port(&model, "response_valid")) == 1;
            assert_eq!(valid, due.is_some(), "clock {n}");
            if let Some((request, answer)) = due {
                let given = TranslateResponse {
                    epoch: epoch_of(n - local_translate::LATENCY),
                    ..answer.unwrap_or(TranslateResponse {
                        qp: request.qp,
                        fault: true,
                        ..TranslateResponse::default()
                    })
                };
                let refused = model.get_words(port(&model, "refused")).to_vec();
                let refused = Record::<EpochEnd>::new(&refused);
                let said = (refused.bool("valid"), refused.bool("epoch"));
                assert_eq!(said, (given.fault, given.epoch), "clock {n}");
                let actual = model.get_words(port(&model, "response")).to_vec();
                let what = format!("{request:?} at clock {n}");
                assert_fields::<TranslateResponse>(&actual, &to_words(given), &[], &what);
            }
        }
        assert_eq!(model.get_u64(port(&model, "request_ready")), 1);
        model.set_u64(port(&model, "request_valid"), now.request.is_some().into());
        if let Some((request, _)) = now.request {
            model.set(port(&model, "request"), &to_words(request));
        }
        model.set_u64(port(&model, "epoch"), epoch.into());
        model.set_u64(port(&model, "table_valid"), now.table.is_some().into());
        if let Some(table) = now.table {
            model.set(port(&model, "table_write"), &to_words(table));
        }
        model.clock(clock);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_payload_is_where_the_reference_finds_it(ops in traffic(200)) {
        run(&clocks(&ops));
    }
}

#[test]
fn the_requests_reach_every_answer_often() {
    let mut runner = TestRunner::deterministic();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..60 {
        let ops = traffic(200).new_tree(&mut runner).unwrap().current();
        for (request, answer) in clocks(&ops).into_iter().filter_map(|clock| clock.request) {
            let name = match answer {
                Err(reason) => format!("{reason:?}"),
                Ok(found) if found.segments.has_third => "three pages".into(),
                Ok(found) if found.segments.first_length < request.length => "two pages".into(),
                Ok(_) if request.offset == 0 => "one page, first packet".into(),
                Ok(_) => "one page, later packet".into(),
            };
            *counts.entry(name).or_default() += 1;
        }
    }
    for name in [
        "BadKey",
        "WrongPd",
        "OutOfBounds",
        "InvalidPage",
        "PageAbsent",
        "two pages",
        "three pages",
        "one page, first packet",
        "one page, later packet",
    ] {
        let count = counts.get(name).copied().unwrap_or(0);
        assert!(count >= 20, "{name} only {count} times in {counts:?}");
    }
    assert!(!counts.contains_key("NoWriteRight"));
}

/// Small tables, so that native simulation and Yosys keep up; the traffic's indices beyond them must be refused alike.
#[test]
fn local_translate_is_its_verilog() {
    let tree = traffic(150).new_tree(&mut TestRunner::deterministic());
    let mut clocks = clocks(&tree.unwrap().current()).into_iter().cycle();
    check(
        LocalTranslate::<6, 3>::default,
        Some(|uut| &mut uut.clock),
        |uut, rng| {
            let now = clocks.next().unwrap();
            uut.reset.next = rng.random_ratio(1, 40);
            uut.epoch.next = rng.random();
            uut.request.valid.next = now.request.is_some();
            if let Some((request, _)) = now.request {
                uut.request.record.next = request;
            }
            uut.table_valid.next = now.table.is_some();
            if let Some(table) = now.table {
                uut.table_write.next = table;
            }
        },
        300,
        4,
    )
    .unwrap();
}

#[test]
fn a_reset_forgets_requests_in_flight() {
    let mut model = model();
    let port = |model: &Model, name: &str| model.port(name).unwrap();
    let set = |model: &mut Model, name: &str, value| model.set_u64(port(model, name), value);
    let clock = port(&model, "clock");
    set(&mut model, "request_valid", 1);
    for _ in 0..local_translate::LATENCY - 1 {
        model.clock(clock);
    }
    // The request that comes with the reset is forgotten too.
    set(&mut model, "reset", 1);
    model.clock(clock);
    set(&mut model, "reset", 0);
    set(&mut model, "request_valid", 0);
    for _ in 0..2 * local_translate::LATENCY {
        assert_eq!(model.get_u64(port(&model, "response_valid")), 0);
        model.clock(clock);
    }
}
