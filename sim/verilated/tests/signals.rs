//! Tests of signals inside a model, and of models that stop.

use sim_verilated::{ModelSpec, Port, Signal, SignalKind};

const NESTED: &str = "
module leaf #(parameter STEP = 1) (input clk, output reg [7:0] count);
  reg [7:0] history [0:3];
  real ratio;
  initial count = 0;
  always @(posedge clk) begin count <= count + STEP; history[count[1:0]] <= count; ratio <= 1.5; end
endmodule
module nested(input clk, input [99:0] d, output [7:0] low, output [7:0] high, output [99:0] q);
  reg [99:0] held; reg [1:0] grid [0:1][0:1];
  always @(posedge clk) begin held <= d; grid[0][1] <= d[1:0]; if (d == 99) $finish; end
  assign q = held;
  genvar g;
  generate for (g = 0; g < 2; g = g + 1) begin : gen
    wire [7:0] value;
    leaf #(.STEP(g + 1)) u_leaf(.clk(clk), .count(value));
  end endgenerate
  assign low = gen[0].value, high = gen[1].value;
endmodule";

fn spec() -> ModelSpec {
    let ports = vec![Port::input("clk", 1), Port::input("d", 100)];
    ModelSpec::new("nested", NESTED, ports).with_signals()
}

/// Whichever instance the thread has evaluated last.
#[test]
fn an_instance_that_ends_takes_only_its_own_scopes_with_it() {
    let library = spec().build().unwrap();
    let (first, mut second) = (library.instantiate(), library.instantiate());
    second.eval();
    let before = second.signals().0;
    drop(first);
    assert!(before.len() > 1, "{before:?}");
    assert_eq!(second.signals().0, before);
}

#[test]
fn internal_signals_are_found_read_and_overwritten() {
    let mut model = spec().build().unwrap().instantiate();
    let (scopes, signals) = model.signals();
    for scope in ["TOP", "nested", "nested.gen[1]", "nested.gen[1].u_leaf"] {
        assert!(scopes.iter().any(|s| s == scope), "{scope} in {scopes:?}");
    }
    let find = |scope: &str, name: &str| -> Signal {
        let found = signals.iter().find(|s| s.scope == scope && s.name == name);
        found.unwrap_or_else(|| panic!("{scope}.{name}")).clone()
    };
    let clk = model.port("clk").unwrap();
    let d = model.port("d").unwrap();
    model.set(d, &[1, 2, 3, 4]);
    for _ in 0..3 {
        model.clock(clk);
    }
    let held = find("nested", "held");
    assert_eq!((held.range, held.array), (Some((99, 0)), None));
    assert_eq!(&*model.get_words(held.element(0)), [1, 2, 3, 4]);
    let count = find("nested.gen[1].u_leaf", "count").element(0);
    assert_eq!(model.get_u64(count), 6);
    model.overwrite(count, &[100]);
    model.clock(clk);
    assert_eq!(model.get_u64(count), 102);
    let history = find("nested.gen[1].u_leaf", "history");
    assert_eq!(history.elements(), 4);
    let values: Vec<u64> = (0..4).map(|i| model.get_u64(history.element(i))).collect();
    assert_eq!(values, [100, 0, 2, 0]);
    let ratio = find("nested.gen[0].u_leaf", "ratio");
    assert_eq!(ratio.kind, SignalKind::Real);
    assert_eq!(f64::from_bits(model.get_u64(ratio.element(0))), 1.5);
    let step = find("nested.gen[1].u_leaf", "STEP");
    assert!(step.constant);
    assert_eq!(model.get_u64(step.element(0)), 2);
    assert!(!signals.iter().any(|s| s.name == "grid"));
}

#[test]
fn a_model_without_signals_lists_none() {
    let mut plain = spec();
    plain.signals = false;
    let (scopes, signals) = plain.build().unwrap().instantiate().signals();
    assert!(scopes.is_empty() && signals.is_empty());
}

#[test]
fn finish_is_reported_with_its_place() {
    let mut model = spec().build().unwrap().instantiate();
    let (clk, d) = (model.port("clk").unwrap(), model.port("d").unwrap());
    model.set_u64(d, 99);
    model.eval_to(5).unwrap();
    model.set_u64(clk, 1);
    let stopped = model.eval_to(10).unwrap_err().to_string();
    assert!(
        stopped.contains("nested.v") && stopped.contains("$finish"),
        "{stopped}"
    );
    assert_eq!(model.time_ps(), 10);
}
