//! When the edge matters to a [`DspMultiply`](crate::DspMultiply).

use hdl_primitives::sim::Gated;

/// Returns the gated text of a multiplier of operands with `a_bits` and `b_bits`.
pub(crate) fn dsp_multiply(a_bits: usize, b_bits: usize) -> Gated {
    Gated::Beside(format!(
        "assign gate_active = left != a || right != b || product != {{{b_bits}'d0, left}} * {{{a_bits}'d0, right}};\n"
    ))
}
