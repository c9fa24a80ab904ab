// The card of two 200G ports, with what stands between it and AMD's hard blocks on a Versal: CPM5, and one DCMAC with its transceivers.
// `@CARD@` is the card's top module, which the project's generator fills in. Its ports are checked there.
`default_nettype none

module openstellar_200g2 (
  // The first controller of CPM5 (PG346): 1,024 bits, with straddle on RQ and RC. Its user clock is the card's clock.
  (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 user_clk CLK" *)
  (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axis_cq:m_axis_cc:m_axis_rq:s_axis_rc, ASSOCIATED_RESET user_reset" *)
  input wire user_clk,
  (* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 user_reset RST" *)
  (* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_HIGH" *)
  input wire user_reset,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TVALID" *) input wire s_axis_cq_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TREADY" *) output wire s_axis_cq_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TDATA" *) input wire [1023:0] s_axis_cq_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TKEEP" *) input wire [31:0] s_axis_cq_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TLAST" *) input wire s_axis_cq_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TUSER" *) input wire [464:0] s_axis_cq_tuser,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TVALID" *) output wire m_axis_cc_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TREADY" *) input wire m_axis_cc_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TDATA" *) output wire [1023:0] m_axis_cc_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TKEEP" *) output wire [31:0] m_axis_cc_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TLAST" *) output wire m_axis_cc_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TUSER" *) output wire [164:0] m_axis_cc_tuser,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TVALID" *) output wire m_axis_rq_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TREADY" *) input wire m_axis_rq_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TDATA" *) output wire [1023:0] m_axis_rq_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TKEEP" *) output wire [31:0] m_axis_rq_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TLAST" *) output wire m_axis_rq_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TUSER" *) output wire [372:0] m_axis_rq_tuser,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TVALID" *) input wire s_axis_rc_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TREADY" *) output wire s_axis_rc_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TDATA" *) input wire [1023:0] s_axis_rc_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TKEEP" *) input wire [31:0] s_axis_rc_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TLAST" *) input wire s_axis_rc_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TUSER" *) input wire [336:0] s_axis_rc_tuser,

  // Of its function: whether it may send messages, the function mask of MSI-X, and its function-level reset. And whether the link is down.
  input wire msix_enable,
  input wire msix_mask,
  input wire pcie_link_down,
  input wire flr_in_process,
  output wire flr_done,

  // The second controller, on its own user clock. The host only sends messages to it, so it has no CC.
  (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 user_clk1 CLK" *)
  (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axis_cq1:m_axis_rq1:s_axis_rc1, ASSOCIATED_RESET user_reset1" *)
  input wire user_clk1,
  (* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 user_reset1 RST" *)
  (* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_HIGH" *)
  input wire user_reset1,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq1 TVALID" *) input wire s_axis_cq1_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq1 TREADY" *) output wire s_axis_cq1_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq1 TDATA" *) input wire [1023:0] s_axis_cq1_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq1 TKEEP" *) input wire [31:0] s_axis_cq1_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq1 TLAST" *) input wire s_axis_cq1_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq1 TUSER" *) input wire [464:0] s_axis_cq1_tuser,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq1 TVALID" *) output wire m_axis_rq1_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq1 TREADY" *) input wire m_axis_rq1_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq1 TDATA" *) output wire [1023:0] m_axis_rq1_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq1 TKEEP" *) output wire [31:0] m_axis_rq1_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq1 TLAST" *) output wire m_axis_rq1_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq1 TUSER" *) output wire [372:0] m_axis_rq1_tuser,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc1 TVALID" *) input wire s_axis_rc1_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc1 TREADY" *) output wire s_axis_rc1_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc1 TDATA" *) input wire [1023:0] s_axis_rc1_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc1 TKEEP" *) input wire [31:0] s_axis_rc1_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc1 TLAST" *) input wire s_axis_rc1_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc1 TUSER" *) input wire [336:0] s_axis_rc1_tuser,

  input wire pcie_link_down1,
  input wire flr_in_process1,
  output wire flr_done1,

  // The registers of the DCMAC, and its transceivers. This clock never stops.
  (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 reg_clk CLK" *)
  (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF m_axi, ASSOCIATED_RESET reg_reset" *)
  input wire reg_clk,
  (* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 reg_reset RST" *)
  (* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_HIGH" *)
  input wire reg_reset,

  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi AWADDR" *) output wire [31:0] m_axi_awaddr,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi AWVALID" *) output wire m_axi_awvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi AWREADY" *) input wire m_axi_awready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi WDATA" *) output wire [31:0] m_axi_wdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi WVALID" *) output wire m_axi_wvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi WREADY" *) input wire m_axi_wready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi BRESP" *) input wire [1:0] m_axi_bresp,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi BVALID" *) input wire m_axi_bvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi BREADY" *) output wire m_axi_bready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi ARADDR" *) output wire [31:0] m_axi_araddr,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi ARVALID" *) output wire m_axi_arvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi ARREADY" *) input wire m_axi_arready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi RDATA" *) input wire [31:0] m_axi_rdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi RRESP" *) input wire [1:0] m_axi_rresp,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi RVALID" *) input wire m_axi_rvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:aximm:1.0 m_axi RREADY" *) output wire m_axi_rready,
  output wire m_axi_aresetn,
  output wire gt_reset,
  output wire [1:0] gt_rx_reset,
  input wire [1:0] gt_tx_done,
  input wire [1:0] gt_rx_done,

  // The DCMAC (PG369): segments 0 to 3 are those of port 0, which is slot 0, and segments 4 to 7 those of port 1, which is slot 2.
  (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 mac_clk CLK" *)
  input wire mac_clk,
  input wire rx_axis_tvalid_0,
  input wire rx_axis_tvalid_2,
  output wire tx_axis_tvalid_0,
  input wire tx_axis_tready_0,
  output wire tx_axis_tvalid_2,
  input wire tx_axis_tready_2,
  input wire [127:0] rx_axis_tdata0,
  input wire rx_axis_tuser_ena0,
  input wire rx_axis_tuser_sop0,
  input wire rx_axis_tuser_eop0,
  input wire rx_axis_tuser_err0,
  input wire [3:0] rx_axis_tuser_mty0,
  input wire [127:0] rx_axis_tdata1,
  input wire rx_axis_tuser_ena1,
  input wire rx_axis_tuser_sop1,
  input wire rx_axis_tuser_eop1,
  input wire rx_axis_tuser_err1,
  input wire [3:0] rx_axis_tuser_mty1,
  input wire [127:0] rx_axis_tdata2,
  input wire rx_axis_tuser_ena2,
  input wire rx_axis_tuser_sop2,
  input wire rx_axis_tuser_eop2,
  input wire rx_axis_tuser_err2,
  input wire [3:0] rx_axis_tuser_mty2,
  input wire [127:0] rx_axis_tdata3,
  input wire rx_axis_tuser_ena3,
  input wire rx_axis_tuser_sop3,
  input wire rx_axis_tuser_eop3,
  input wire rx_axis_tuser_err3,
  input wire [3:0] rx_axis_tuser_mty3,
  input wire [127:0] rx_axis_tdata4,
  input wire rx_axis_tuser_ena4,
  input wire rx_axis_tuser_sop4,
  input wire rx_axis_tuser_eop4,
  input wire rx_axis_tuser_err4,
  input wire [3:0] rx_axis_tuser_mty4,
  input wire [127:0] rx_axis_tdata5,
  input wire rx_axis_tuser_ena5,
  input wire rx_axis_tuser_sop5,
  input wire rx_axis_tuser_eop5,
  input wire rx_axis_tuser_err5,
  input wire [3:0] rx_axis_tuser_mty5,
  input wire [127:0] rx_axis_tdata6,
  input wire rx_axis_tuser_ena6,
  input wire rx_axis_tuser_sop6,
  input wire rx_axis_tuser_eop6,
  input wire rx_axis_tuser_err6,
  input wire [3:0] rx_axis_tuser_mty6,
  input wire [127:0] rx_axis_tdata7,
  input wire rx_axis_tuser_ena7,
  input wire rx_axis_tuser_sop7,
  input wire rx_axis_tuser_eop7,
  input wire rx_axis_tuser_err7,
  input wire [3:0] rx_axis_tuser_mty7,
  output wire [127:0] tx_axis_tdata0,
  output wire tx_axis_tuser_ena0,
  output wire tx_axis_tuser_sop0,
  output wire tx_axis_tuser_eop0,
  output wire tx_axis_tuser_err0,
  output wire [3:0] tx_axis_tuser_mty0,
  output wire [127:0] tx_axis_tdata1,
  output wire tx_axis_tuser_ena1,
  output wire tx_axis_tuser_sop1,
  output wire tx_axis_tuser_eop1,
  output wire tx_axis_tuser_err1,
  output wire [3:0] tx_axis_tuser_mty1,
  output wire [127:0] tx_axis_tdata2,
  output wire tx_axis_tuser_ena2,
  output wire tx_axis_tuser_sop2,
  output wire tx_axis_tuser_eop2,
  output wire tx_axis_tuser_err2,
  output wire [3:0] tx_axis_tuser_mty2,
  output wire [127:0] tx_axis_tdata3,
  output wire tx_axis_tuser_ena3,
  output wire tx_axis_tuser_sop3,
  output wire tx_axis_tuser_eop3,
  output wire tx_axis_tuser_err3,
  output wire [3:0] tx_axis_tuser_mty3,
  output wire [127:0] tx_axis_tdata4,
  output wire tx_axis_tuser_ena4,
  output wire tx_axis_tuser_sop4,
  output wire tx_axis_tuser_eop4,
  output wire tx_axis_tuser_err4,
  output wire [3:0] tx_axis_tuser_mty4,
  output wire [127:0] tx_axis_tdata5,
  output wire tx_axis_tuser_ena5,
  output wire tx_axis_tuser_sop5,
  output wire tx_axis_tuser_eop5,
  output wire tx_axis_tuser_err5,
  output wire [3:0] tx_axis_tuser_mty5,
  output wire [127:0] tx_axis_tdata6,
  output wire tx_axis_tuser_ena6,
  output wire tx_axis_tuser_sop6,
  output wire tx_axis_tuser_eop6,
  output wire tx_axis_tuser_err6,
  output wire [3:0] tx_axis_tuser_mty6,
  output wire [127:0] tx_axis_tdata7,
  output wire tx_axis_tuser_ena7,
  output wire tx_axis_tuser_sop7,
  output wire tx_axis_tuser_eop7,
  output wire tx_axis_tuser_err7,
  output wire [3:0] tx_axis_tuser_mty7
);
  wire reset;
  wire [1:0] flr;
  wire [1:0] flr_over;
  wire link_down1;
  wire flr1;
  wire [1:0] link_down;
  wire port0_up;
  wire port1_up;
  wire [1:0] port_up;
  wire [1:0] mac_reset;
  wire [1:0] link_up;
  wire cq1_tvalid;
  wire cq1_tready;
  wire [1023:0] cq1_tdata;
  wire [31:0] cq1_tkeep;
  wire cq1_tlast;
  wire [464:0] cq1_tuser;
  wire rq1_tvalid;
  wire rq1_tready;
  wire [1023:0] rq1_tdata;
  wire [31:0] rq1_tkeep;
  wire rq1_tlast;
  wire [372:0] rq1_tuser;
  wire rc1_tvalid;
  wire rc1_tready;
  wire [1023:0] rc1_tdata;
  wire [31:0] rc1_tkeep;
  wire rc1_tlast;
  wire [336:0] rc1_tuser;
  wire rx0_valid;
  wire [1023:0] rx0_data;
  wire [7:0] rx0_bytes;
  wire rx0_last;
  wire rx0_error;
  wire [31:0] rx0_dropped;
  wire tx0_valid;
  wire [1023:0] tx0_data;
  wire [7:0] tx0_bytes;
  wire tx0_last;
  wire tx0_ready;
  wire rx1_valid;
  wire [1023:0] rx1_data;
  wire [7:0] rx1_bytes;
  wire rx1_last;
  wire rx1_error;
  wire [31:0] rx1_dropped;
  wire tx1_valid;
  wire [1023:0] tx1_data;
  wire [7:0] tx1_bytes;
  wire tx1_last;
  wire tx1_ready;

  assign flr = {flr1, flr_in_process};
  assign flr_done = flr_over[0];
  assign link_down = {link_down1, pcie_link_down};
  assign port_up = {port1_up, port0_up};

  @RESET@ u_reset (
    .clock(user_clk),
    .user_reset(user_reset),
    .flr_in_process(flr),
    .flr_done(flr_over),
    .reset(reset)
  );

  @CARD@ u_card (
    .clock(user_clk),
    .reset(reset),
    .port_up(port_up),
    .cq_tvalid(s_axis_cq_tvalid),
    .cq_tready(s_axis_cq_tready),
    .cq_tdata(s_axis_cq_tdata),
    .cq_tkeep(s_axis_cq_tkeep),
    .cq_tlast(s_axis_cq_tlast),
    .cq_tuser(s_axis_cq_tuser),
    .cc_tvalid(m_axis_cc_tvalid),
    .cc_tready(m_axis_cc_tready),
    .cc_tdata(m_axis_cc_tdata),
    .cc_tkeep(m_axis_cc_tkeep),
    .cc_tlast(m_axis_cc_tlast),
    .cc_tuser(m_axis_cc_tuser),
    .cq1_tvalid(cq1_tvalid),
    .cq1_tready(cq1_tready),
    .cq1_tdata(cq1_tdata),
    .cq1_tkeep(cq1_tkeep),
    .cq1_tlast(cq1_tlast),
    .cq1_tuser(cq1_tuser),
    .msix_enable(msix_enable),
    .msix_mask(msix_mask),
    .pcie_link_down(link_down),
    .rx0_valid(rx0_valid),
    .rx0_data(rx0_data),
    .rx0_bytes(rx0_bytes),
    .rx0_last(rx0_last),
    .rx0_error(rx0_error),
    .rx1_valid(rx1_valid),
    .rx1_data(rx1_data),
    .rx1_bytes(rx1_bytes),
    .rx1_last(rx1_last),
    .rx1_error(rx1_error),
    .rx_dropped0(rx0_dropped),
    .rx_dropped1(rx1_dropped),
    .tx0_valid(tx0_valid),
    .tx0_data(tx0_data),
    .tx0_bytes(tx0_bytes),
    .tx0_last(tx0_last),
    .tx0_ready(tx0_ready),
    .tx1_valid(tx1_valid),
    .tx1_data(tx1_data),
    .tx1_bytes(tx1_bytes),
    .tx1_last(tx1_last),
    .tx1_ready(tx1_ready),
    .rq0_tvalid(m_axis_rq_tvalid),
    .rq0_tready(m_axis_rq_tready),
    .rq0_tdata(m_axis_rq_tdata),
    .rq0_tkeep(m_axis_rq_tkeep),
    .rq0_tlast(m_axis_rq_tlast),
    .rq0_tuser(m_axis_rq_tuser),
    .rq1_tvalid(rq1_tvalid),
    .rq1_tready(rq1_tready),
    .rq1_tdata(rq1_tdata),
    .rq1_tkeep(rq1_tkeep),
    .rq1_tlast(rq1_tlast),
    .rq1_tuser(rq1_tuser),
    .rc0_tvalid(s_axis_rc_tvalid),
    .rc0_tready(s_axis_rc_tready),
    .rc0_tdata(s_axis_rc_tdata),
    .rc0_tkeep(s_axis_rc_tkeep),
    .rc0_tlast(s_axis_rc_tlast),
    .rc0_tuser(s_axis_rc_tuser),
    .rc1_tvalid(rc1_tvalid),
    .rc1_tready(rc1_tready),
    .rc1_tdata(rc1_tdata),
    .rc1_tkeep(rc1_tkeep),
    .rc1_tlast(rc1_tlast),
    .rc1_tuser(rc1_tuser)
  );

  @ENDPOINT@ u_endpoint1 (
    .clock(user_clk),
    .rq_tvalid(rq1_tvalid),
    .rq_tready(rq1_tready),
    .rq_tdata(rq1_tdata),
    .rq_tkeep(rq1_tkeep),
    .rq_tlast(rq1_tlast),
    .rq_tuser(rq1_tuser),
    .rc_tvalid(rc1_tvalid),
    .rc_tready(rc1_tready),
    .rc_tdata(rc1_tdata),
    .rc_tkeep(rc1_tkeep),
    .rc_tlast(rc1_tlast),
    .rc_tuser(rc1_tuser),
    .cq_tvalid(cq1_tvalid),
    .cq_tready(cq1_tready),
    .cq_tdata(cq1_tdata),
    .cq_tkeep(cq1_tkeep),
    .cq_tlast(cq1_tlast),
    .cq_tuser(cq1_tuser),
    .link_down(link_down1),
    .flr_in_process(flr1),
    .flr_done(flr_over[1]),
    .user_clock(user_clk1),
    .user_reset(user_reset1),
    .user_rq_tvalid(m_axis_rq1_tvalid),
    .user_rq_tready(m_axis_rq1_tready),
    .user_rq_tdata(m_axis_rq1_tdata),
    .user_rq_tkeep(m_axis_rq1_tkeep),
    .user_rq_tlast(m_axis_rq1_tlast),
    .user_rq_tuser(m_axis_rq1_tuser),
    .user_rc_tvalid(s_axis_rc1_tvalid),
    .user_rc_tready(s_axis_rc1_tready),
    .user_rc_tdata(s_axis_rc1_tdata),
    .user_rc_tkeep(s_axis_rc1_tkeep),
    .user_rc_tlast(s_axis_rc1_tlast),
    .user_rc_tuser(s_axis_rc1_tuser),
    .user_cq_tvalid(s_axis_cq1_tvalid),
    .user_cq_tready(s_axis_cq1_tready),
    .user_cq_tdata(s_axis_cq1_tdata),
    .user_cq_tkeep(s_axis_cq1_tkeep),
    .user_cq_tlast(s_axis_cq1_tlast),
    .user_cq_tuser(s_axis_cq1_tuser),
    .user_link_down(pcie_link_down1),
    .user_flr_in_process(flr_in_process1),
    .user_flr_done(flr_done1)
  );

  @START@ u_start (
    .clock(reg_clk),
    .reset(reg_reset),
    .axi_awaddr(m_axi_awaddr),
    .axi_awvalid(m_axi_awvalid),
    .axi_awready(m_axi_awready),
    .axi_wdata(m_axi_wdata),
    .axi_wvalid(m_axi_wvalid),
    .axi_wready(m_axi_wready),
    .axi_bresp(m_axi_bresp),
    .axi_bvalid(m_axi_bvalid),
    .axi_bready(m_axi_bready),
    .axi_araddr(m_axi_araddr),
    .axi_arvalid(m_axi_arvalid),
    .axi_arready(m_axi_arready),
    .axi_rdata(m_axi_rdata),
    .axi_rresp(m_axi_rresp),
    .axi_rvalid(m_axi_rvalid),
    .axi_rready(m_axi_rready),
    .axi_aresetn(m_axi_aresetn),
    .gt_reset(gt_reset),
    .gt_rx_reset(gt_rx_reset),
    .gt_tx_done(gt_tx_done),
    .gt_rx_done(gt_rx_done),
    .mac_clock(mac_clk),
    .mac_reset(mac_reset),
    .link_up(link_up)
  );

  @SHIM@ u_shim0 (
    .clock(user_clk),
    .reset(reset),
    .rx_valid(rx0_valid),
    .rx_data(rx0_data),
    .rx_bytes(rx0_bytes),
    .rx_last(rx0_last),
    .rx_error(rx0_error),
    .tx_valid(tx0_valid),
    .tx_data(tx0_data),
    .tx_bytes(tx0_bytes),
    .tx_last(tx0_last),
    .tx_ready(tx0_ready),
    .port_up(port0_up),
    .rx_dropped(rx0_dropped),
    .mac_clock(mac_clk),
    .mac_reset(mac_reset[0]),
    .link_up(link_up[0]),
    .rx_axis_tvalid(rx_axis_tvalid_0),
    .rx_axis0_tdata(rx_axis_tdata0),
    .rx_axis0_ena(rx_axis_tuser_ena0),
    .rx_axis0_sop(rx_axis_tuser_sop0),
    .rx_axis0_eop(rx_axis_tuser_eop0),
    .rx_axis0_err(rx_axis_tuser_err0),
    .rx_axis0_mty(rx_axis_tuser_mty0),
    .rx_axis1_tdata(rx_axis_tdata1),
    .rx_axis1_ena(rx_axis_tuser_ena1),
    .rx_axis1_sop(rx_axis_tuser_sop1),
    .rx_axis1_eop(rx_axis_tuser_eop1),
    .rx_axis1_err(rx_axis_tuser_err1),
    .rx_axis1_mty(rx_axis_tuser_mty1),
    .rx_axis2_tdata(rx_axis_tdata2),
    .rx_axis2_ena(rx_axis_tuser_ena2),
    .rx_axis2_sop(rx_axis_tuser_sop2),
    .rx_axis2_eop(rx_axis_tuser_eop2),
    .rx_axis2_err(rx_axis_tuser_err2),
    .rx_axis2_mty(rx_axis_tuser_mty2),
    .rx_axis3_tdata(rx_axis_tdata3),
    .rx_axis3_ena(rx_axis_tuser_ena3),
    .rx_axis3_sop(rx_axis_tuser_sop3),
    .rx_axis3_eop(rx_axis_tuser_eop3),
    .rx_axis3_err(rx_axis_tuser_err3),
    .rx_axis3_mty(rx_axis_tuser_mty3),
    .tx_axis_tvalid(tx_axis_tvalid_0),
    .tx_axis_tready(tx_axis_tready_0),
    .tx_axis0_tdata(tx_axis_tdata0),
    .tx_axis0_ena(tx_axis_tuser_ena0),
    .tx_axis0_sop(tx_axis_tuser_sop0),
    .tx_axis0_eop(tx_axis_tuser_eop0),
    .tx_axis0_err(tx_axis_tuser_err0),
    .tx_axis0_mty(tx_axis_tuser_mty0),
    .tx_axis1_tdata(tx_axis_tdata1),
    .tx_axis1_ena(tx_axis_tuser_ena1),
    .tx_axis1_sop(tx_axis_tuser_sop1),
    .tx_axis1_eop(tx_axis_tuser_eop1),
    .tx_axis1_err(tx_axis_tuser_err1),
    .tx_axis1_mty(tx_axis_tuser_mty1),
    .tx_axis2_tdata(tx_axis_tdata2),
    .tx_axis2_ena(tx_axis_tuser_ena2),
    .tx_axis2_sop(tx_axis_tuser_sop2),
    .tx_axis2_eop(tx_axis_tuser_eop2),
    .tx_axis2_err(tx_axis_tuser_err2),
    .tx_axis2_mty(tx_axis_tuser_mty2),
    .tx_axis3_tdata(tx_axis_tdata3),
    .tx_axis3_ena(tx_axis_tuser_ena3),
    .tx_axis3_sop(tx_axis_tuser_sop3),
    .tx_axis3_eop(tx_axis_tuser_eop3),
    .tx_axis3_err(tx_axis_tuser_err3),
    .tx_axis3_mty(tx_axis_tuser_mty3)
  );

  @SHIM@ u_shim1 (
    .clock(user_clk),
    .reset(reset),
    .rx_valid(rx1_valid),
    .rx_data(rx1_data),
    .rx_bytes(rx1_bytes),
    .rx_last(rx1_last),
    .rx_error(rx1_error),
    .tx_valid(tx1_valid),
    .tx_data(tx1_data),
    .tx_bytes(tx1_bytes),
    .tx_last(tx1_last),
    .tx_ready(tx1_ready),
    .port_up(port1_up),
    .rx_dropped(rx1_dropped),
    .mac_clock(mac_clk),
    .mac_reset(mac_reset[1]),
    .link_up(link_up[1]),
    .rx_axis_tvalid(rx_axis_tvalid_2),
    .rx_axis0_tdata(rx_axis_tdata4),
    .rx_axis0_ena(rx_axis_tuser_ena4),
    .rx_axis0_sop(rx_axis_tuser_sop4),
    .rx_axis0_eop(rx_axis_tuser_eop4),
    .rx_axis0_err(rx_axis_tuser_err4),
    .rx_axis0_mty(rx_axis_tuser_mty4),
    .rx_axis1_tdata(rx_axis_tdata5),
    .rx_axis1_ena(rx_axis_tuser_ena5),
    .rx_axis1_sop(rx_axis_tuser_sop5),
    .rx_axis1_eop(rx_axis_tuser_eop5),
    .rx_axis1_err(rx_axis_tuser_err5),
    .rx_axis1_mty(rx_axis_tuser_mty5),
    .rx_axis2_tdata(rx_axis_tdata6),
    .rx_axis2_ena(rx_axis_tuser_ena6),
    .rx_axis2_sop(rx_axis_tuser_sop6),
    .rx_axis2_eop(rx_axis_tuser_eop6),
    .rx_axis2_err(rx_axis_tuser_err6),
    .rx_axis2_mty(rx_axis_tuser_mty6),
    .rx_axis3_tdata(rx_axis_tdata7),
    .rx_axis3_ena(rx_axis_tuser_ena7),
    .rx_axis3_sop(rx_axis_tuser_sop7),
    .rx_axis3_eop(rx_axis_tuser_eop7),
    .rx_axis3_err(rx_axis_tuser_err7),
    .rx_axis3_mty(rx_axis_tuser_mty7),
    .tx_axis_tvalid(tx_axis_tvalid_2),
    .tx_axis_tready(tx_axis_tready_2),
    .tx_axis0_tdata(tx_axis_tdata4),
    .tx_axis0_ena(tx_axis_tuser_ena4),
    .tx_axis0_sop(tx_axis_tuser_sop4),
    .tx_axis0_eop(tx_axis_tuser_eop4),
    .tx_axis0_err(tx_axis_tuser_err4),
    .tx_axis0_mty(tx_axis_tuser_mty4),
    .tx_axis1_tdata(tx_axis_tdata5),
    .tx_axis1_ena(tx_axis_tuser_ena5),
    .tx_axis1_sop(tx_axis_tuser_sop5),
    .tx_axis1_eop(tx_axis_tuser_eop5),
    .tx_axis1_err(tx_axis_tuser_err5),
    .tx_axis1_mty(tx_axis_tuser_mty5),
    .tx_axis2_tdata(tx_axis_tdata6),
    .tx_axis2_ena(tx_axis_tuser_ena6),
    .tx_axis2_sop(tx_axis_tuser_sop6),
    .tx_axis2_eop(tx_axis_tuser_eop6),
    .tx_axis2_err(tx_axis_tuser_err6),
    .tx_axis2_mty(tx_axis_tuser_mty6),
    .tx_axis3_tdata(tx_axis_tdata7),
    .tx_axis3_ena(tx_axis_tuser_ena7),
    .tx_axis3_sop(tx_axis_tuser_sop7),
    .tx_axis3_eop(tx_axis_tuser_eop7),
    .tx_axis3_err(tx_axis_tuser_err7),
    .tx_axis3_mty(tx_axis_tuser_mty7)
  );
endmodule

`default_nettype wire
