// The ports of AMD's cores and primitives that the tops use, for tools without Vivado's libraries. Inputs of a core are complete, so that a missing
// connection is a warning.
module pcie (
  input wire [15:0] pci_exp_rxp, input wire [15:0] pci_exp_rxn, output wire [15:0] pci_exp_txp, output wire [15:0] pci_exp_txn,
  input wire sys_clk, input wire sys_clk_gt, input wire sys_reset,
  output wire user_clk, output wire user_reset, output wire user_lnk_up,
  output wire m_axis_cq_tvalid, input wire m_axis_cq_tready, output wire [511:0] m_axis_cq_tdata, output wire [15:0] m_axis_cq_tkeep,
  output wire m_axis_cq_tlast, output wire [182:0] m_axis_cq_tuser,
  input wire s_axis_cc_tvalid, output wire [3:0] s_axis_cc_tready, input wire [511:0] s_axis_cc_tdata, input wire [15:0] s_axis_cc_tkeep,
  input wire s_axis_cc_tlast, input wire [80:0] s_axis_cc_tuser,
  input wire s_axis_rq_tvalid, output wire [3:0] s_axis_rq_tready, input wire [511:0] s_axis_rq_tdata, input wire [15:0] s_axis_rq_tkeep,
  input wire s_axis_rq_tlast, input wire [136:0] s_axis_rq_tuser,
  output wire m_axis_rc_tvalid, input wire m_axis_rc_tready, output wire [511:0] m_axis_rc_tdata, output wire [15:0] m_axis_rc_tkeep,
  output wire m_axis_rc_tlast, output wire [160:0] m_axis_rc_tuser,
  input wire pcie_cq_np_req,
  input wire [9:0] cfg_mgmt_addr, input wire [7:0] cfg_mgmt_function_number, input wire cfg_mgmt_write, input wire [31:0] cfg_mgmt_write_data,
  input wire [3:0] cfg_mgmt_byte_enable, input wire cfg_mgmt_read, input wire cfg_mgmt_debug_access,
  input wire cfg_msg_transmit, input wire [2:0] cfg_msg_transmit_type, input wire [31:0] cfg_msg_transmit_data, input wire [2:0] cfg_fc_sel,
  input wire [63:0] cfg_dsn, input wire cfg_power_state_change_ack, input wire cfg_err_cor_in, input wire cfg_err_uncor_in,
  output wire [3:0] cfg_flr_in_process, input wire [3:0] cfg_flr_done, input wire [7:0] cfg_vf_flr_func_num, input wire cfg_vf_flr_done,
  input wire cfg_link_training_enable, input wire [3:0] cfg_interrupt_int, input wire [3:0] cfg_interrupt_pending,
  output wire [3:0] cfg_interrupt_msix_enable, output wire [3:0] cfg_interrupt_msix_mask, output wire [15:0] cfg_function_status, output wire cfg_phy_link_down, input wire [63:0] cfg_interrupt_msix_address,
  input wire [31:0] cfg_interrupt_msix_data, input wire cfg_interrupt_msix_int, input wire [1:0] cfg_interrupt_msix_vec_pending,
  input wire [7:0] cfg_interrupt_msi_function_number, input wire cfg_pm_aspm_l1_entry_reject, input wire cfg_pm_aspm_tx_l0s_entry_disable,
  input wire cfg_config_space_enable, input wire cfg_req_pm_transition_l23_ready, input wire cfg_hot_reset_in,
  input wire [7:0] cfg_ds_port_number, input wire [7:0] cfg_ds_bus_number, input wire [4:0] cfg_ds_device_number
);
endmodule
module cmac (
  input wire gt_ref_clk_p, input wire gt_ref_clk_n, input wire [3:0] gt_rxp_in, input wire [3:0] gt_rxn_in, output wire [3:0] gt_txp_out,
  output wire [3:0] gt_txn_out, input wire [11:0] gt_loopback_in, output wire gt_txusrclk2, input wire rx_clk, input wire init_clk, input wire sys_reset,
  input wire gtwiz_reset_tx_datapath, input wire gtwiz_reset_rx_datapath, input wire core_tx_reset, input wire core_rx_reset,
  output wire usr_tx_reset, output wire usr_rx_reset,
  output wire rx_axis_tvalid, output wire [511:0] rx_axis_tdata, output wire [63:0] rx_axis_tkeep, output wire rx_axis_tlast, output wire rx_axis_tuser,
  input wire tx_axis_tvalid, output wire tx_axis_tready, input wire [511:0] tx_axis_tdata, input wire [63:0] tx_axis_tkeep, input wire tx_axis_tlast,
  input wire tx_axis_tuser, input wire [55:0] tx_preamblein, output wire stat_rx_aligned, output wire stat_rx_remote_fault,
  input wire ctl_rx_enable, input wire ctl_rx_force_resync, input wire ctl_rx_test_pattern, input wire ctl_tx_enable, input wire ctl_tx_send_idle,
  input wire ctl_tx_send_rfi, input wire ctl_tx_send_lfi, input wire ctl_tx_test_pattern, input wire ctl_rsfec_ieee_error_indication_mode,
  input wire ctl_tx_rsfec_enable, input wire ctl_rx_rsfec_enable, input wire ctl_rx_rsfec_enable_correction, input wire ctl_rx_rsfec_enable_indication,
  input wire core_drp_reset, input wire drp_clk, input wire [9:0] drp_addr, input wire [15:0] drp_di, input wire drp_en, input wire drp_we
);
endmodule
module IBUFDS_GTE4 #(parameter [1:0] REFCLK_HROW_CK_SEL = 2'b00) (input wire I, input wire IB, input wire CEB, output wire O, output wire ODIV2);
endmodule
module BUFG_GT (input wire CE, input wire CEMASK, input wire CLR, input wire CLRMASK, input wire [2:0] DIV, input wire I, output wire O);
endmodule
module IBUF (input wire I, output wire O);
endmodule
module IBUFDS (input wire I, input wire IB, output wire O);
endmodule
module BUFG (input wire I, output wire O);
endmodule
module MMCME4_BASE #(parameter CLKIN1_PERIOD = 0.0, parameter DIVCLK_DIVIDE = 1, parameter CLKFBOUT_MULT_F = 5.0, parameter CLKOUT0_DIVIDE_F = 1.0) (
  input wire CLKIN1, input wire CLKFBIN, input wire RST, input wire PWRDWN, output wire CLKFBOUT, output wire CLKOUT0, output wire LOCKED
);
endmodule
