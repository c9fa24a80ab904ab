// The receive lane with its MAC, TLP and acknowledgement ports as AXI4-Stream, as a board's MAC and PCIe blocks have them.
module rx_lane_axis (
  input wire clk,
  input wire rst,
  // Frames from the MAC. The lane never makes it wait.
  input wire [511:0] s_axis_mac_tdata,
  input wire [63:0] s_axis_mac_tkeep,
  input wire s_axis_mac_tvalid,
  output wire s_axis_mac_tready,
  input wire s_axis_mac_tlast,
  input wire s_axis_mac_tuser,
  // Table writes.
  input wire [195:0] s_axis_table_tdata,
  input wire s_axis_table_tvalid,
  output wire s_axis_table_tready,
  // Payload of memory write TLPs; tuser is the TLP's header, and whether the beat is its first.
  output wire [511:0] m_axis_tlp_tdata,
  output wire m_axis_tlp_tvalid,
  input wire m_axis_tlp_tready,
  output wire m_axis_tlp_tlast,
  output wire [83:0] m_axis_tlp_tuser,
  // Acknowledgement requests, one a beat.
  output wire [239:0] m_axis_ack_tdata,
  output wire m_axis_ack_tvalid,
  input wire m_axis_ack_tready,
  // What became of each frame: index of the drop reason.
  output wire verdict_valid,
  output wire [4:0] verdict_reason,
  input wire [5:0] counter_select,
  output wire [47:0] counter_value
);
  // Lanes kept are contiguous from the lowest: their number is the number of bytes.
  function [7:0] ones(input [63:0] keep);
    integer i;
    begin
      ones = 0;
      for (i = 0; i < 64; i = i + 1) ones = ones + {7'b0, keep[i]};
    end
  endfunction

  wire tlp_first;
  wire [82:0] tlp_header;
  assign s_axis_mac_tready = 1'b1;
  assign m_axis_tlp_tuser = {tlp_first, tlp_header};
  assign m_axis_ack_tdata[239:235] = 5'b0;

  rx_lane_512_6_64 u_lane (
    .clock(clk),
    .reset(rst),
    .mac_valid(s_axis_mac_tvalid),
    .mac_data(s_axis_mac_tdata),
    .mac_bytes(ones(s_axis_mac_tkeep)),
    .mac_last(s_axis_mac_tlast),
    .mac_error(s_axis_mac_tuser),
    .udp_port(16'd4791),
    .mps_code(3'd1),
    .table_valid(s_axis_table_tvalid),
    .table_write(s_axis_table_tdata),
    .table_ready(s_axis_table_tready),
    .fence_valid(1'b0),
    .fence_ready(),
    .fence_done(),
    .ack_valid(m_axis_ack_tvalid),
    .ack_request(m_axis_ack_tdata[234:0]),
    .ack_ready(m_axis_ack_tready),
    .tlp_valid(m_axis_tlp_tvalid),
    .tlp_ready(m_axis_tlp_tready),
    .tlp_data(m_axis_tlp_tdata),
    .tlp_header(tlp_header),
    .tlp_first(tlp_first),
    .tlp_last(m_axis_tlp_tlast),
    .verdict_valid(verdict_valid),
    .verdict_reason(verdict_reason),
    .counter_select(counter_select),
    .counter_value(counter_value)
  );
endmodule
