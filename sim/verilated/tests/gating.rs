//! Compares models whose code runs on change with models that have gating alone.

use std::env;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sim_verilated::{
    BuildError, Gate, Gating, HeldInputs, Library, Model, ModelSpec, Port, SimMode, Toolchain,
};

/// Width in bits of the output of every design here.
const WIDTH: usize = 160;

/// Specifies a model of a design with the ports `clock`, `a` and `o`, and the gating ports `edge_1`, `active_1`, `edge_2`, `active_2` and `new_a`.
fn spec(design: &str, mode: SimMode) -> ModelSpec {
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
    let gating = Gating {
        clock: "clock".into(),
        gates: vec![gate(1), gate(2)],
        inputs: vec![HeldInputs {
            ports: vec!["a".into()],
            event: "new_a".into(),
        }],
    };
    ModelSpec::new("parts", text, ports).with_gating(mode, gating)
}

/// Runs one clock cycle with the input `a`. Returns `o` before and after the edge.
fn clock(model: &mut Model, a: u32) -> [Vec<u32>; 2] {
    let [clock, input, output] = ["clock", "a", "o"].map(|name| model.port(name).unwrap());
    model.set_u64(input, a.into());
    model.fall(clock);
    let before = model.get_words(output).to_vec();
    model.rise(clock);
    [before, model.get_words(output).to_vec()]
}

/// Whether the code of a model runs on change. Only such a model has times of its blocks.
fn runs_on_change(library: &Library) -> bool {
    let mut model = library.instantiate();
    model.start_profile();
    for a in 0..100 {
        clock(&mut model, a);
    }
    model.profile().is_some()
}

/// Compares the outputs of `design` with gating alone and with code that runs on change, where the rewriter supports the installed Verilator.
fn agree(design: &str, verilator_arguments: &[&str]) {
    if !Toolchain::find().unwrap().runs_on_change() {
        return;
    }
    let library = |mode| {
        let mut spec = spec(design, mode);
        spec.verilator_arguments = verilator_arguments.iter().map(|&a| a.to_owned()).collect();
        spec.build().unwrap()
    };
    let libraries = [SimMode::OnChange, SimMode::Gated].map(library);
    // Inputs stay for some cycles, so that parts become idle.
    let inputs = prop::collection::vec((any::<u32>(), 1..5_usize), 40);
    let config = Config::with_cases(8);
    let agreed = TestRunner::new(config).run(&inputs, |inputs| {
        let mut models = libraries.each_ref().map(Library::instantiate);
        for (a, clocks) in inputs {
            for _ in 0..clocks {
                let [changed, written] = models.each_mut().map(|model| clock(model, a));
                prop_assert_eq!(changed, written);
            }
        }
        Ok(())
    });
    agreed.unwrap();
    assert_eq!(libraries.each_ref().map(runs_on_change), [true, false]);
}

