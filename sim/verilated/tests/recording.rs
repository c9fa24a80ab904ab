//! Tests of recorded runs that are played into other models.

use sim_verilated::recording::{compare, time, Difference, Recording, TIMED_CYCLES};
use sim_verilated::{Library, ModelSpec, Port};

use crate::common::{count, counter};

/// Records `cycles` in which the counter is enabled in two of three cycles.
fn record(cycles: usize) -> Recording {
    let mut model = counter().build().unwrap().instantiate();
    let [clk, enable, stop_at] = ["clk", "enable", "stop_at"].map(|name| model.port(name).unwrap());
    model.start_recording(clk);
    model.set_u64(stop_at, 250);
    for cycle in 0..cycles {
        model.set_u64(enable, u64::from(cycle % 3 > 0));
        model.clock(clk);
    }
    model.take_recording().unwrap()
}

/// Builds the counter, and a variant in which the Verilog text `from` is replaced by `to`.
fn models(from: &str, to: &str) -> [Library; 2] {
    let mut changed = counter();
    changed.verilog = changed.verilog.replace(from, to);
    [counter(), changed].map(|spec| spec.build().unwrap())
}

fn played(recording: &Recording, libraries: &[Library; 2]) -> Result<(), Difference> {
    let mut models = libraries.each_ref().map(Library::instantiate);
    let [first, second] = &mut models;
    compare(recording, &mut [first, second])
}

#[test]
fn models_that_do_the_same_agree() {
    let recording = record(60);
    assert_eq!(recording.cycles(), 60);
    let libraries = models("counter", "counter");
    played(&recording, &libraries).unwrap();
    // Playing the recording brought the model into the same state as the recorded one.
    let mut model = libraries[0].instantiate();
    compare(&recording, &mut [&mut model]).unwrap();
    assert_eq!(model.get_u64(model.port("count").unwrap()), 3 + 40);
    assert_eq!(count(&mut model, 2), 3 + 40 + 2);
}

#[test]
fn the_first_difference_is_named() {
    let recording = record(60);
    let error = played(&recording, &models("count = 3", "count = 4")).unwrap_err();
    let expected = "cycle 0, before the edge: output `count` of model 1 is 0x00000004, and of model 0 0x00000003";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_model_without_the_ports_of_the_recording_is_refused() {
    let recording = record(2);
    let ports = vec![Port::input("clk", 1), Port::output("q", 1)];
    let text = "module other(input clk, output reg q); always @(posedge clk) q <= !q; endmodule";
    let mut other = ModelSpec::new("other", text, ports)
        .build()
        .unwrap()
        .instantiate();
    let error = compare(&recording, &mut [&mut other]).unwrap_err();
    assert!(error.to_string().contains("no port"), "{error}");
    time(&recording, &mut other, 0).unwrap_err();
}

#[test]
fn whole_thousands_of_cycles_are_timed() {
    let mut model = counter().build().unwrap().instantiate();
    let recording = record_idle(2 * TIMED_CYCLES + 10);
    assert_eq!(time(&recording, &mut model, 10).unwrap().len(), 2);
    assert_eq!(model.cycles(), 2 * TIMED_CYCLES + 10);
    assert_eq!(time(&recording, &mut model, 11).unwrap().len(), 1);
    assert_eq!(model.cycles(), 2 * (2 * TIMED_CYCLES + 10));
}

/// Records `cycles` in which nothing changes.
fn record_idle(cycles: u64) -> Recording {
    let mut model = counter().build().unwrap().instantiate();
    let clk = model.port("clk").unwrap();
    assert!(model.take_recording().is_none(), "nothing is recorded yet");
    model.start_recording(clk);
    for _ in 0..cycles {
        model.clock(clk);
    }
    model.take_recording().unwrap()
}
