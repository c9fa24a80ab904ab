//! A recorded run of the demonstration does the same in every simulation mode.

use std::process::Command;

use serde_json::Value;
use sim_verilated::{SimMode, Toolchain};

#[test]
fn every_output_of_every_cycle_is_the_same_in_the_plain_model_and_in_the_fast_one() {
    let output = Command::new(env!("CARGO_BIN_EXE_stellar-cli"))
        .args([
            "bench", "modes", "--bytes", "400001", "--loss", "0.5", "--rto-us", "30",
        ])
        .args(["--seed", "4", "--repeat", "1", "--quick", "--json"])
        .output()
        .expect("the program starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON report");
    let rows = report["rows"].as_array().expect("rows");
    let value = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name);
        let value = row.and_then(|row| row["value"].as_f64());
        value.unwrap_or_else(|| panic!("no {name} in {report}"))
    };
    // The recording has everything that the transmit side does: first packets, SACKs, and packets that are sent again.
    assert!(value("sender: retransmissions") > 0.0, "{report}");
    let on_change = Toolchain::find().expect("tools").runs_on_change();
    for card in ["sender", "receiver"] {
        let cycles = value(&format!("{card}: cycles in which all outputs agree"));
        assert!(cycles > 5_000.0, "{report}");
        let default = if on_change {
            SimMode::OnChange
        } else {
            SimMode::Gated
        };
        for mode in [SimMode::Plain, default] {
            assert!(value(&format!("{card}, {mode}")) > 0.0, "{report}");
        }
    }
}