#[test]
fn arrays_of_narrow_values() {
    agree(
        "assign active_1 = 1; assign active_2 = 1;
         reg [31:0] m [0:3]; reg [31:0] n [0:3]; integer i;
         initial for (i = 0; i < 4; i = i + 1) begin m[i] = i; n[i] = 0; end
         always @(edge edge_1) begin m[held[1:0]] <= held; for (i = 0; i < 4; i = i + 1) n[i] <= m[i]; end
         reg [159:0] shifted = 0; always @(edge edge_2) shifted <= {32'd0, m[3], m[2], m[1], m[0]} << held[6:0];
         assign o = shifted ^ {n[3], n[2], n[1], n[0], 32'd0};",
        &[],
    );
}

#[test]
fn counters_that_are_read_by_their_upper_bits_or_seldom() {
    agree(
        "assign active_1 = 1; assign active_2 = 1;
         reg [39:0] count = 40'hff_ffff_fff0; always @(edge edge_1) count <= count + {38'd0, held[1:0]};
         reg [15:0] now = 16'hfff0; always @(edge edge_1) now <= now + 1;
         wire [15:0] deadline = now + held[31:16];
         reg [31:0] other = 0; reg [15:0] due = 0, old = 0, turns = 0;
         always @(edge edge_2) begin
           other <= held;
           if (held[4]) due <= deadline;
           if (held[5] & other[3]) old <= now;
           if (held[6:5] == 0) turns <= turns + now[15:6];
         end
         wire [38:0] half = held[2] ? count[39:1] : count[39:1] + 39'd5;
         wire [35:0] slow = other[2] ? count[39:4] : count[39:4] - {26'd0, now[15:6]};
         reg [15:0] late; always @(*) begin late = old; if (other[7]) late = now - due; end
         assign o = {held, 5'd0, half ^ due, late, turns, 16'd0, slow};",
        &[],
    );
}

#[test]
fn variables_that_verilator_makes_local() {
    // `room` becomes a local variable with the name of a signal. What sets it stays in one part with what computes the wide value.
    agree(
        "assign active_1 = 1; assign active_2 = 1;
         reg [511:0] wide = 1; reg [31:0] n = 0, m = 5; reg [7:0] room;
         always @(edge edge_1) begin
           n <= n + held;
           m <= held ^ {n[15:0], n[31:16]};
           room = n[7:0] ^ m[15:8];
           if (room[0] | room[3]) wide <= {wide[479:0], held ^ m};
           else wide <= {wide[510:0], room[1] & held[3]};
         end
         reg [31:0] other = 0; always @(edge edge_2) other <= held + n;
         assign o = wide[511:352] ^ {other, n, m, 64'd0} ^ wide[159:0];",
        &[],
    );
}

#[test]
fn shifts_of_wide_values() {
    agree(
        "assign active_1 = 1; assign active_2 = 1;
         reg [199:0] q = 200'd1; always @(edge edge_1) q <= {q[166:0], held} ^ {q[7:0], 192'd0};
         wire [199:0] left = q << held[7:0], right = q >> held[15:8];
         wire [199:0] fixed = (q << 37) ^ (q >> 101) ^ (q << 72) ^ (q >> 48) ^ (q << 199) ^ (q >> 160);
         reg [199:0] all = 0; always @(edge edge_2) all <= left ^ right ^ fixed;
         assign o = all[159:0] ^ {120'd0, all[199:160]};",
        &[],
    );
}

/// By any number of bits, and by bytes, which are copied.
#[test]
fn shifts_of_values_as_wide_as_a_beat() {
    agree(
        "assign active_1 = 1; assign active_2 = 1;
         reg [599:0] q = 600'd1; always @(edge edge_1) q <= {q[566:0], held} ^ {q[7:0], 592'd0};
         wire [599:0] bits = (q << held[9:0]) ^ (q >> held[19:10]);
         wire [599:0] bytes = (q << {held[6:0], 3'd0}) ^ (q >> {held[13:7], 3'd0});
         wire [599:0] fixed = (q << 40) ^ (q >> 128) ^ (q << 592) ^ (q >> 592) ^ (q << 101) ^ (q >> 77);
         reg [599:0] all = 0; always @(edge edge_2) all <= bits ^ bytes ^ fixed;
         assign o = all[159:0] ^ all[319:160] ^ all[479:320] ^ {40'd0, all[599:480]};",
        &[],
    );
}

#[test]
fn flags_that_are_something_else_too() {
    agree(
        "reg [31:0] q = 0, count = 0; always @(edge edge_1) q <= held;
         assign active_1 = q != held; wire differs = q != held;
         wire counts = differs & (held[0] | count[3]);
         assign active_2 = active_1 & (held[0] | count[3]);
         always @(edge edge_2) if (counts) count <= count + 1;
         assign o = {count, q};",
        &[],
    );
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
    agree(
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
}

#[test]
fn memories_with_two_ports_and_registers_that_see_themselves() {
    agree(
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
}

/// A design that the rewriter does not understand.
const READS_TIME: &str = "assign active_1 = 1; assign active_2 = 1;
     reg [63:0] time_of_edge = 0; always @(edge edge_1) time_of_edge <= $time;
     assign o = {held, time_of_edge};";

#[test]
fn equal_instances_share_their_code() {
    // What computes `wide` and `sum` is the same for both. Each follows its own input, and takes from the other one only now and then.
    agree(
        "assign active_1 = 1; assign active_2 = 1;
         wire [63:0] sum_0, sum_1; wire [79:0] out_0, out_1;
         lane u_lane_0(.go(edge_1), .in(held), .other(sum_1), .sum(sum_0), .out(out_0));
         lane u_lane_1(.go(edge_2), .in({held[15:0], held[31:16]}), .other(sum_0), .sum(sum_1), .out(out_1));
         assign o = {out_1, out_0};
         endmodule
         module lane(input wire go, input wire [31:0] in, input wire [63:0] other, output wire [63:0] sum, output wire [79:0] out);
         reg [31:0] now = 0; reg [63:0] total = 0, seen = 0; reg [319:0] wide = 1; reg [15:0] count = 0; reg [31:0] m [0:7]; integer i;
         initial for (i = 0; i < 8; i = i + 1) m[i] = i;
         always @(edge go) begin
           now <= in;
           if (now[0] & now[5]) seen <= other;
           if (now[8]) count <= count + 1;
           if (now[1]) total <= sum;
           if (now[2] ^ now[3]) wide <= {wide[287:0], m[now[6:4]]};
           if (now[7]) m[count[2:0]] <= now ^ seen[31:0];
         end
         assign sum = seen + (now[4] ? {total[31:0], now} : wide[319:256]);
         assign out = {count, sum ^ wide[127:64]};",
        &[],
    );
}

/// Returns the error message when a specification is refused in mode on-change.
fn refusal(spec: &ModelSpec, tools: &Toolchain, cache: &Path) -> String {
    let error = spec.build_with(tools, cache).err().unwrap();
    assert!(matches!(error, BuildError::NotOnChange { .. }), "{error}");
    error.to_string()
}

#[test]
fn what_has_effects_is_refused_on_change() {
    let tools = Toolchain::find().unwrap();
    if !tools.runs_on_change() {
        return;
    }
    let cache = tempfile::tempdir().unwrap();
    let refused = refusal(&spec(READS_TIME, SimMode::OnChange), tools, cache.path());
    let expected = "its C++ has something that is not expected of Verilator 5.006";
    assert!(refused.contains(expected), "{refused}");
    spec(READS_TIME, SimMode::Gated).build().unwrap();
}

/// Returns tools with a script in place of Verilator. The script prints another version and does nothing else.
fn other_verilator() -> Toolchain {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/other_verilator.sh");
    let path = env::var_os("PATH").unwrap();
    Toolchain::with_verilator(Path::new(program), &path).unwrap()
}

#[test]
fn another_version_of_verilator_is_refused_before_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let tools = other_verilator();
    let refused = refusal(&spec(READS_TIME, SimMode::OnChange), &tools, &cache);
    for expected in [
        "5.020",
        "5.006 alone",
        "--sim-mode gated",
        "STELLAR_SIM_MODE=gated",
    ] {
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
    assert!(!cache.exists(), "nothing was built");
}

#[test]
fn waves_and_gating_are_refused_where_they_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let tools = Toolchain::find().unwrap();
    if tools.runs_on_change() {
        let waves = spec(READS_TIME, SimMode::OnChange).with_trace();
        let refused = refusal(&waves, tools, folder.path());
        assert!(refused.contains("waves, coverage"), "{refused}");
    }
    let mut plain = spec(READS_TIME, SimMode::Plain);
    let mut ungated = spec(READS_TIME, SimMode::Gated);
    ungated.gating = None;
    for wrong in [&plain, &ungated] {
        let error = wrong.build().err().unwrap();
        assert!(matches!(error, BuildError::InvalidSpec { .. }), "{error}");
    }
    plain.gating = None;
    plain.build().unwrap();
}
