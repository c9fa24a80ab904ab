//! Masks of byte lanes that widen four lanes at a time. Verilator would take the hardware's text bit for bit.

use std::fmt::Write;

use super::Gated;

/// Assigns `words`, the 32-bit groups of a beat from the lowest on, to `masked` in the byte lanes of `lanes`, and 0 in the others.
pub(crate) fn byte_mask(words: &[String]) -> Gated {
    let mut text = String::new();
    for group in 0..words.len() {
        let (top, low) = (4 * group + 3, 4 * group);
        // One bit at the bottom of each byte; below, all bits of these bytes.
        let _ = writeln!(
            text,
            "wire [31:0] spread_{group} = ({{28'b0, lanes[{top}:{low}]}} * 32'h00204081) & 32'h01010101;"
        );
    }
    let groups: Vec<String> = words
        .iter()
        .enumerate()
        .rev()
        .map(|(group, word)| format!("{word} & ((spread_{group} << 8) - spread_{group})"))
        .collect();
    let _ = writeln!(text, "assign masked = {{{}}};", groups.join(", "));
    Gated::Instead(text)
}
