// The completer between AMD's PCIe block and two BARs: memory of 8 KiB in BAR0, and BAR2, which only takes writes.
module completer_axis (
  input wire user_clk,
  input wire user_reset,
  input wire [511:0] m_axis_cq_tdata,
  input wire [15:0] m_axis_cq_tkeep,
  input wire m_axis_cq_tlast,
  input wire [182:0] m_axis_cq_tuser,
  input wire m_axis_cq_tvalid,
  output wire m_axis_cq_tready,
  output wire [511:0] s_axis_cc_tdata,
  output wire [15:0] s_axis_cc_tkeep,
  output wire s_axis_cc_tlast,
  output wire [80:0] s_axis_cc_tuser,
  output wire s_axis_cc_tvalid,
  input wire s_axis_cc_tready,
  // Words written to BAR2, with the byte enables of the last one.
  output reg [15:0] doorbells,
  output reg [7:0] doorbell_enable,
  output reg [15:0] refused_count
);
  wire access_valid, refused;
  // `BarAccess`.
  wire [103:0] access;
  wire write = access[0];
  wire [2:0] bar = access[3:1];
  wire [9:0] row = access[16:7];
  wire [63:0] data = access[95:32];
  wire [7:0] enable = access[103:96];
  reg word_valid = 1'b0;
  reg [63:0] word_data;
  reg word_unsupported;
  reg [63:0] memory [0:1023];
  integer i;
  initial for (i = 0; i < 1024; i = i + 1) memory[i] = 64'd0;
  always @(posedge user_clk) begin
    word_valid <= access_valid & !write;
    word_data <= memory[row];
    word_unsupported <= bar != 3'd0;
    if (access_valid & write & (bar == 3'd0))
      for (i = 0; i < 8; i = i + 1) if (enable[i]) memory[row][8 * i +: 8] <= data[8 * i +: 8];
    if (user_reset) begin
      doorbells <= 16'd0;
      refused_count <= 16'd0;
    end else begin
      if (access_valid & write & (bar == 3'd2)) begin
        doorbells <= doorbells + 16'd1;
        doorbell_enable <= enable;
      end
      if (refused) refused_count <= refused_count + 16'd1;
    end
  end
  completer_512_16_183_96_81 completer (
    .clock(user_clk),
    .reset(user_reset),
    .cq_tvalid(m_axis_cq_tvalid),
    .cq_tready(m_axis_cq_tready),
    .cq_tdata(m_axis_cq_tdata),
    .cq_tkeep(m_axis_cq_tkeep),
    .cq_tlast(m_axis_cq_tlast),
    .cq_tuser(m_axis_cq_tuser),
    .cc_tvalid(s_axis_cc_tvalid),
    .cc_tready(s_axis_cc_tready),
    .cc_tdata(s_axis_cc_tdata),
    .cc_tkeep(s_axis_cc_tkeep),
    .cc_tlast(s_axis_cc_tlast),
    .cc_tuser(s_axis_cc_tuser),
    .access_valid(access_valid),
    .access(access),
    .access_ready(1'b1),
    .word_valid(word_valid),
    .word_data(word_data),
    .word_unsupported(word_unsupported),
    .messages(4'b0),
    .messages_left(3'b0),
    .refused(refused),
    .damaged()
  );
endmodule
