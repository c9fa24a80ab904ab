//! Tests of instances, time, and models that stop themselves.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::thread;

use sim_verilated::{ModelSpec, Port, DEFAULT_CLOCK_PERIOD_PS};

use crate::common::{count, counter};

#[test]
fn instances_are_independent_and_outlive_their_library() {
    let library = counter().build().unwrap();
    let mut first = library.instantiate();
    let mut second = library.instantiate();
    drop(library);
    assert_eq!(count(&mut first, 5), 8);
    assert_eq!(count(&mut second, 1), 4);
    assert_eq!(count(&mut first, 1), 9);
    drop(first);
    assert_eq!(count(&mut second, 1), 5);
}

#[test]
fn instances_run_on_threads_of_their_own() {
    let library = counter().build().unwrap();
    let runs: Vec<_> = (1..=4)
        .map(|cycles| {
            let mut model = library.instantiate();
            thread::spawn(move || count(&mut model, cycles * 10))
        })
        .collect();
    let counts: Vec<u64> = runs.into_iter().map(|run| run.join().unwrap()).collect();
    assert_eq!(counts, [13, 23, 33, 43]);
}

#[test]
fn outputs_are_settled_from_the_start_and_follow_inputs_on_eval() {
    let mut model = counter().build().unwrap().instantiate();
    let next = model.port("next").unwrap();
    assert_eq!(model.get_u64(next), 3, "the initial block has run");
    let escaped = model.port("a__b").unwrap();
    model.set_u64(escaped, 1);
    assert_eq!(model.get_u64(next), 3);
    model.eval();
    assert_eq!(model.get_u64(next), 4);
}

#[test]
fn cycles_and_time_advance_with_the_clock_only() {
    let mut model = counter().build().unwrap().instantiate();
    let clk = model.port("clk").unwrap();
    model.eval();
    assert_eq!((model.cycles(), model.time_ps()), (0, 0));
    model.clock(clk);
    model.set_clock_period_ps(1_000);
    model.clock(clk);
    assert_eq!(model.cycles(), 2);
    assert_eq!(model.time_ps(), DEFAULT_CLOCK_PERIOD_PS + 1_000);
}

#[test]
fn a_verilog_stop_panics_with_its_place_and_spares_other_instances() {
    let library = counter().build().unwrap();
    let mut stopping = library.instantiate();
    let mut other = library.instantiate();
    let stop_at = stopping.port("stop_at").unwrap();
    stopping.set_u64(stop_at, 6);
    let panic = catch_unwind(AssertUnwindSafe(|| count(&mut stopping, 10))).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("counter.v:14"), "{message}");
    assert!(message.contains("cycle 2"), "{message}");
    assert_eq!(count(&mut other, 10), 13);
}

#[test]
fn combinational_logic_that_does_not_settle_panics() {
    let ports = vec![Port::input("go", 1), Port::output("out", 1)];
    let verilog =
        "module ring(input go, output out);\n  wire a = go & ~out;\n  assign out = a;\nendmodule\n";
    let mut model = ModelSpec::new("ring", verilog, ports)
        .build()
        .unwrap()
        .instantiate();
    let go = model.port("go").unwrap();
    model.set_u64(go, 1);
    let panic = catch_unwind(AssertUnwindSafe(|| model.eval())).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("did not converge"), "{message}");
}

#[test]
fn a_plus_argument_reaches_its_instance_alone() {
    let verilog = "module asks(input clk, output reg found);
        always @(posedge clk) found <= $test$plusargs(\"wanted\") != 0;
    endmodule";
    let ports = vec![Port::input("clk", 1), Port::output("found", 1)];
    let library = ModelSpec::new("asks", verilog, ports).for_short_run();
    let library = library.build().unwrap();
    let (mut told, mut other) = (library.instantiate(), library.instantiate());
    told.plus_argument("wanted");
    let (clk, found) = (told.port("clk").unwrap(), told.port("found").unwrap());
    told.clock(clk);
    other.clock(clk);
    assert_eq!((told.get_u64(found), other.get_u64(found)), (1, 0));
}
