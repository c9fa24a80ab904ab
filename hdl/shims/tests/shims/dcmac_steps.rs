//! The list of a DCMAC's start against the rules of its model: what the list and the rules are worth.
use hdl_shims::dcmac_registers::{After, Scope, Step, RESTART, SIGNAL, START, STEPS};
use hdl_shims::{AxiLiteAccess, DcmacSequence};
use hdl_testkit::equivalence::{check, Random};
use rand::Rng;
use rust_hdl::prelude::*;

use crate::dcmac_model::Dcmac;

/// The writes of steps, as a program would make them, with pauses behind each that has one.
fn program(steps: &[Step], port: usize) -> Vec<(u64, u64, u64)> {
    let mut writes = vec![];
    for step in steps {
        let slots = match step.scope {
            Scope::Global => vec![],
            Scope::All => (0..6).collect(),
            Scope::Ports => (0..4).collect(),
            Scope::Port => vec![2 * port, 2 * port + 1],
            Scope::First => vec![2 * port],
        };
        let pause = if step.after == After::Next { 1 } else { 30 };
        if slots.is_empty() {
            writes.push((step.address, step.value, pause));
        }
        for slot in slots {
            let value = if slot % 2 == 0 && slot < 4 {
                step.value
            } else {
                step.other
            };
            writes.push((step.address + 0x1000 * (slot as u64 + 1), value, pause));
        }
    }
    writes
}

/// What the rules say to these writes, behind those of `before`.
fn judge(before: &[(u64, u64, u64)], writes: &[(u64, u64, u64)]) -> Result<(), String> {
    let mut dcmac = Dcmac::default();
    (dcmac.signal, dcmac.ready) = ([true; 2], [[true; 2]; 2]);
    let mut now = 0;
    for (address, value, pause) in before.iter().chain(writes) {
        dcmac.write(*address, *value, now)?;
        now += pause;
    }
    match (0..2).find(|port| !dcmac.is_aligned(*port)) {
        Some(port) => Err(format!("port {port} is not aligned")),
        None => Ok(()),
    }
}

/// What the model is worth: without any of the writes of a start, or with any pause left out, the rules are broken or the ports are not aligned.
#[test]
fn each_write_of_a_start_is_missed() {
    let all = program(&STEPS[START as usize..RESTART as usize], 0);
    assert_eq!(judge(&[], &all), Ok(()));
    for left_out in 0..all.len() {
        let mut fewer = all.clone();
        let (address, ..) = fewer.remove(left_out);
        // Slots 4 and 5 belong to no port: their settings are only there to be defined.
        let missed = judge(&[], &fewer).is_err();
        let matters = address < 0x5000 || address & 0xff0 == 0x0f0;
        assert!(missed || !matters, "write {left_out}, {address:#x}");
    }
    // The writes of all modes are time enough behind the first one.
    let ends = |at: &usize| all[*at].2 > 1 && all[at + 1].0 & 0xfff != all[*at].0 & 0xfff;
    let pauses: Vec<usize> = (0..all.len() - 1).filter(ends).collect();
    assert_eq!(pauses.len(), 4);
    for at in &pauses[1..] {
        let mut hasty = all.clone();
        for write in &mut hasty[at.saturating_sub(5)..=*at] {
            write.2 = 1;
        }
        assert!(judge(&[], &hasty).is_err(), "the pause behind write {at}");
    }
}

#[test]
fn each_write_of_a_restart_is_missed_or_leaves_the_port_as_it_was() {
    let start = program(&STEPS[START as usize..RESTART as usize], 0);
    for port in 0..2 {
        let again = program(&STEPS[RESTART as usize..SIGNAL as usize], port);
        // A port that sends frames, as before a loss of alignment.
        let mut before = start.clone();
        before.extend(program(&STEPS[SIGNAL as usize..], port));
        assert_eq!(judge(&before, &again), Ok(()));
        for left_out in 0..again.len() {
            let mut fewer = again.clone();
            let (address, value, _) = fewer.remove(left_out);
            let found = judge(&before, &fewer);
            // What is not taken into reset need not leave it.
            let holds = value != 0 && address & 0xfff != 0;
            assert!(holds || found.is_err(), "write {left_out}, {address:#x}");
        }
    }
}

#[test]
fn dcmac_sequence_is_its_verilog() {
    check(
        DcmacSequence::<3, 2, 4, 5, 2, 3>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_ratio(1, 2_000);
            u.access_ready.next = rng.random_ratio(7, 8);
            u.access_done.next = rng.random_ratio(7, 8);
            u.access_failed.next = rng.random_ratio(1, 400);
            u.access_read_data.next = Bits::random(rng);
            u.gt_tx_done.next = bits(if rng.random_ratio(1, 100) { 1 } else { 3 });
            u.gt_rx_done.next = Bits::random(rng);
        },
        6_000,
        1,
    )
    .unwrap();
}

#[test]
fn axi_lite_access_is_its_verilog() {
    check(
        AxiLiteAccess::<2, 4, 5>::default,
        Some(|u| &mut u.clock),
        |u, rng| {
            u.reset.next = rng.random_ratio(1, 200);
            u.start.next = bool::random(rng);
            u.write.next = bool::random(rng);
            u.address.next = Bits::random(rng);
            u.data.next = Bits::random(rng);
            u.axi.awready.next = bool::random(rng);
            u.axi.wready.next = bool::random(rng);
            u.axi.arready.next = bool::random(rng);
            u.axi.bvalid.next = rng.random_ratio(1, 12);
            u.axi.rvalid.next = rng.random_ratio(1, 12);
            u.axi.bresp.next = Bits::random(rng);
            u.axi.rresp.next = Bits::random(rng);
            u.axi.rdata.next = Bits::random(rng);
        },
        2_000,
        1,
    )
    .unwrap();
}

#[test]
#[should_panic(expected = "use one bit more than the largest")]
fn a_counter_that_is_too_narrow_is_refused() {
    DcmacSequence::<3, 2, 4, 4, 2, 3>::default();
}

#[test]
#[should_panic(expected = "use HOLD of 1 to LIMIT, and COUNT = LIMIT + 1")]
fn an_access_without_a_limit_is_refused() {
    AxiLiteAccess::<2, 4, 4>::default();
}
