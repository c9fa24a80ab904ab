//! Reads the values of rust-hdl literals. Their fields are private, so the values are parsed from the printed form.

use num_bigint::BigUint;
use rust_hdl::core::ast::VerilogLiteral;

/// Returns the value of a literal.
pub fn value(literal: &VerilogLiteral) -> BigUint {
    parse(literal).0
}

/// Returns the value and the printed width of a literal.
pub(crate) fn parse(literal: &VerilogLiteral) -> (BigUint, usize) {
    let text = format!("{literal:x}");
    let (width, digits) = text
        .split_once("'h")
        .expect("rust-hdl prints literals as <width>'h<digits>");
    (
        BigUint::parse_bytes(digits.as_bytes(), 16).expect("hexadecimal digits"),
        width.parse().expect("a decimal width"),
    )
}

/// Returns the value of a literal that is a number of bits.
pub(crate) fn small(literal: &VerilogLiteral) -> usize {
    parse(literal)
        .0
        .to_u32_digits()
        .first()
        .copied()
        .unwrap_or(0) as usize
}

/// Returns a sized Verilog constant.
pub(crate) fn sized(value: &BigUint, width: usize) -> String {
    if width == 1 {
        format!("1'b{value}")
    } else if width <= 8 && value < &BigUint::from(10u32) {
        format!("{width}'d{value}")
    } else {
        format!("{width}'h{value:x}")
    }
}
