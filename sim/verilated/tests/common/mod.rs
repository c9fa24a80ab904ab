//! Models used by several tests.

use sim_verilated::{Model, ModelSpec, Port};

/// A counter that starts at 3; see `counter.v`.
pub fn counter() -> ModelSpec {
    let ports = vec![
        Port::input("clk", 1),
        Port::input("enable", 1),
        Port::input("a__b", 1),
        Port::input("stop_at", 8),
        Port::output("count", 8),
        Port::output("next", 8),
    ];
    ModelSpec::new("counter", include_str!("../verilog/counter.v"), ports)
}

/// Runs `cycles` clock cycles with the counter enabled, and returns the count.
pub fn count(model: &mut Model, cycles: usize) -> u64 {
    let clk = model.port("clk").unwrap();
    let enable = model.port("enable").unwrap();
    model.set_u64(enable, 1);
    for _ in 0..cycles {
        model.clock(clk);
    }
    model.get_u64(model.port("count").unwrap())
}
