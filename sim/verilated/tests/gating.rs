//! Gated models whose code runs on change, against the same models as Verilator wrote them.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sim_verilated::{Gate, Gating, HeldInputs, Library, Model, ModelSpec, Port, Toolchain};

/// Bits of the output of every design here.
const WIDTH: usize = 160;

/// A model of a design with the ports `clock`, `a`, `o`, and for gating `edge_1`, `active_1`, `edge_2`, `active_2`, `new_a`.
fn spec(design: &str) -> ModelSpec {
    let ports = vec![
        Port::input("clock", 1),
        Port::input("a", 32),
        Port::output("o", WIDTH),
    ];
    let text = format!(
        "module parts(input wire clock, input wire edge_1, input wire edge_2, input wire new_a, input wire [31:0] a,
           output wire active_1, output wire active_2, output wire [{}:0] o);
         reg [31:0] held = 0; always @(edge new_a) held <= a;
         {design}
         endmodule",
        WIDTH - 1
    );
    let gate = |number: u32| Gate {
        clock: format!("edge_{number}"),
        active: format!("active_{number}"),
    };
    let mut spec = ModelSpec::new("parts", text, ports);
    spec.gating = Some(Gating {
        clock: "clock".into(),
        gates: vec![gate(1), gate(2)],
        inputs: vec![HeldInputs {
            ports: vec!["a".into()],
            event: "new_a".into(),
        }],
    });
    spec
}

/// One clock in which `a` is the input; what `o` is before and after the edge.
fn clock(model: &mut Model, a: u32) -> [Vec<u32>; 2] {
    let [clock, input, output] = ["clock", "a", "o"].map(|name| model.port(name).unwrap());
    model.set_u64(input, a.into());
    model.fall(clock);
    let before = model.get_words(output).to_vec();
    model.rise(clock);
    [before, model.get_words(output).to_vec()]
}

/// Whether the code of a model runs on change: only then it knows its blocks.
fn runs_on_change(library: &Library) -> bool {
    let mut model = library.instantiate();
    model.start_profile();
    for a in 0..100 {
        clock(&mut model, a);
    }
    model.profile().is_some()
}

/// Runs `design` as Verilator wrote it, which signals by name make it stay, and with code that runs on change. Returns whether it does.
fn agree(design: &str, verilator_arguments: &[&str]) -> bool {
    let mut spec = spec(design);
    spec.verilator_arguments = verilator_arguments.iter().map(|&a| a.to_owned()).collect();
    let library = |spec: ModelSpec| spec.build().unwrap();
    let (changed, written) = (library(spec.clone()), library(spec.with_signals()));
    // Inputs stay for some clocks, so that parts come to rest.
    let inputs = prop::collection::vec((any::<u32>(), 1..5_usize), 40);
    let config = Config::with_cases(8);
    let agreed = TestRunner::new(config).run(&inputs, |inputs| {
        let mut models = [&changed, &written].map(|library| library.instantiate());
        for (a, clocks) in inputs {
            for _ in 0..clocks {
                let [changed, written] = models.each_mut().map(|model| clock(model, a));
                prop_assert_eq!(changed, written);
            }
        }
        Ok(())
    });
    agreed.unwrap();
    assert!(!runs_on_change(&written));
    runs_on_change(&changed)
}

/// Whether the C++ of this Verilator is known.
fn is_known() -> bool {
    Toolchain::find().unwrap().runs_on_change()
}

#[test]
fn arrays_of_narrow_values() {
    let changed = agree(
        "assign active_1 = 1; assign active_2 = 1;
         reg [31:0] m [0:3]; reg [31:0] n [0:3]; integer i;
         initial for (i = 0; i < 4; i = i + 1) begin m[i] = i; n[i] = 0; end
         always @(edge edge_1) begin m[held[1:0]] <= held; for (i = 0; i < 4; i = i + 1) n[i] <= m[i]; end
         reg [159:0] shifted = 0; always @(edge edge_2) shifted <= {32'd0, m[3], m[2], m[1], m[0]} << held[6:0];
         assign o = shifted ^ {n[3], n[2], n[1], n[0], 32'd0};",
        &[],
    );
    assert_eq!(changed, is_known());
}

#[test]
fn shifts_of_wide_values() {
    let changed = agree(
        "assign active_1 = 1; assign active_2 = 1;
         reg [199:0] q = 200'd1; always @(edge edge_1) q <= {q[166:0], held} ^ {q[7:0], 192'd0};
         wire [199:0] left = q << held[7:0], right = q >> held[15:8];
         wire [199:0] fixed = (q << 37) ^ (q >> 101) ^ (q << 72) ^ (q >> 48) ^ (q << 199) ^ (q >> 160);
         reg [199:0] all = 0; always @(edge edge_2) all <= left ^ right ^ fixed;
         assign o = all[159:0] ^ {120'd0, all[199:160]};",
        &[],
    );
    assert_eq!(changed, is_known());
}

#[test]
fn flags_that_are_something_else_too() {
    let changed = agree(
        "reg [31:0] q = 0, count = 0; always @(edge edge_1) q <= held;
         assign active_1 = q != held; wire differs = q != held;
         wire counts = differs & (held[0] | count[3]);
         assign active_2 = active_1 & (held[0] | count[3]);
         always @(edge edge_2) if (counts) count <= count + 1;
         assign o = {count, q};",
        &[],
    );
    assert_eq!(changed, is_known());
}

#[test]
fn one_block_in_several_functions() {
    let overrides: String = (0..200)
        .map(|i| {
            format!(
                "if (state[7:0] == {i}) x = {{held, {}'d{i}}};\n",
                WIDTH - 32
            )
        })
        .collect();
    let changed = agree(
        &format!(
            "assign active_1 = state != held; assign active_2 = 1;
             reg [31:0] state = 0; always @(edge edge_1) state <= held % 251;
             reg [{}:0] x; always @(*) begin x = {{state, held}}; {overrides} end
             reg [31:0] ticks = 0; always @(edge edge_2) ticks <= ticks + 1;
             assign o = x ^ ticks;",
            WIDTH - 1
        ),
        &["--output-split-cfuncs", "30"],
    );
    assert_eq!(changed, is_known());
}

#[test]
fn memories_with_two_ports_and_registers_that_see_themselves() {
    let changed = agree(
        "assign active_1 = 1; assign active_2 = 1;
         reg [79:0] rows [0:7]; integer i; initial for (i = 0; i < 8; i = i + 1) rows[i] = i;
         always @(edge edge_1) begin
           if (held[0]) rows[held[3:1]] <= {held, held, held[15:0]};
           if (held[4]) rows[held[7:5]] <= ~{48'd0, held};
         end
         reg [79:0] read = 0, sum = 0;
         always @(edge edge_2) begin read <= rows[held[10:8]]; if (held[11]) sum <= sum + read; end
         assign o = {read, sum};",
        &[],
    );
    assert_eq!(changed, is_known());
}

#[test]
fn what_has_effects_is_left_as_it_is() {
    let changed = agree(
        "assign active_1 = 1; assign active_2 = 1;
         reg [63:0] time_of_edge = 0; always @(edge edge_1) time_of_edge <= $time;
         assign o = {held, time_of_edge};",
        &[],
    );
    assert!(!changed);
}
