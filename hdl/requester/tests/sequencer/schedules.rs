//! The queue pairs to schedule, between the sequencer and the schedules.

use hdl_requester::ScheduleBoth;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Queue pairs, in order, with their pages.
type Seen = Vec<(u64, u64)>;

/// The schedules are ready in `ready` eighths of the cycles, each on its own. Returns what went in, what left at each port, and the number of cycles in which something left
/// later than it came.
fn run(ready: u32, cycles: u32) -> (Seen, [Seen; 2], u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(ready.into());
    let mut dut = Dut::new::<ScheduleBoth>();
    dut.reset(2);
    let (mut entered, mut left, mut late) = (vec![], [vec![], vec![]], 0);
    for _ in 0..cycles {
        let offer = (rng.random_range(0..1024), rng.random_range(0..65_536));
        let valid = rng.random_bool(0.5);
        dut.set("in_valid", valid.into());
        dut.set("in_qp", offer.0);
        dut.set("in_page", offer.1);
        dut.eval();
        let accepted = dut.get("in_ready") != 0;
        let readies = [0; 2].map(|_| rng.random_ratio(ready, 8));
        for (port, ready) in readies.into_iter().enumerate() {
            dut.set(&format!("out{port}_ready"), ready.into());
        }
        dut.eval();
        assert_eq!(dut.get("in_ready") != 0, accepted, "ready is no register");
        if valid && accepted {
            entered.push(offer);
        }
        for (port, ready) in readies.into_iter().enumerate() {
            if ready && dut.get(&format!("out{port}_valid")) != 0 {
                let [qp, page] = ["qp", "page"].map(|field| dut.get(&format!("out{port}_{field}")));
                left[port].push((qp, page));
                late += u32::from(!(valid && accepted));
            }
        }
        dut.clock();
    }
    (entered, left, late)
}

#[test]
fn each_queue_pair_leaves_once_at_each_port_in_order_and_at_once_if_nothing_waits() {
    for ready in [1, 5, 8] {
        let (entered, left, late) = run(ready, 2_000);
        assert!(entered.len() > 100);
        assert_eq!(late == 0, ready == 8);
        for left in left {
            // The last one may still wait.
            assert!(left.len() + 1 >= entered.len());
            assert_eq!(left, entered[..left.len()]);
        }
    }
}
