//! `FenceControl` against sets of uses by epoch, with random uses and random stalls.

use hdl_nic::fence_control::SETTLE;
use hdl_nic::fence_epochs::{BEGINS, ENDS};
use hdl_nic::FenceControl;
use hdl_testkit::equivalence::check;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::fence::EpochEnd;

/// Uses that may be under way: more than the card ever has.
const MOST: usize = 3_000;

/// A use: its epoch, and whether it hangs until the run lets it go.
#[derive(Clone, Copy, Debug)]
struct Use {
    epoch: bool,
    hangs: bool,
}

#[derive(Default)]
struct Report {
    fences: u64,
    most_uses: usize,
    /// Fences whose receive direction was done before the old uses, and after them.
    by_uses: u64,
    by_receive: u64,
}

/// Runs fences beside uses, of which all sources together begin 5/16 * `busy` in a cycle; one use in `hanging` hangs until 500 cycles have passed since its fence.
fn run(seed: u64, clocks: u64, busy: u32, hanging: u32) -> Report {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut dut = Dut::new::<FenceControl>();
    dut.reset(1);
    let mut report = Report::default();
    let mut uses: Vec<Use> = vec![];
    // Epoch, accepted fence, cycles since, and what the receive direction has done.
    let (mut epoch, mut since) = (false, None::<u64>);
    let (mut asked, mut received, mut received_at) = (false, false, 0);
    // Cycle from which on nothing of the old epoch was left.
    let mut clear_at = None;
    // Whether a failure waits, and the cycle from which on none did.
    let (mut fails, mut quiet_at) = (false, 0);
    for clock in 0..clocks {
        assert_eq!(dut.is("epoch"), epoch, "clock {clock}");
        let offers = rng.random_ratio(1, 40);
        let ready = rng.random_ratio(1, 4);
        let done = asked && !received && rng.random_ratio(1, 200);
        dut.set("fence_valid", offers.into());
        dut.set("receive_ready", ready.into());
        dut.set("receive_done", done.into());

        let changes = rng.random_ratio(1, if fails { 20 } else { 60 });
        fails ^= changes;
        dut.set("failures_wait", fails.into());

        // uses begin and end
        let mut begun = 0;
        for source in 0..BEGINS {
            if uses.len() < MOST && rng.random_ratio(5 * busy, 16 * BEGINS as u32) {
                begun |= 1 << source;
            }
        }
        dut.set("begun", begun);
        for source in 0..ENDS {
            let at = (!uses.is_empty()).then(|| rng.random_range(0..uses.len()));
            let may = |one: Use| !one.hangs || since.is_some_and(|since| since > 500);
            // All sources together end 2.5 in a cycle, unless they hang.
            let ends = rng.random_ratio(40, 16 * ENDS as u32);
            let at = at.filter(|&at| may(uses[at]) && ends);
            let end = at.map(|at| uses.swap_remove(at));
            dut.set_record(
                &format!("ended{source}"),
                EpochEnd {
                    valid: end.is_some(),
                    epoch: end.map_or_else(|| rng.random(), |one| one.epoch),
                },
            );
        }
        for _ in 0..begun.count_ones() {
            let hangs = rng.random_ratio(1, hanging);
            uses.push(Use { epoch, hangs });
        }
        report.most_uses = report.most_uses.max(uses.len());

        dut.eval();
        let accepts = dut.is("fence_ready");
        assert_eq!(
            accepts,
            since.is_none(),
            "clock {clock}: one fence at a time"
        );
        let asks = dut.is("receive_valid");
        assert!(!asks || (since.is_some_and(|since| since > SETTLE) && !asked));
        let ends = dut.is("done");
        let waits = dut.is("waits");
        assert!(!waits || (asked && !ends), "clock {clock}: no fence waits");
        let hangs = uses.iter().any(|one| one.epoch != epoch && one.hangs);
        assert!(waits || !asked || !hangs || since.is_none_or(|since| since > 500));
        if ends {
            assert!(clock >= quiet_at + SETTLE, "clock {clock}: failures wait");
            assert!(asked && (received || done), "clock {clock}: not received");
            let old = uses.iter().filter(|one| one.epoch != epoch).count();
            assert_eq!(old, 0, "clock {clock}: done with old uses");
        }
        let is_clear = !uses.iter().any(|one| one.epoch != epoch);
        if asked && is_clear {
            clear_at.get_or_insert(clock);
        }
        // It takes no longer than needed: two cycles for the count, one to see it, and the time without failures.
        if let (Some(clear), true) = (clear_at, received) {
            let due = clear.max(received_at).max(quiet_at) + SETTLE + 4;
            assert!(ends || clock < due, "clock {clock}: late");
        }

        // what the cycle changed
        if fails {
            quiet_at = clock + 1;
        }
        if ends {
            report.fences += 1;
            match clear_at {
                Some(clear) if clear + 3 < received_at => report.by_receive += 1,
                _ => report.by_uses += 1,
            }
            (since, asked, received, clear_at) = (None, false, false, None);
        } else if accepts && offers {
            since = Some(0);
        } else if let Some(since) = &mut since {
            if *since == SETTLE {
                epoch = !epoch;
            }
            *since += 1;
            if done {
                (received, received_at) = (true, clock);
            }
            asked |= asks && ready;
        }
        dut.clock();
    }
    report
}

#[test]
fn a_fence_waits_for_everything_that_began_before_it_and_for_nothing_else() {
    let mut total = Report::default();
    // With thousands of uses it takes long until the last old one ends.
    for (seed, busy, hanging, fences) in [
        (1, 7, u32::MAX, 31),
        (2, 9, 400, 5),
        (3, 4, 40, 31),
        (4, 1, 4, 31),
    ] {
        let report = run(seed, 60_000, busy, hanging);
        assert!(
            report.fences >= fences,
            "seed {seed}: {} fences",
            report.fences
        );
        total.fences += report.fences;
        total.by_uses += report.by_uses;
        total.by_receive += report.by_receive;
        total.most_uses = total.most_uses.max(report.most_uses);
    }
    assert!(total.by_uses > 50 && total.by_receive > 50);
    assert!(total.most_uses > 1_000, "{}", total.most_uses);
}

#[test]
fn fence_control_is_its_verilog() {
    let mut open = [0_u32; 2];
    let mut epoch = false;
    check(
        FenceControl::default,
        Some(|u| &mut u.clock),
        move |uut, rng| {
            // The assertion about the counts holds, so uses end after they began.
            let now = uut.epoch.val();
            if now != epoch {
                epoch = now;
            }
            uut.reset.next = false;
            uut.fence.valid.next = rng.random_ratio(1, 8);
            uut.receive.ready.next = rng.random();
            uut.receive_done.next = rng.random_ratio(1, 8);
            uut.failures_wait.next = rng.random_ratio(1, 40);
            for source in 0..ENDS {
                let of = rng.random::<bool>();
                let valid = open[usize::from(of)] > 0 && rng.random_ratio(1, 3);
                open[usize::from(of)] -= u32::from(valid);
                uut.ended[source].next = EpochEnd { valid, epoch: of };
            }
            let begun = rng.random_range(0..1_u64 << BEGINS);
            open[usize::from(epoch)] += begun.count_ones();
            uut.begun.next = begun.to_bits();
        },
        2_000,
        1,
    )
    .unwrap();
}
