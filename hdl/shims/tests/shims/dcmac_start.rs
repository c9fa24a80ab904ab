//! The start-up of a DCMAC against a model of its registers with random latencies, errors, missing answers, and alignment that comes and goes.
use rand::Rng;

use crate::dcmac_model::TX;
use crate::dcmac_start_bench::Bench;

/// The time in which a change of a port is seen: some looks at both.
const SEEN: u64 = 300;

#[test]
fn both_ports_come_up_in_order() {
    for seed in 0..8 {
        let mut bench = Bench::new(seed);
        bench.until("the transceivers are in reset", |bench| {
            bench.dut.is("gt_reset")
        });
        bench.run(3);
        assert_eq!(
            [bench.dut.get("mac_reset"), bench.dut.get("link_up")],
            [3, 0]
        );
        bench.comes_up();
        let writes = bench.accesses;
        assert!(writes > 60, "{writes} accesses");
        bench.run(2_000);
        assert_eq!(bench.dut.get("link_up"), 3, "and stay");
    }
}

/// A port without a signal does not keep the other one from coming up, and its receiver is started again and again.
#[test]
fn a_port_without_a_signal_waits_alone() {
    for port in 0..2 {
        let mut bench = Bench::new(10 + port as u64);
        bench.dcmac.signal[port] = false;
        let other = 1 - port;
        bench.until("the other port is up", |bench| bench.is("link_up", other));
        bench.untouched = Some(other);
        let mut restarts = 0;
        let mut before = false;
        for _ in 0..40_000 {
            bench.edge();
            let resets = bench.is("gt_rx_reset", port);
            restarts += u32::from(resets && !before);
            before = resets;
            assert!(
                bench.is("link_up", other)
                    && !bench.is("link_up", port)
                    && !bench.is("gt_rx_reset", other)
            );
            assert_ne!(bench.dcmac.sends(port), "frames");
        }
        assert!(restarts > 3, "{restarts} restarts");
        bench.untouched = None;
        bench.dcmac.signal[port] = true;
        bench.comes_up();
    }
}

/// Alignment comes and goes at one port; the other one is not disturbed.
#[test]
fn a_port_that_loses_its_alignment_begins_again() {
    let mut bench = Bench::new(20);
    bench.comes_up();
    for round in 0..12 {
        let port = round % 2;
        bench.untouched = Some(1 - port);
        bench.dcmac.signal[port] = false;
        bench.until("the port is down and in reset", |bench| {
            !bench.is("link_up", port) && bench.is("mac_reset", port)
        });
        let time = bench.rng.random_range(0..3_000);
        bench.run(time);
        assert!(bench.is("link_up", 1 - port) && !bench.is("mac_reset", 1 - port));
        bench.dcmac.signal[port] = true;
        bench.untouched = None;
        bench.comes_up();
    }
}

#[test]
fn faults_of_the_peer_keep_a_port_down_and_are_answered() {
    let mut bench = Bench::new(30);
    bench.comes_up();
    for port in [0, 1, 0] {
        bench.untouched = Some(1 - port);
        bench.dcmac.remote_fault[port] = true;
        bench.run(SEEN);
        assert_eq!(
            (bench.is("link_up", port), bench.dcmac.sends(port)),
            (false, "idle")
        );
        bench.dcmac.local_fault[port] = true;
        bench.run(SEEN);
        assert_eq!(
            (bench.is("link_up", port), bench.dcmac.sends(port)),
            (false, "faults")
        );
        bench.dcmac.remote_fault[port] = false;
        bench.run(SEEN);
        assert_eq!(
            (bench.is("link_up", port), bench.dcmac.sends(port)),
            (false, "faults")
        );
        bench.dcmac.local_fault[port] = false;
        bench.run(SEEN);
        assert_eq!(
            (bench.is("link_up", port), bench.dcmac.sends(port)),
            (true, "frames")
        );
        assert!(bench.is("link_up", 1 - port) && bench.dut.get("mac_reset") == 0);
    }
}

/// Transmitters that never get ready: no register is accessed. Those that stop later: everything again.
#[test]
fn nothing_starts_without_transmitters() {
    let mut bench = Bench::new(40);
    bench.lock = 1_000_000;
    bench.run(6_000);
    assert_eq!(bench.accesses, 0);
    bench.lock = 60;
    bench.comes_up();
    for port in 0..2 {
        bench.locks_at[port][TX] = bench.cycle + 50;
        bench.until("everything is in reset", |bench| {
            bench.dut.get("mac_reset") == 3
        });
        bench.comes_up();
    }
}

/// An access that fails, or is not answered, begins everything again, wherever it happens.
#[test]
fn errors_and_missing_answers_begin_again() {
    let [mut failed, mut missing] = [0; 2];
    for seed in 0..20 {
        let mut bench = Bench::new(50 + seed);
        (bench.errors, bench.silences) =
            [(40, 0), (0, 40), (80, 80), (200, 200)][seed as usize % 4];
        for _ in 0..12 {
            bench.run(1_500);
            let port = bench.rng.random_range(0..2);
            bench.dcmac.signal[port] = !bench.dcmac.signal[port];
            bench.dcmac.remote_fault[port] = bench.rng.random_ratio(1, 4);
        }
        failed += bench.failed;
        missing += bench.missing;
        (bench.errors, bench.silences) = (0, 0);
        bench.dcmac.signal = [true; 2];
        bench.dcmac.remote_fault = [false; 2];
        bench.comes_up();
    }
    assert!(
        failed > 100 && missing > 100,
        "{failed} failed, {missing} were missing"
    );
}

/// While a port is held, its shim is in reset; frames go only while both sides receive.
#[test]
fn the_shims_hear_what_holds_for_their_port() {
    let mut bench = Bench::new(80);
    bench.comes_up();
    for _ in 0..30 {
        let port = bench.rng.random_range(0..2);
        match bench.rng.random_range(0..3) {
            0 => bench.dcmac.signal[port] = !bench.dcmac.signal[port],
            1 => bench.dcmac.remote_fault[port] = !bench.dcmac.remote_fault[port],
            _ => bench.dcmac.local_fault[port] = !bench.dcmac.local_fault[port],
        }
        for _ in 0..4_000 {
            bench.edge();
            for port in 0..2 {
                let (up, held) = (bench.is("link_up", port), bench.dcmac.is_held(port));
                assert!(
                    !held || bench.is("mac_reset", port),
                    "cycle {}",
                    bench.cycle
                );
                assert!(
                    !up || (!held && bench.dcmac.sends(port) == "frames"),
                    "cycle {}",
                    bench.cycle
                );
            }
        }
    }
}
