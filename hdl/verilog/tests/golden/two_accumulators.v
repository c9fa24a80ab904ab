`default_nettype none
// Generated from hdl_verilog::common::Accumulator
// Adds `add` to its sum while `enable` is high.
module accumulator (
  input wire clock,
  input wire [39:0] add,
  input wire enable,
  output wire [39:0] total
);
  reg [39:0] sum = 40'h0;
  reg [39:0] sum_next;
  always @(posedge clock) begin
    sum <= sum_next;
  end
  always @(*) begin
    sum_next = sum;
    if (enable) begin
      sum_next = sum + add;
    end
  end
  assign total = sum;
endmodule
`default_nettype wire

`default_nettype none
// Generated from hdl_verilog::common::TwoAccumulators
// Has two accumulators. The second one adds the total of the first one in cycles in which the first one does not add.
module two_accumulators (
  input wire clock,
  input wire [39:0] add,
  input wire enable,
  output wire [39:0] total
);
  wire [39:0] first_total;
  wire [39:0] second_total;
  accumulator u_first (
    .clock(clock),
    .add(add),
    .enable(enable),
    .total(first_total)
  );
  accumulator u_second (
    .clock(clock),
    .add(first_total),
    .enable(~enable),
    .total(second_total)
  );
  assign total = second_total;
endmodule
`default_nettype wire
