//! The order of callbacks, writes and evaluations.

use proptest::prelude::*;
use sim_kernel::{Action, Advance, Edge, End, Kernel};
use sim_verilated::{Library, ModelSpec, Port, PortId};

const VERILOG: &str =
    "module counter(input clk, input [7:0] step, output reg [7:0] count, output [7:0] next);
  initial count = 0;
  assign next = count + step;
  always @(posedge clk) count <= next;
endmodule";

fn library() -> Library {
    let ports = vec![
        Port::input("clk", 1),
        Port::input("step", 8),
        Port::output("count", 8),
        Port::output("next", 8),
    ];
    ModelSpec::new("counter", VERILOG, ports).build().unwrap()
}

/// A kernel with a clock of 10 steps that rises at 5, 15, 25 ...
struct Bench {
    kernel: Kernel<&'static str>,
    clk: PortId,
    step: PortId,
    count: PortId,
    next: PortId,
}

fn bench() -> Bench {
    let model = library().instantiate();
    let port = |name: &str| model.port(name).unwrap();
    let (clk, step, count, next) = (port("clk"), port("step"), port("count"), port("next"));
    let mut kernel = Kernel::new(model);
    kernel
        .start_clock(clk, 10, 5, false, Action::Deposit)
        .unwrap();
    Bench {
        kernel,
        clk,
        step,
        count,
        next,
    }
}

impl Bench {
    /// The next callback and its time.
    fn next(&mut self) -> (&'static str, u64) {
        loop {
            match self.kernel.advance(1000) {
                Advance::Call(name) => return (name, self.kernel.now()),
                Advance::Busy => {}
                Advance::Ended(end) => panic!("ended: {end:?}"),
            }
        }
    }

    fn value(&self, signal: PortId) -> u64 {
        self.kernel.model().get_u64(signal)
    }
}

#[test]
fn an_edge_is_seen_before_registers_take_it() {
    let mut b = bench();
    b.kernel.write(b.step, Action::Deposit, &[3]);
    b.kernel.at_change(b.clk, Edge::Rising, "edge");
    assert_eq!(b.next(), ("edge", 5));
    assert_eq!(b.value(b.count), 0, "the register before the edge");
    // The test writes at the edge, so the logic sees the value after it.
    b.kernel.write(b.step, Action::Deposit, &[100]);
    b.kernel.at_read_only("settled");
    assert_eq!(b.next(), ("settled", 5));
    assert_eq!((b.value(b.count), b.value(b.next)), (3, 103));
}

#[test]
fn phases_come_in_order_and_a_change_is_told_once() {
    let mut b = bench();
    b.kernel.after(20, "timer");
    assert_eq!(b.next(), ("timer", 20));
    b.kernel.at_read_only("read only");
    b.kernel.at_read_write("read write");
    b.kernel.at_next_step("next step");
    b.kernel.at_change(b.step, Edge::Any, "change");
    b.kernel.write(b.step, Action::Deposit, &[1]);
    assert_eq!(b.next(), ("change", 20));
    assert_eq!(b.next(), ("read write", 20));
    assert_eq!(b.next(), ("read only", 20));
    assert_eq!(b.next(), ("next step", 25));
    b.kernel.write(b.step, Action::Deposit, &[2]);
    b.kernel.after(100, "later");
    assert_eq!(
        b.next(),
        ("later", 125),
        "the change was not asked for again"
    );
}

#[test]
fn edges_of_the_other_kind_are_passed_over() {
    let mut b = bench();
    b.kernel.at_change(b.clk, Edge::Falling, "fall");
    assert_eq!(b.next(), ("fall", 10));
    b.kernel.at_change(b.count, Edge::Any, "count");
    b.kernel.write(b.step, Action::Deposit, &[1]);
    assert_eq!(b.next(), ("count", 15));
    assert_eq!(b.value(b.count), 1, "after the evaluation that changed it");
}

#[test]
fn cancelled_callbacks_do_not_come() {
    let mut b = bench();
    let keys = [
        b.kernel.after(3, "timer"),
        b.kernel.at_change(b.clk, Edge::Any, "edge"),
        b.kernel.at_read_write("read write"),
    ];
    for key in keys {
        assert!(b.kernel.cancel(key).is_some());
        assert!(b.kernel.cancel(key).is_none());
    }
    b.kernel.after(1000, "end");
    assert_eq!(b.next(), ("end", 1000));
}

#[test]
fn a_forced_register_keeps_its_value_until_released() {
    let mut b = bench();
    b.kernel.write(b.step, Action::Deposit, &[1]);
    b.kernel.after(20, "a");
    b.next();
    b.kernel.write(b.count, Action::Force, &[40]);
    b.kernel.after(30, "b");
    b.next();
    assert_eq!(b.value(b.count), 40);
    b.kernel.write(b.count, Action::Release, &[]);
    b.kernel.after(10, "c");
    b.next();
    assert_eq!(b.value(b.count), 41);
    b.kernel.write(b.step, Action::Force, &[7]);
    b.kernel.write(b.step, Action::Deposit, &[1]);
    b.kernel.after(10, "d");
    b.next();
    assert_eq!(
        b.value(b.count),
        48,
        "a deposit does not change a forced input"
    );
}

#[test]
fn it_ends_when_told_when_nothing_is_left_and_when_the_clock_stops() {
    let mut b = bench();
    b.kernel.stop();
    assert!(matches!(
        b.kernel.advance(10),
        Advance::Ended(End::Requested)
    ));
    let mut kernel: Kernel<()> = Kernel::new(library().instantiate());
    assert!(matches!(
        kernel.advance(10),
        Advance::Ended(End::NoMoreEvents)
    ));
    let clk = kernel.model().port("clk").unwrap();
    let mut kernel: Kernel<()> = Kernel::new(library().instantiate());
    let clock = kernel
        .start_clock(clk, 2, 1, true, Action::Deposit)
        .unwrap();
    assert!(matches!(kernel.advance(10), Advance::Busy));
    kernel.stop_clock(clock);
    assert!(matches!(
        kernel.advance(10),
        Advance::Ended(End::NoMoreEvents)
    ));
    assert!(kernel
        .start_clock(clk, 2, 2, true, Action::Deposit)
        .is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The design sees the same edges however often the kernel is interrupted, with one clock or two.
    #[test]
    fn free_running_equals_stepping(budget in 1u32..20, other in 3u64..30, wait in 1u64..2000) {
        let mut b = bench();
        b.kernel.write(b.step, Action::Deposit, &[1]);
        b.kernel.after(wait, "end");
        let mut busy = 0;
        loop {
            match b.kernel.advance(budget) {
                Advance::Call(_) => break,
                Advance::Busy => busy += 1,
                Advance::Ended(end) => panic!("{end:?}"),
            }
        }
        prop_assert!(busy <= wait / 5 / u64::from(budget) + 1);
        // If the timer ends at the time of an edge, the timer was registered first and ends the run, so that edge does not count.
        let edges = (wait.saturating_sub(6) + 10) / 10 * u64::from(wait > 5);
        prop_assert_eq!(b.value(b.count), edges % 256);
        prop_assert_eq!(b.kernel.now(), wait);

        let mut c = bench();
        c.kernel.write(c.step, Action::Deposit, &[1]);
        // A second clock, on a signal that changes nothing, keeps the kernel from running the first one alone.
        c.kernel.start_clock(c.next, other, 1, false, Action::Deposit).unwrap();
        c.kernel.after(wait, "end");
        c.next();
        prop_assert_eq!(c.value(c.count), edges % 256);
    }
}
