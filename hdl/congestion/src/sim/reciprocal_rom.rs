//! When the edge matters to a [`ReciprocalRom`](crate::ReciprocalRom).

use hdl_primitives::sim::Gated;

/// The initial value of the output is not an entry of the table, so the first edge always matters.
pub(crate) fn reciprocal_rom() -> Gated {
    let text = "reg [7:0] gate_mantissa = 0; reg gate_begun = 0;\n\
                always @(edge clock) begin gate_mantissa <= mantissa; gate_begun <= 1; end\n\
                assign gate_active = !gate_begun || mantissa != gate_mantissa;\n";
    Gated::Beside(text.into())
}
