//! Byte masks for gated models. They expand the mask bits of four byte lanes at once. Verilator would evaluate the hardware's text bit by bit.

use std::fmt::Write;

use super::Gated;

/// Assigns a beat to `masked`. Byte lanes that are not set in `lanes` become 0. `words` are the 32-bit groups of the beat, lowest first. Most beats have all
/// lanes, and are only copied.
pub(crate) fn byte_mask(words: &[String]) -> Gated {
    let mut text = String::new();
    for group in 0..words.len() {
        let (top, low) = (4 * group + 3, 4 * group);
        // This multiplication puts each lane's bit at the lowest bit of its byte. The subtraction below extends it to the whole byte.
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
    let whole: Vec<&str> = words.iter().rev().map(String::as_str).collect();
    let _ = writeln!(
        text,
        "assign masked = (&lanes) ? {{{}}} : {{{}}};",
        whole.join(", "),
        groups.join(", ")
    );
    Gated::Instead(text)
}
