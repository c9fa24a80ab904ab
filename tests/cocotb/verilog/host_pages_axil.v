// BAR0 and BAR2 as AXI4-Lite: registers of the physical function, and doorbell pages.
module host_pages_axil (
  input wire clk,
  input wire rst,
  input wire [15:0] s_axil_bar0_awaddr,
  input wire [2:0] s_axil_bar0_awprot,
  input wire s_axil_bar0_awvalid,
  output wire s_axil_bar0_awready,
  input wire [63:0] s_axil_bar0_wdata,
  input wire [7:0] s_axil_bar0_wstrb,
  input wire s_axil_bar0_wvalid,
  output wire s_axil_bar0_wready,
  output wire [1:0] s_axil_bar0_bresp,
  output reg s_axil_bar0_bvalid,
  input wire s_axil_bar0_bready,
  input wire [15:0] s_axil_bar0_araddr,
  input wire [2:0] s_axil_bar0_arprot,
  input wire s_axil_bar0_arvalid,
  output wire s_axil_bar0_arready,
  output reg [63:0] s_axil_bar0_rdata,
  output wire [1:0] s_axil_bar0_rresp,
  output reg s_axil_bar0_rvalid,
  input wire s_axil_bar0_rready,
  // Pages of 4 KiB: the page is address bits 27:12.
  input wire [27:0] s_axil_bar2_awaddr,
  input wire [2:0] s_axil_bar2_awprot,
  input wire s_axil_bar2_awvalid,
  output wire s_axil_bar2_awready,
  input wire [63:0] s_axil_bar2_wdata,
  input wire [7:0] s_axil_bar2_wstrb,
  input wire s_axil_bar2_wvalid,
  output wire s_axil_bar2_wready,
  output wire [1:0] s_axil_bar2_bresp,
  output reg s_axil_bar2_bvalid,
  input wire s_axil_bar2_bready,
  // What the card around them says and does.
  input wire [1:0] port_up,
  input wire [63:0] interrupt_pending,
  output wire [7:0] counter_select,
  input wire [47:0] counter_value,
  output wire [1046:0] m_axis_table_tdata,
  output wire m_axis_table_tvalid,
  input wire m_axis_table_tready,
  output wire fence_valid,
  input wire fence_ready,
  input wire fence_done,
  input wire owner_valid,
  input wire [9:0] owner_qp,
  input wire owner_present,
  input wire [15:0] owner_page,
  output wire owner_ready,
  output wire doorbell_valid,
  output wire [9:0] doorbell_qp,
  output wire [15:0] doorbell_producer,
  input wire doorbell_ready,
  output wire refused_valid,
  output wire [15:0] refused_page,
  output wire [23:0] refused_qp,
  input wire refused_ready,
  output wire short_write,
  output wire wrong_offset
);
  // One access of a kind at a time: address and data are taken together, the answer follows.
  wire write0 = s_axil_bar0_awvalid & s_axil_bar0_wvalid & !s_axil_bar0_bvalid;
  wire write2 = s_axil_bar2_awvalid & s_axil_bar2_wvalid & !s_axil_bar2_bvalid;
  wire ready2, done0;
  wire [63:0] data0;
  reg reading;
  wire read0 = s_axil_bar0_arvalid & !reading & !s_axil_bar0_rvalid;
  assign s_axil_bar0_awready = write0;
  assign s_axil_bar0_wready = write0;
  assign s_axil_bar0_bresp = 2'b00;
  assign s_axil_bar0_arready = read0;
  assign s_axil_bar0_rresp = 2'b00;
  assign s_axil_bar2_awready = write2 & ready2;
  assign s_axil_bar2_wready = write2 & ready2;
  assign s_axil_bar2_bresp = 2'b00;
  always @(posedge clk) begin
    s_axil_bar0_bvalid <= write0 | (s_axil_bar0_bvalid & !s_axil_bar0_bready);
    s_axil_bar2_bvalid <= (write2 & ready2) | (s_axil_bar2_bvalid & !s_axil_bar2_bready);
    reading <= read0 | (reading & !done0);
    s_axil_bar0_rvalid <= done0 | (s_axil_bar0_rvalid & !s_axil_bar0_rready);
    if (done0) s_axil_bar0_rdata <= data0;
    if (rst) begin
      s_axil_bar0_bvalid <= 1'b0;
      s_axil_bar2_bvalid <= 1'b0;
      s_axil_bar0_rvalid <= 1'b0;
      reading <= 1'b0;
    end
  end

  registers_10_12_19 u_registers (
    .clock(clk),
    .reset(rst),
    .write_valid(write0),
    // A register's address, and the bytes of it.
    .write_address({s_axil_bar0_awaddr[15:3], 3'b000}),
    .write_data(s_axil_bar0_wdata),
    .write_enable(s_axil_bar0_wstrb),
    .read_valid(read0),
    .read_address({s_axil_bar0_araddr[15:3], 3'b000}),
    .read_done(done0),
    .read_data(data0),
    .port_up(port_up),
    .interrupt_pending(interrupt_pending),
    .counter_select(counter_select),
    .counter_value(counter_value),
    .settings_valid(m_axis_table_tvalid),
    .settings(m_axis_table_tdata),
    .settings_ready(m_axis_table_tready),
    .fence_valid(fence_valid),
    .fence_ready(fence_ready),
    .fence_done(fence_done),
    .arm_ready(1'b0)
  );

  doorbells_2_4 u_doorbells (
    .clock(clk),
    .reset(rst),
    .write_valid(write2),
    .write_page(s_axil_bar2_awaddr[27:12]),
    .write_offset(s_axil_bar2_awaddr[11:0]),
    .write_data(s_axil_bar2_wdata),
    .write_enable(s_axil_bar2_wstrb),
    .write_ready(ready2),
    .owner_valid(owner_valid),
    .owner_qp(owner_qp),
    .owner_present(owner_present),
    .owner_page(owner_page),
    .owner_ready(owner_ready),
    .doorbell_valid(doorbell_valid),
    .doorbell_qp(doorbell_qp),
    .doorbell_producer(doorbell_producer),
    .doorbell_ready(doorbell_ready),
    .consumer_ready(1'b1),
    .refused_valid(refused_valid),
    .refused_page(refused_page),
    .refused_qp(refused_qp),
    .refused_ready(refused_ready),
    .pulses_short_write(short_write),
    .pulses_wrong_offset(wrong_offset)
  );
endmodule
