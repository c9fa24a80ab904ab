// The end of the transmit lane with AXI4-Stream ports, as a board's MAC has them.
// PACKET_BITS is the width of a `TxPacket`.
module tx_frame_builder_axis #(parameter PACKET_BITS = 1) (
  input wire clk,
  input wire rst,
  // `TxPacket` records; tuser: an acknowledgement.
  input wire [PACKET_BITS-1:0] s_axis_packet_tdata,
  input wire s_axis_packet_tuser,
  input wire s_axis_packet_tvalid,
  output wire s_axis_packet_tready,
  // Payload; tuser: it could not be read.
  input wire [511:0] s_axis_payload_tdata,
  input wire s_axis_payload_tvalid,
  output wire s_axis_payload_tready,
  input wire s_axis_payload_tlast,
  input wire s_axis_payload_tuser,
  // To the MAC.
  output wire [511:0] m_axis_mac_tdata,
  output wire [63:0] m_axis_mac_tkeep,
  output wire m_axis_mac_tvalid,
  input wire m_axis_mac_tready,
  output wire m_axis_mac_tlast,
  output wire left_out,
  output wire payload_mismatch
);
  wire [7:0] mac_bytes;
  // Bytes are contiguous from the lowest.
  assign m_axis_mac_tkeep = ~64'd0 >> (7'd64 - mac_bytes[6:0]);
  // Space for headers: 64 of requests, 16 of acknowledgements.
  reg [6:0] requests;
  reg [4:0] answers;
  wire request_freed, answer_freed;
  assign s_axis_packet_tready = s_axis_packet_tuser ? answers < 5'd16 : requests < 7'd64;
  wire accepted = s_axis_packet_tvalid & s_axis_packet_tready;
  always @(posedge clk)
    if (rst) begin
      requests <= 7'd0;
      answers <= 5'd0;
    end else begin
      requests <= requests + (accepted & ~s_axis_packet_tuser) - request_freed;
      answers <= answers + (accepted & s_axis_packet_tuser) - answer_freed;
    end
  tx_frame_builder_512_64_6_9_10 u_frame_builder (
    .clock(clk),
    .reset(rst),
    .packet_valid(accepted),
    .packet(s_axis_packet_tdata),
    .packet_answers(s_axis_packet_tuser),
    .request_freed(request_freed),
    .answer_freed(answer_freed),
    .payload_valid(s_axis_payload_tvalid),
    .payload_data(s_axis_payload_tdata),
    .payload_last(s_axis_payload_tlast),
    .payload_error(s_axis_payload_tuser),
    .payload_ready(s_axis_payload_tready),
    .mac_valid(m_axis_mac_tvalid),
    .mac_data(m_axis_mac_tdata),
    .mac_bytes(mac_bytes),
    .mac_last(m_axis_mac_tlast),
    .mac_ready(m_axis_mac_tready),
    .left_out(left_out),
    .payload_mismatch(payload_mismatch)
  );
endmodule
