//! Measures how fast a model of 1024-bit pipeline stages runs: `cargo run --release -p sim-verilated --example pipeline_speed`.
//!
//! The environment variable `VERILATOR` selects a Verilator, so that versions can be compared. As in a data path, every stage rotates its word, adds
//! in 64-bit lanes, and holds its value under back-pressure.

use std::fmt::Write;
use std::time::Instant;

use sim_verilated::{Model, ModelSpec, Port, Toolchain};

const STAGES: usize = 32;
const CLOCKS: u32 = 500_000;

fn pipeline() -> ModelSpec {
    let mut body = String::new();
    for stage in 0..STAGES {
        let (from, to) = (stage, stage + 1);
        let lanes: Vec<String> = (0..16)
            .rev()
            .map(|lane| {
                let (high, low) = (lane * 64 + 63, lane * 64);
                format!("d{from}[{high}:{low}] + 64'd{}", stage * 16 + lane + 1)
            })
            .collect();
        writeln!(
            body,
            "  reg [1023:0] d{to}; reg v{to};\n  wire [1023:0] sum{to} = {{{}}};\n  \
             always @(posedge clk) if (advance) begin v{to} <= v{from}; d{to} <= {{sum{to}[1015:0], sum{to}[1023:1016]}}; end",
            lanes.join(", ")
        )
        .expect("writing to a string does not fail");
    }
    let verilog = format!(
        "module pipeline(input clk, input advance, input valid, input [1023:0] data, output out_valid, output [1023:0] out_data);\n  \
         wire [1023:0] d0 = data;\n  wire v0 = valid;\n{body}  assign out_valid = v{STAGES};\n  assign out_data = d{STAGES};\nendmodule\n"
    );
    let ports = vec![
        Port::input("clk", 1),
        Port::input("advance", 1),
        Port::input("valid", 1),
        Port::input("data", 1024),
        Port::output("out_valid", 1),
        Port::output("out_data", 1024),
    ];
    ModelSpec::new("pipeline", verilog, ports)
}

/// Returns the simulated clock cycles per second of wall time. The model gets new data, and its output is read, in every cycle.
fn measure(model: &mut Model) -> Result<f64, Box<dyn std::error::Error>> {
    let (clk, data, out) = (
        model.port("clk")?,
        model.port("data")?,
        model.port("out_data")?,
    );
    for input in ["advance", "valid"] {
        let port = model.port(input)?;
        model.set_u64(port, 1);
    }
    let mut words = [0; 32];
    let mut sum = 0u32;
    let start = Instant::now();
    for clock in 0..CLOCKS {
        words.fill(clock);
        model.set(data, &words);
        model.clock(clk);
        sum = sum.wrapping_add(model.get_words(out)[0]);
    }
    let speed = f64::from(CLOCKS) / start.elapsed().as_secs_f64();
    println!("checksum      {sum:08x}");
    Ok(speed)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("verilator     {}", Toolchain::find()?.version());
    let start = Instant::now();
    let library = pipeline().build()?;
    println!(
        "build         {:.1} s (0.0 when cached)",
        start.elapsed().as_secs_f64()
    );
    println!(
        "plain         {:.0} clocks/s",
        measure(&mut library.instantiate())?
    );
    let traced = pipeline().with_trace().build()?;
    println!(
        "trace built   {:.0} clocks/s, no file open",
        measure(&mut traced.instantiate())?
    );
    Ok(())
}
