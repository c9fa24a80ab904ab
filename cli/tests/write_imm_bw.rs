//! `write_imm_bw` between two Verilated cards.

use std::process::Command;

#[test]
fn every_immediate_is_counted_at_the_receiver() {
    let output = Command::new(env!("CARGO_BIN_EXE_stellar-cli"))
        .args(["write_imm_bw", "--sim", "--size", "600", "--iters", "24"])
        .args(["--qp", "2", "--tx-depth", "20", "--cq-mod", "3"])
        .output()
        .expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let table = String::from_utf8_lossy(&output.stdout);
    let has = |line: &str| table.lines().any(|found| found.contains(line));
    assert!(has("RDMA_Write_with_imm BW Test"), "{table}");
    assert!(has("48 counted at the receiver"), "{table}");
    // Bytes, messages of all queue pairs, two bandwidths, a rate.
    let row = table.lines().find(|line| line.starts_with(" 600 "));
    let row: Vec<f64> = row
        .expect("a row")
        .split_whitespace()
        .map(|number| number.parse().expect("a number"))
        .collect();
    assert_eq!((row.len(), row[0], row[1]), (5, 600.0, 48.0));
    let (peak, average, rate) = (row[2], row[3], row[4]);
    assert!(peak >= average && average > 0.0, "{table}");
    let bandwidth = rate * 1e6 * 600.0 / f64::from(1 << 20);
    assert!((bandwidth / average - 1.0).abs() < 0.01, "{table}");
}
