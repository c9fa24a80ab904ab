// The card of one 100G port, with the shims of its hard blocks: what stands between AMD's PCIE4(C) block and AMD's CMAC.
// `@CARD@` is the card's top module, which the project's generator fills in. Its ports are checked there.
`default_nettype none

module openstellar_100g (
  // The PCIe block (PG213): 512 bits, with straddle on RQ and RC. Its user clock is the card's clock.
  (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 user_clk CLK" *)
  (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axis_cq:m_axis_cc:m_axis_rq:s_axis_rc, ASSOCIATED_RESET user_reset" *)
  input wire user_clk,
  (* X_INTERFACE_INFO = "xilinx.com:signal:reset:1.0 user_reset RST" *)
  (* X_INTERFACE_PARAMETER = "POLARITY ACTIVE_HIGH" *)
  input wire user_reset,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TVALID" *) input wire s_axis_cq_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TREADY" *) output wire s_axis_cq_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TDATA" *) input wire [511:0] s_axis_cq_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TKEEP" *) input wire [15:0] s_axis_cq_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TLAST" *) input wire s_axis_cq_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_cq TUSER" *) input wire [182:0] s_axis_cq_tuser,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TVALID" *) output wire m_axis_cc_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TREADY" *) input wire m_axis_cc_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TDATA" *) output wire [511:0] m_axis_cc_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TKEEP" *) output wire [15:0] m_axis_cc_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TLAST" *) output wire m_axis_cc_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_cc TUSER" *) output wire [80:0] m_axis_cc_tuser,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TVALID" *) output wire m_axis_rq_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TREADY" *) input wire m_axis_rq_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TDATA" *) output wire [511:0] m_axis_rq_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TKEEP" *) output wire [15:0] m_axis_rq_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TLAST" *) output wire m_axis_rq_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_rq TUSER" *) output wire [136:0] m_axis_rq_tuser,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TVALID" *) input wire s_axis_rc_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TREADY" *) output wire s_axis_rc_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TDATA" *) input wire [511:0] s_axis_rc_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TKEEP" *) input wire [15:0] s_axis_rc_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TLAST" *) input wire s_axis_rc_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rc TUSER" *) input wire [160:0] s_axis_rc_tuser,

  // Of the function: whether it may send messages, the function mask of MSI-X, and its function-level reset. And whether the link is down.
  input wire msix_enable,
  input wire msix_mask,
  input wire pcie_link_down,
  input wire flr_in_process,
  output wire flr_done,

  // The CMAC (PG203) with its AXI4-stream interface. `rx_clk` of the core is this clock too.
  (* X_INTERFACE_INFO = "xilinx.com:signal:clock:1.0 mac_clk CLK" *)
  (* X_INTERFACE_PARAMETER = "ASSOCIATED_BUSIF s_axis_rx:m_axis_tx" *)
  input wire mac_clk,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rx TVALID" *) input wire s_axis_rx_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rx TDATA" *) input wire [511:0] s_axis_rx_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rx TKEEP" *) input wire [63:0] s_axis_rx_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rx TLAST" *) input wire s_axis_rx_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 s_axis_rx TUSER" *) input wire s_axis_rx_tuser,

  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_tx TVALID" *) output wire m_axis_tx_tvalid,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_tx TREADY" *) input wire m_axis_tx_tready,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_tx TDATA" *) output wire [511:0] m_axis_tx_tdata,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_tx TKEEP" *) output wire [63:0] m_axis_tx_tkeep,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_tx TLAST" *) output wire m_axis_tx_tlast,
  (* X_INTERFACE_INFO = "xilinx.com:interface:axis:1.0 m_axis_tx TUSER" *) output wire m_axis_tx_tuser,

  input wire usr_rx_reset,
  input wire usr_tx_reset,
  input wire stat_rx_aligned,
  input wire stat_rx_remote_fault,
  output wire ctl_rx_enable,
  output wire ctl_tx_enable,
  output wire ctl_tx_send_rfi
);
  wire reset;
  wire port_up;
  wire rx_valid;
  wire [511:0] rx_data;
  wire [7:0] rx_bytes;
  wire rx_last;
  wire rx_error;
  wire [31:0] rx_dropped;
  wire tx_valid;
  wire [511:0] tx_data;
  wire [7:0] tx_bytes;
  wire tx_last;
  wire tx_ready;

  @RESET@ u_reset (
    .clock(user_clk),
    .user_reset(user_reset),
    .flr_in_process(flr_in_process),
    .flr_done(flr_done),
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
    .msix_enable(msix_enable),
    .msix_mask(msix_mask),
    .pcie_link_down(pcie_link_down),
    .rx0_valid(rx_valid),
    .rx0_data(rx_data),
    .rx0_bytes(rx_bytes),
    .rx0_last(rx_last),
    .rx0_error(rx_error),
    .rx_dropped0(rx_dropped),
    .tx0_valid(tx_valid),
    .tx0_data(tx_data),
    .tx0_bytes(tx_bytes),
    .tx0_last(tx_last),
    .tx0_ready(tx_ready),
    .rq0_tvalid(m_axis_rq_tvalid),
    .rq0_tready(m_axis_rq_tready),
    .rq0_tdata(m_axis_rq_tdata),
    .rq0_tkeep(m_axis_rq_tkeep),
    .rq0_tlast(m_axis_rq_tlast),
    .rq0_tuser(m_axis_rq_tuser),
    .rc0_tvalid(s_axis_rc_tvalid),
    .rc0_tready(s_axis_rc_tready),
    .rc0_tdata(s_axis_rc_tdata),
    .rc0_tkeep(s_axis_rc_tkeep),
    .rc0_tlast(s_axis_rc_tlast),
    .rc0_tuser(s_axis_rc_tuser)
  );

  @SHIM@ u_shim (
    .clock(user_clk),
    .reset(reset),
    .rx_valid(rx_valid),
    .rx_data(rx_data),
    .rx_bytes(rx_bytes),
    .rx_last(rx_last),
    .rx_error(rx_error),
    .tx_valid(tx_valid),
    .tx_data(tx_data),
    .tx_bytes(tx_bytes),
    .tx_last(tx_last),
    .tx_ready(tx_ready),
    .port_up(port_up),
    .rx_dropped(rx_dropped),
    .mac_clock(mac_clk),
    .rx_axis_tvalid(s_axis_rx_tvalid),
    .rx_axis_tdata(s_axis_rx_tdata),
    .rx_axis_tkeep(s_axis_rx_tkeep),
    .rx_axis_tlast(s_axis_rx_tlast),
    .rx_axis_tuser(s_axis_rx_tuser),
    .tx_axis_tvalid(m_axis_tx_tvalid),
    .tx_axis_tdata(m_axis_tx_tdata),
    .tx_axis_tkeep(m_axis_tx_tkeep),
    .tx_axis_tlast(m_axis_tx_tlast),
    .tx_axis_tuser(m_axis_tx_tuser),
    .tx_axis_tready(m_axis_tx_tready),
    .usr_rx_reset(usr_rx_reset),
    .usr_tx_reset(usr_tx_reset),
    .stat_rx_aligned(stat_rx_aligned),
    .stat_rx_remote_fault(stat_rx_remote_fault),
    .ctl_rx_enable(ctl_rx_enable),
    .ctl_tx_enable(ctl_tx_enable),
    .ctl_tx_send_rfi(ctl_tx_send_rfi)
  );
endmodule

`default_nettype wire
