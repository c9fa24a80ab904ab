//! The gated text of a [`ByteRam`](crate::read::ByteRam). It writes a whole word or nothing if the lanes allow this. From the hardware's text,
//! Verilator would generate a condition per lane and cycle.

use hdl_primitives::sim::ram::gated_read;
use hdl_primitives::sim::Gated;

/// Returns the gated text of a memory with 2^`address_bits` words of `lanes` bytes.
pub(crate) fn byte_ram(lanes: usize, address_bits: usize) -> Gated {
    let (width, depth) = (8 * lanes, 1 << address_bits);
    let text = format!(
        "(* ram_style = \"block\" *) reg [{top}:0] memory [0:{last}];
`ifndef SYNTHESIS
integer i;
initial for (i = 0; i < {depth}; i = i + 1) memory[i] = {width}'d0;
`endif
initial read_data = {width}'d0;
integer lane;
always @(edge clock) begin
  read_data <= memory[read_address];
  if (&write_lanes) memory[write_address] = write_data;
  else if (|write_lanes)
    for (lane = 0; lane < {lanes}; lane = lane + 1)
      if (write_lanes[lane]) memory[write_address][8*lane +: 8] = write_data[8*lane +: 8];
end
",
        top = width - 1,
        last = depth - 1,
    );
    Gated::Instead(text + &gated_read(1, address_bits, "(|write_lanes)"))
}
