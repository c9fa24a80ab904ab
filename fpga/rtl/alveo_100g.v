// What the tops of U250, U280 and U55C share: the PCIe block (`pcie`), the CMAC (`cmac`), both made by tcl/ip.tcl, and the card between them.
`default_nettype none

module alveo_100g #(
  // The free-running clock of the board: period in ns, and what makes 1,250 MHz of it.
  parameter FREE_PERIOD = 10.0,
  parameter FREE_MULTIPLY = 12.5
) (
  input wire pcie_refclk_p,
  input wire pcie_refclk_n,
  input wire pcie_perst_n,
  input wire [15:0] pcie_rx_p,
  input wire [15:0] pcie_rx_n,
  output wire [15:0] pcie_tx_p,
  output wire [15:0] pcie_tx_n,

  input wire free_clk_p,
  input wire free_clk_n,

  input wire qsfp0_refclk_p,
  input wire qsfp0_refclk_n,
  input wire [3:0] qsfp0_rx_p,
  input wire [3:0] qsfp0_rx_n,
  output wire [3:0] qsfp0_tx_p,
  output wire [3:0] qsfp0_tx_n
);
  // PCIe reference clock and reset.
  wire sys_clk;
  wire sys_clk_gt;
  wire sys_clk_half;
  wire perst_n;
  IBUFDS_GTE4 #(
    .REFCLK_HROW_CK_SEL(2'b00)
  ) u_pcie_refclk (
    .I(pcie_refclk_p),
    .IB(pcie_refclk_n),
    .CEB(1'b0),
    .O(sys_clk_gt),
    .ODIV2(sys_clk_half)
  );
  BUFG_GT u_sys_clk (
    .CE(1'b1),
    .CEMASK(1'b1),
    .CLR(1'b0),
    .CLRMASK(1'b1),
    .DIV(3'd0),
    .I(sys_clk_half),
    .O(sys_clk)
  );
  IBUF u_perst (
    .I(pcie_perst_n),
    .O(perst_n)
  );

  // 125 MHz for the start-up logic of the CMAC's transceivers. It must not depend on them.
  wire free_clk;
  wire feedback;
  wire init_clk_unbuffered;
  wire init_clk;
  wire locked;
  IBUFDS u_free_clk (
    .I(free_clk_p),
    .IB(free_clk_n),
    .O(free_clk)
  );
  MMCME4_BASE #(
    .CLKIN1_PERIOD(FREE_PERIOD),
    .DIVCLK_DIVIDE(1),
    .CLKFBOUT_MULT_F(FREE_MULTIPLY),
    .CLKOUT0_DIVIDE_F(10.0)
  ) u_init_mmcm (
    .CLKIN1(free_clk),
    .CLKFBIN(feedback),
    .RST(1'b0),
    .PWRDWN(1'b0),
    .CLKFBOUT(feedback),
    .CLKOUT0(init_clk_unbuffered),
    .LOCKED(locked)
  );
  BUFG u_init_clk (
    .I(init_clk_unbuffered),
    .O(init_clk)
  );

  wire user_clk;
  wire user_reset;
  wire cq_tvalid, cq_tready, cq_tlast;
  wire [511:0] cq_tdata;
  wire [15:0] cq_tkeep;
  wire [182:0] cq_tuser;
  wire cc_tvalid, cc_tlast;
  wire [3:0] cc_tready;
  wire [511:0] cc_tdata;
  wire [15:0] cc_tkeep;
  wire [80:0] cc_tuser;
  wire rq_tvalid, rq_tlast;
  wire [3:0] rq_tready;
  wire [511:0] rq_tdata;
  wire [15:0] rq_tkeep;
  wire [136:0] rq_tuser;
  wire rc_tvalid, rc_tready, rc_tlast;
  wire [511:0] rc_tdata;
  wire [15:0] rc_tkeep;
  wire [160:0] rc_tuser;
  wire [3:0] msix_enable;
  wire [3:0] msix_mask;
  wire [15:0] function_status;
  wire pcie_link_down;
  wire [3:0] flr_in_process;
  wire flr_done;

  pcie u_pcie (
    .pci_exp_rxp(pcie_rx_p),
    .pci_exp_rxn(pcie_rx_n),
    .pci_exp_txp(pcie_tx_p),
    .pci_exp_txn(pcie_tx_n),
    .sys_clk(sys_clk),
    .sys_clk_gt(sys_clk_gt),
    .sys_reset(perst_n),
    .user_clk(user_clk),
    .user_reset(user_reset),
    .user_lnk_up(),
    .m_axis_cq_tvalid(cq_tvalid),
    .m_axis_cq_tready(cq_tready),
    .m_axis_cq_tdata(cq_tdata),
    .m_axis_cq_tkeep(cq_tkeep),
    .m_axis_cq_tlast(cq_tlast),
    .m_axis_cq_tuser(cq_tuser),
    .s_axis_cc_tvalid(cc_tvalid),
    .s_axis_cc_tready(cc_tready),
    .s_axis_cc_tdata(cc_tdata),
    .s_axis_cc_tkeep(cc_tkeep),
    .s_axis_cc_tlast(cc_tlast),
    .s_axis_cc_tuser(cc_tuser),
    .s_axis_rq_tvalid(rq_tvalid),
    .s_axis_rq_tready(rq_tready),
    .s_axis_rq_tdata(rq_tdata),
    .s_axis_rq_tkeep(rq_tkeep),
    .s_axis_rq_tlast(rq_tlast),
    .s_axis_rq_tuser(rq_tuser),
    .m_axis_rc_tvalid(rc_tvalid),
    .m_axis_rc_tready(rc_tready),
    .m_axis_rc_tdata(rc_tdata),
    .m_axis_rc_tkeep(rc_tkeep),
    .m_axis_rc_tlast(rc_tlast),
    .m_axis_rc_tuser(rc_tuser),
    .pcie_cq_np_req(1'b1),
    .cfg_mgmt_addr(10'd0),
    .cfg_mgmt_function_number(8'd0),
    .cfg_mgmt_write(1'b0),
    .cfg_mgmt_write_data(32'd0),
    .cfg_mgmt_byte_enable(4'd0),
    .cfg_mgmt_read(1'b0),
    .cfg_mgmt_debug_access(1'b0),
    .cfg_msg_transmit(1'b0),
    .cfg_msg_transmit_type(3'd0),
    .cfg_msg_transmit_data(32'd0),
    .cfg_fc_sel(3'd0),
    .cfg_dsn(64'd0),
    .cfg_power_state_change_ack(1'b1),
    .cfg_err_cor_in(1'b0),
    .cfg_err_uncor_in(1'b0),
    .cfg_flr_in_process(flr_in_process),
    .cfg_flr_done({3'd0, flr_done}),
    .cfg_vf_flr_func_num(8'd0),
    .cfg_vf_flr_done(1'b0),
    .cfg_link_training_enable(1'b1),
    .cfg_interrupt_int(4'd0),
    .cfg_interrupt_pending(4'd0),
    .cfg_interrupt_msix_enable(msix_enable),
    .cfg_interrupt_msix_mask(msix_mask),
    .cfg_function_status(function_status),
    .cfg_phy_link_down(pcie_link_down),
    .cfg_interrupt_msix_address(64'd0),
    .cfg_interrupt_msix_data(32'd0),
    .cfg_interrupt_msix_int(1'b0),
    .cfg_interrupt_msix_vec_pending(2'd0),
    .cfg_interrupt_msi_function_number(8'd0),
    .cfg_pm_aspm_l1_entry_reject(1'b0),
    .cfg_pm_aspm_tx_l0s_entry_disable(1'b0),
    .cfg_config_space_enable(1'b1),
    .cfg_req_pm_transition_l23_ready(1'b0),
    .cfg_hot_reset_in(1'b0),
    .cfg_ds_port_number(8'd0),
    .cfg_ds_bus_number(8'd0),
    .cfg_ds_device_number(5'd0)
  );

  wire mac_clk;
  wire rx_tvalid, rx_tlast, rx_tuser;
  wire [511:0] rx_tdata;
  wire [63:0] rx_tkeep;
  wire tx_tvalid, tx_tready, tx_tlast, tx_tuser;
  wire [511:0] tx_tdata;
  wire [63:0] tx_tkeep;
  wire usr_rx_reset, usr_tx_reset;
  wire rx_aligned, rx_remote_fault;
  wire rx_enable, tx_enable, send_rfi;

  cmac u_cmac (
    .gt_ref_clk_p(qsfp0_refclk_p),
    .gt_ref_clk_n(qsfp0_refclk_n),
    .gt_rxp_in(qsfp0_rx_p),
    .gt_rxn_in(qsfp0_rx_n),
    .gt_txp_out(qsfp0_tx_p),
    .gt_txn_out(qsfp0_tx_n),
    .gt_loopback_in(12'd0),
    .gt_txusrclk2(mac_clk),
    .rx_clk(mac_clk),
    .init_clk(init_clk),
    .sys_reset(~locked),
    .gtwiz_reset_tx_datapath(1'b0),
    .gtwiz_reset_rx_datapath(1'b0),
    .core_tx_reset(1'b0),
    .core_rx_reset(1'b0),
    .usr_tx_reset(usr_tx_reset),
    .usr_rx_reset(usr_rx_reset),
    .rx_axis_tvalid(rx_tvalid),
    .rx_axis_tdata(rx_tdata),
    .rx_axis_tkeep(rx_tkeep),
    .rx_axis_tlast(rx_tlast),
    .rx_axis_tuser(rx_tuser),
    .tx_axis_tvalid(tx_tvalid),
    .tx_axis_tready(tx_tready),
    .tx_axis_tdata(tx_tdata),
    .tx_axis_tkeep(tx_tkeep),
    .tx_axis_tlast(tx_tlast),
    .tx_axis_tuser(tx_tuser),
    .tx_preamblein(56'd0),
    .stat_rx_aligned(rx_aligned),
    .stat_rx_remote_fault(rx_remote_fault),
    .ctl_rx_enable(rx_enable),
    .ctl_rx_force_resync(1'b0),
    .ctl_rx_test_pattern(1'b0),
    .ctl_tx_enable(tx_enable),
    .ctl_tx_send_idle(1'b0),
    .ctl_tx_send_rfi(send_rfi),
    .ctl_tx_send_lfi(1'b0),
    .ctl_tx_test_pattern(1'b0),
    // RS-FEC, which 100GBASE-CR4 and -SR4 have, with correction and indication.
    .ctl_rsfec_ieee_error_indication_mode(1'b0),
    .ctl_tx_rsfec_enable(1'b1),
    .ctl_rx_rsfec_enable(1'b1),
    .ctl_rx_rsfec_enable_correction(1'b1),
    .ctl_rx_rsfec_enable_indication(1'b1),
    .core_drp_reset(1'b0),
    .drp_clk(init_clk),
    .drp_addr(10'd0),
    .drp_di(16'd0),
    .drp_en(1'b0),
    .drp_we(1'b0)
  );

  openstellar_100g u_port (
    .user_clk(user_clk),
    .user_reset(user_reset),
    .s_axis_cq_tvalid(cq_tvalid),
    .s_axis_cq_tready(cq_tready),
    .s_axis_cq_tdata(cq_tdata),
    .s_axis_cq_tkeep(cq_tkeep),
    .s_axis_cq_tlast(cq_tlast),
    .s_axis_cq_tuser(cq_tuser),
    .m_axis_cc_tvalid(cc_tvalid),
    .m_axis_cc_tready(cc_tready[0]),
    .m_axis_cc_tdata(cc_tdata),
    .m_axis_cc_tkeep(cc_tkeep),
    .m_axis_cc_tlast(cc_tlast),
    .m_axis_cc_tuser(cc_tuser),
    .m_axis_rq_tvalid(rq_tvalid),
    .m_axis_rq_tready(rq_tready[0]),
    .m_axis_rq_tdata(rq_tdata),
    .m_axis_rq_tkeep(rq_tkeep),
    .m_axis_rq_tlast(rq_tlast),
    .m_axis_rq_tuser(rq_tuser),
    .s_axis_rc_tvalid(rc_tvalid),
    .s_axis_rc_tready(rc_tready),
    .s_axis_rc_tdata(rc_tdata),
    .s_axis_rc_tkeep(rc_tkeep),
    .s_axis_rc_tlast(rc_tlast),
    .s_axis_rc_tuser(rc_tuser),
    // Bit 2: Bus Master Enable of function 0.
    .msix_enable(msix_enable[0] & function_status[2]),
    .msix_mask(msix_mask[0]),
    .pcie_link_down(pcie_link_down),
    .flr_in_process(flr_in_process[0]),
    .flr_done(flr_done),
    .mac_clk(mac_clk),
    .s_axis_rx_tvalid(rx_tvalid),
    .s_axis_rx_tdata(rx_tdata),
    .s_axis_rx_tkeep(rx_tkeep),
    .s_axis_rx_tlast(rx_tlast),
    .s_axis_rx_tuser(rx_tuser),
    .m_axis_tx_tvalid(tx_tvalid),
    .m_axis_tx_tready(tx_tready),
    .m_axis_tx_tdata(tx_tdata),
    .m_axis_tx_tkeep(tx_tkeep),
    .m_axis_tx_tlast(tx_tlast),
    .m_axis_tx_tuser(tx_tuser),
    .usr_rx_reset(usr_rx_reset),
    .usr_tx_reset(usr_tx_reset),
    .stat_rx_aligned(rx_aligned),
    .stat_rx_remote_fault(rx_remote_fault),
    .ctl_rx_enable(rx_enable),
    .ctl_tx_enable(tx_enable),
    .ctl_tx_send_rfi(send_rfi)
  );
endmodule

`default_nettype wire
