`default_nettype none
// Generated from hdl_verilog::readable::PacketCount
// Counts the packets of a queue.
module packet_count (
  input wire clock,
  // From the parser.
  input wire valid,
  // The packet that was parsed.
  // packet: queue [9:0], header.psn [33:10], header.last [34]
  input wire [34:0] packet,
  // Packets so far.
  output wire [23:0] count,
  // Bits 3 to 0 of the next PSN, for tests.
  output wire [3:0] probe
);
  wire ends;
  wire [23:0] sum;
  wire [23:0] next_psn;
  wire [23:0] psn;
  wire [23:0] sum_1;
  wire [23:0] next_psn_1;
  reg [23:0] counted = 24'h0;
  reg [23:0] counted_next;
  always @(posedge clock) begin
    counted <= counted_next;
  end
  // parse: what the packet is
  assign ends = packet[34] /* header.last */ && (packet[9:6] /* queue[9:6] */ != 4'd0);
  // count: the last packet of a message starts again
  always @(*) begin
    counted_next = counted;
    if (ends) begin
      counted_next = 24'h0;
    end else if (valid) begin
      counted_next = next_psn;
    end
  end
  assign sum = counted + 24'h1;
  assign next_psn = sum;
  // report
  assign count = counted;
  assign psn = packet[33:10] /* header.psn */;
  assign sum_1 = psn + 24'h1;
  assign next_psn_1 = sum_1;
  assign probe = next_psn_1[3:0];
endmodule
`default_nettype wire
