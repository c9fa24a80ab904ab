// Top of the Alveo V80: ports QSFP0 and QSFP1, two endpoints of PCIe Gen5 x8. The hard blocks are in the block design `blocks`, which tcl/blocks.tcl makes: CPM5 in the CIPS, the
// DCMAC, its transceivers and clocks.
`default_nettype none

module v80 (
  input wire pcie0_refclk_p,
  input wire pcie0_refclk_n,
  input wire [7:0] pcie0_rx_p,
  input wire [7:0] pcie0_rx_n,
  output wire [7:0] pcie0_tx_p,
  output wire [7:0] pcie0_tx_n,
  input wire pcie1_refclk_p,
  input wire pcie1_refclk_n,
  input wire [7:0] pcie1_rx_p,
  input wire [7:0] pcie1_rx_n,
  output wire [7:0] pcie1_tx_p,
  output wire [7:0] pcie1_tx_n,
  input wire qsfp0_refclk_p,
  input wire qsfp0_refclk_n,
  input wire [3:0] qsfp0_rx_p,
  input wire [3:0] qsfp0_rx_n,
  output wire [3:0] qsfp0_tx_p,
  output wire [3:0] qsfp0_tx_n,
  input wire [3:0] qsfp1_rx_p,
  input wire [3:0] qsfp1_rx_n,
  output wire [3:0] qsfp1_tx_p,
  output wire [3:0] qsfp1_tx_n
);
  wire user_clk0;
  wire user_reset0;
  wire cq0_tvalid, cq0_tready, cq0_tlast;
  wire [1023:0] cq0_tdata;
  wire [31:0] cq0_tkeep;
  wire [464:0] cq0_tuser;
  wire cc0_tvalid, cc0_tready, cc0_tlast;
  wire [1023:0] cc0_tdata;
  wire [31:0] cc0_tkeep;
  wire [164:0] cc0_tuser;
  wire rq0_tvalid, rq0_tready, rq0_tlast;
  wire [1023:0] rq0_tdata;
  wire [31:0] rq0_tkeep;
  wire [372:0] rq0_tuser;
  wire rc0_tvalid, rc0_tready, rc0_tlast;
  wire [1023:0] rc0_tdata;
  wire [31:0] rc0_tkeep;
  wire [336:0] rc0_tuser;
  wire pcie0_link_down;
  wire [3:0] flr_in_process0;
  wire flr_done0;
  wire user_clk1;
  wire user_reset1;
  wire cq1_tvalid, cq1_tready, cq1_tlast;
  wire [1023:0] cq1_tdata;
  wire [31:0] cq1_tkeep;
  wire [464:0] cq1_tuser;
  wire rq1_tvalid, rq1_tready, rq1_tlast;
  wire [1023:0] rq1_tdata;
  wire [31:0] rq1_tkeep;
  wire [372:0] rq1_tuser;
  wire rc1_tvalid, rc1_tready, rc1_tlast;
  wire [1023:0] rc1_tdata;
  wire [31:0] rc1_tkeep;
  wire [336:0] rc1_tuser;
  wire pcie1_link_down;
  wire [3:0] flr_in_process1;
  wire flr_done1;
  wire [3:0] function_status;
  wire [3:0] msix_enable;
  wire [3:0] msix_mask;
  wire reg_clk;
  wire reg_reset;
  wire [31:0] axi_awaddr;
  wire axi_awvalid;
  wire axi_awready;
  wire [31:0] axi_wdata;
  wire axi_wvalid;
  wire axi_wready;
  wire [1:0] axi_bresp;
  wire axi_bvalid;
  wire axi_bready;
  wire [31:0] axi_araddr;
  wire axi_arvalid;
  wire axi_arready;
  wire [31:0] axi_rdata;
  wire [1:0] axi_rresp;
  wire axi_rvalid;
  wire axi_rready;
  wire axi_aresetn;
  wire gt_reset;
  wire [1:0] gt_rx_reset;
  wire [1:0] gt_tx_done;
  wire [1:0] gt_rx_done;
  wire mac_clk;
  wire rx_tvalid0, tx_tvalid0, tx_tready0;
  wire rx_tvalid2, tx_tvalid2, tx_tready2;
  wire [127:0] rx_tdata0;
  wire rx_ena0, rx_sop0, rx_eop0, rx_err0;
  wire [3:0] rx_mty0;
  wire [127:0] rx_tdata1;
  wire rx_ena1, rx_sop1, rx_eop1, rx_err1;
  wire [3:0] rx_mty1;
  wire [127:0] rx_tdata2;
  wire rx_ena2, rx_sop2, rx_eop2, rx_err2;
  wire [3:0] rx_mty2;
  wire [127:0] rx_tdata3;
  wire rx_ena3, rx_sop3, rx_eop3, rx_err3;
  wire [3:0] rx_mty3;
  wire [127:0] rx_tdata4;
  wire rx_ena4, rx_sop4, rx_eop4, rx_err4;
  wire [3:0] rx_mty4;
  wire [127:0] rx_tdata5;
  wire rx_ena5, rx_sop5, rx_eop5, rx_err5;
  wire [3:0] rx_mty5;
  wire [127:0] rx_tdata6;
  wire rx_ena6, rx_sop6, rx_eop6, rx_err6;
  wire [3:0] rx_mty6;
  wire [127:0] rx_tdata7;
  wire rx_ena7, rx_sop7, rx_eop7, rx_err7;
  wire [3:0] rx_mty7;
  wire [127:0] tx_tdata0;
  wire tx_ena0, tx_sop0, tx_eop0, tx_err0;
  wire [3:0] tx_mty0;
  wire [127:0] tx_tdata1;
  wire tx_ena1, tx_sop1, tx_eop1, tx_err1;
  wire [3:0] tx_mty1;
  wire [127:0] tx_tdata2;
  wire tx_ena2, tx_sop2, tx_eop2, tx_err2;
  wire [3:0] tx_mty2;
  wire [127:0] tx_tdata3;
  wire tx_ena3, tx_sop3, tx_eop3, tx_err3;
  wire [3:0] tx_mty3;
  wire [127:0] tx_tdata4;
  wire tx_ena4, tx_sop4, tx_eop4, tx_err4;
  wire [3:0] tx_mty4;
  wire [127:0] tx_tdata5;
  wire tx_ena5, tx_sop5, tx_eop5, tx_err5;
  wire [3:0] tx_mty5;
  wire [127:0] tx_tdata6;
  wire tx_ena6, tx_sop6, tx_eop6, tx_err6;
  wire [3:0] tx_mty6;
  wire [127:0] tx_tdata7;
  wire tx_ena7, tx_sop7, tx_eop7, tx_err7;
  wire [3:0] tx_mty7;

  blocks u_blocks (
    .pcie0_refclk_clk_p(pcie0_refclk_p),
    .pcie0_refclk_clk_n(pcie0_refclk_n),
    .pcie0_gt_grx_p(pcie0_rx_p),
    .pcie0_gt_grx_n(pcie0_rx_n),
    .pcie0_gt_gtx_p(pcie0_tx_p),
    .pcie0_gt_gtx_n(pcie0_tx_n),
    .pcie0_user_clk(user_clk0),
    .pcie0_user_reset(user_reset0),
    .pcie0_cq_tvalid(cq0_tvalid),
    .pcie0_cq_tready(cq0_tready),
    .pcie0_cq_tdata(cq0_tdata),
    .pcie0_cq_tkeep(cq0_tkeep),
    .pcie0_cq_tlast(cq0_tlast),
    .pcie0_cq_tuser(cq0_tuser),
    .pcie0_rc_tvalid(rc0_tvalid),
    .pcie0_rc_tready(rc0_tready),
    .pcie0_rc_tdata(rc0_tdata),
    .pcie0_rc_tkeep(rc0_tkeep),
    .pcie0_rc_tlast(rc0_tlast),
    .pcie0_rc_tuser(rc0_tuser),
    .pcie0_cc_tvalid(cc0_tvalid),
    .pcie0_cc_tready(cc0_tready),
    .pcie0_cc_tdata(cc0_tdata),
    .pcie0_cc_tkeep(cc0_tkeep),
    .pcie0_cc_tlast(cc0_tlast),
    .pcie0_cc_tuser(cc0_tuser),
    .pcie0_rq_tvalid(rq0_tvalid),
    .pcie0_rq_tready(rq0_tready),
    .pcie0_rq_tdata(rq0_tdata),
    .pcie0_rq_tkeep(rq0_tkeep),
    .pcie0_rq_tlast(rq0_tlast),
    .pcie0_rq_tuser(rq0_tuser),
    .pcie0_control_err_cor_in(1'b0),
    .pcie0_control_err_uncor_in(1'b0),
    .pcie0_control_flr_done(flr_done0),
    .pcie0_control_flr_done_function_number(16'd0),
    .pcie0_control_flr_in_process(flr_in_process0),
    .pcie0_control_hot_reset_in(1'b0),
    .pcie0_control_per_function_number(16'd0),
    .pcie0_control_per_function_req(1'b0),
    .pcie0_control_power_state_change_ack(1'b1),
    .pcie0_status_cq_np_req(2'b11),
    .pcie0_status_function_status(function_status),
    .pcie0_status_phy_link_down(pcie0_link_down),
    .pcie1_refclk_clk_p(pcie1_refclk_p),
    .pcie1_refclk_clk_n(pcie1_refclk_n),
    .pcie1_gt_grx_p(pcie1_rx_p),
    .pcie1_gt_grx_n(pcie1_rx_n),
    .pcie1_gt_gtx_p(pcie1_tx_p),
    .pcie1_gt_gtx_n(pcie1_tx_n),
    .pcie1_user_clk(user_clk1),
    .pcie1_user_reset(user_reset1),
    .pcie1_cq_tvalid(cq1_tvalid),
    .pcie1_cq_tready(cq1_tready),
    .pcie1_cq_tdata(cq1_tdata),
    .pcie1_cq_tkeep(cq1_tkeep),
    .pcie1_cq_tlast(cq1_tlast),
    .pcie1_cq_tuser(cq1_tuser),
    .pcie1_rc_tvalid(rc1_tvalid),
    .pcie1_rc_tready(rc1_tready),
    .pcie1_rc_tdata(rc1_tdata),
    .pcie1_rc_tkeep(rc1_tkeep),
    .pcie1_rc_tlast(rc1_tlast),
    .pcie1_rc_tuser(rc1_tuser),
    .pcie1_cc_tvalid(1'b0),
    .pcie1_cc_tready(),
    .pcie1_cc_tdata(1024'd0),
    .pcie1_cc_tkeep(32'd0),
    .pcie1_cc_tlast(1'b0),
    .pcie1_cc_tuser(165'd0),
    .pcie1_rq_tvalid(rq1_tvalid),
    .pcie1_rq_tready(rq1_tready),
    .pcie1_rq_tdata(rq1_tdata),
    .pcie1_rq_tkeep(rq1_tkeep),
    .pcie1_rq_tlast(rq1_tlast),
    .pcie1_rq_tuser(rq1_tuser),
    .pcie1_control_err_cor_in(1'b0),
    .pcie1_control_err_uncor_in(1'b0),
    .pcie1_control_flr_done(flr_done1),
    .pcie1_control_flr_done_function_number(16'd0),
    .pcie1_control_flr_in_process(flr_in_process1),
    .pcie1_control_hot_reset_in(1'b0),
    .pcie1_control_per_function_number(16'd0),
    .pcie1_control_per_function_req(1'b0),
    .pcie1_control_power_state_change_ack(1'b1),
    .pcie1_status_cq_np_req(2'b11),
    .pcie1_status_function_status(),
    .pcie1_status_phy_link_down(pcie1_link_down),
    .pcie0_msix_enable(msix_enable),
    .pcie0_msix_mask(msix_mask),
    .pcie0_msix_address(64'd0),
    .pcie0_msix_data(32'd0),
    .pcie0_msix_int_vector(1'b0),
    .pcie0_msix_mint_vector(32'd0),
    .pcie0_msix_function_number(16'd0),
    .pcie0_msix_vec_pending(2'd0),
    .pcie0_msix_attr(3'd0),
    .pcie0_msix_tph_present(1'b0),
    .pcie0_msix_tph_st_tag(8'd0),
    .pcie0_msix_tph_type(2'd0),
    .qsfp_refclk_clk_p(qsfp0_refclk_p),
    .qsfp_refclk_clk_n(qsfp0_refclk_n),
    .qsfp0_gt_grx_p(qsfp0_rx_p),
    .qsfp0_gt_grx_n(qsfp0_rx_n),
    .qsfp0_gt_gtx_p(qsfp0_tx_p),
    .qsfp0_gt_gtx_n(qsfp0_tx_n),
    .qsfp1_gt_grx_p(qsfp1_rx_p),
    .qsfp1_gt_grx_n(qsfp1_rx_n),
    .qsfp1_gt_gtx_p(qsfp1_tx_p),
    .qsfp1_gt_gtx_n(qsfp1_tx_n),
    .reg_clk(reg_clk),
    .reg_reset(reg_reset),
    .mac_axi_awaddr(axi_awaddr),
    .mac_axi_awvalid(axi_awvalid),
    .mac_axi_awready(axi_awready),
    .mac_axi_wdata(axi_wdata),
    .mac_axi_wvalid(axi_wvalid),
    .mac_axi_wready(axi_wready),
    .mac_axi_bresp(axi_bresp),
    .mac_axi_bvalid(axi_bvalid),
    .mac_axi_bready(axi_bready),
    .mac_axi_araddr(axi_araddr),
    .mac_axi_arvalid(axi_arvalid),
    .mac_axi_arready(axi_arready),
    .mac_axi_rdata(axi_rdata),
    .mac_axi_rresp(axi_rresp),
    .mac_axi_rvalid(axi_rvalid),
    .mac_axi_rready(axi_rready),
    .mac_axi_aresetn(axi_aresetn),
    .gt_reset(gt_reset),
    .gt_rx_reset0(gt_rx_reset[0]),
    .gt_tx_done0(gt_tx_done[0]),
    .gt_rx_done0(gt_rx_done[0]),
    .gt_rx_reset1(gt_rx_reset[1]),
    .gt_tx_done1(gt_tx_done[1]),
    .gt_rx_done1(gt_rx_done[1]),
    .mac_clk(mac_clk),
    .rx_axis_tvalid_0(rx_tvalid0),
    .tx_axis_tvalid_0(tx_tvalid0),
    .tx_axis_tready_0(tx_tready0),
    .rx_axis_tvalid_2(rx_tvalid2),
    .tx_axis_tvalid_2(tx_tvalid2),
    .tx_axis_tready_2(tx_tready2),
    .rx_axis_tdata0(rx_tdata0),
    .rx_axis_tuser_ena0(rx_ena0),
    .rx_axis_tuser_sop0(rx_sop0),
    .rx_axis_tuser_eop0(rx_eop0),
    .rx_axis_tuser_err0(rx_err0),
    .rx_axis_tuser_mty0(rx_mty0),
    .rx_axis_tdata1(rx_tdata1),
    .rx_axis_tuser_ena1(rx_ena1),
    .rx_axis_tuser_sop1(rx_sop1),
    .rx_axis_tuser_eop1(rx_eop1),
    .rx_axis_tuser_err1(rx_err1),
    .rx_axis_tuser_mty1(rx_mty1),
    .rx_axis_tdata2(rx_tdata2),
    .rx_axis_tuser_ena2(rx_ena2),
    .rx_axis_tuser_sop2(rx_sop2),
    .rx_axis_tuser_eop2(rx_eop2),
    .rx_axis_tuser_err2(rx_err2),
    .rx_axis_tuser_mty2(rx_mty2),
    .rx_axis_tdata3(rx_tdata3),
    .rx_axis_tuser_ena3(rx_ena3),
    .rx_axis_tuser_sop3(rx_sop3),
    .rx_axis_tuser_eop3(rx_eop3),
    .rx_axis_tuser_err3(rx_err3),
    .rx_axis_tuser_mty3(rx_mty3),
    .rx_axis_tdata4(rx_tdata4),
    .rx_axis_tuser_ena4(rx_ena4),
    .rx_axis_tuser_sop4(rx_sop4),
    .rx_axis_tuser_eop4(rx_eop4),
    .rx_axis_tuser_err4(rx_err4),
    .rx_axis_tuser_mty4(rx_mty4),
    .rx_axis_tdata5(rx_tdata5),
    .rx_axis_tuser_ena5(rx_ena5),
    .rx_axis_tuser_sop5(rx_sop5),
    .rx_axis_tuser_eop5(rx_eop5),
    .rx_axis_tuser_err5(rx_err5),
    .rx_axis_tuser_mty5(rx_mty5),
    .rx_axis_tdata6(rx_tdata6),
    .rx_axis_tuser_ena6(rx_ena6),
    .rx_axis_tuser_sop6(rx_sop6),
    .rx_axis_tuser_eop6(rx_eop6),
    .rx_axis_tuser_err6(rx_err6),
    .rx_axis_tuser_mty6(rx_mty6),
    .rx_axis_tdata7(rx_tdata7),
    .rx_axis_tuser_ena7(rx_ena7),
    .rx_axis_tuser_sop7(rx_sop7),
    .rx_axis_tuser_eop7(rx_eop7),
    .rx_axis_tuser_err7(rx_err7),
    .rx_axis_tuser_mty7(rx_mty7),
    .tx_axis_tdata0(tx_tdata0),
    .tx_axis_tuser_ena0(tx_ena0),
    .tx_axis_tuser_sop0(tx_sop0),
    .tx_axis_tuser_eop0(tx_eop0),
    .tx_axis_tuser_err0(tx_err0),
    .tx_axis_tuser_mty0(tx_mty0),
    .tx_axis_tdata1(tx_tdata1),
    .tx_axis_tuser_ena1(tx_ena1),
    .tx_axis_tuser_sop1(tx_sop1),
    .tx_axis_tuser_eop1(tx_eop1),
    .tx_axis_tuser_err1(tx_err1),
    .tx_axis_tuser_mty1(tx_mty1),
    .tx_axis_tdata2(tx_tdata2),
    .tx_axis_tuser_ena2(tx_ena2),
    .tx_axis_tuser_sop2(tx_sop2),
    .tx_axis_tuser_eop2(tx_eop2),
    .tx_axis_tuser_err2(tx_err2),
    .tx_axis_tuser_mty2(tx_mty2),
    .tx_axis_tdata3(tx_tdata3),
    .tx_axis_tuser_ena3(tx_ena3),
    .tx_axis_tuser_sop3(tx_sop3),
    .tx_axis_tuser_eop3(tx_eop3),
    .tx_axis_tuser_err3(tx_err3),
    .tx_axis_tuser_mty3(tx_mty3),
    .tx_axis_tdata4(tx_tdata4),
    .tx_axis_tuser_ena4(tx_ena4),
    .tx_axis_tuser_sop4(tx_sop4),
    .tx_axis_tuser_eop4(tx_eop4),
    .tx_axis_tuser_err4(tx_err4),
    .tx_axis_tuser_mty4(tx_mty4),
    .tx_axis_tdata5(tx_tdata5),
    .tx_axis_tuser_ena5(tx_ena5),
    .tx_axis_tuser_sop5(tx_sop5),
    .tx_axis_tuser_eop5(tx_eop5),
    .tx_axis_tuser_err5(tx_err5),
    .tx_axis_tuser_mty5(tx_mty5),
    .tx_axis_tdata6(tx_tdata6),
    .tx_axis_tuser_ena6(tx_ena6),
    .tx_axis_tuser_sop6(tx_sop6),
    .tx_axis_tuser_eop6(tx_eop6),
    .tx_axis_tuser_err6(tx_err6),
    .tx_axis_tuser_mty6(tx_mty6),
    .tx_axis_tdata7(tx_tdata7),
    .tx_axis_tuser_ena7(tx_ena7),
    .tx_axis_tuser_sop7(tx_sop7),
    .tx_axis_tuser_eop7(tx_eop7),
    .tx_axis_tuser_err7(tx_err7),
    .tx_axis_tuser_mty7(tx_mty7)
  );

  openstellar_200g2 u_port (
    .user_clk(user_clk0),
    .user_reset(user_reset0),
    .s_axis_cq_tvalid(cq0_tvalid),
    .s_axis_cq_tready(cq0_tready),
    .s_axis_cq_tdata(cq0_tdata),
    .s_axis_cq_tkeep(cq0_tkeep),
    .s_axis_cq_tlast(cq0_tlast),
    .s_axis_cq_tuser(cq0_tuser),
    .m_axis_cc_tvalid(cc0_tvalid),
    .m_axis_cc_tready(cc0_tready),
    .m_axis_cc_tdata(cc0_tdata),
    .m_axis_cc_tkeep(cc0_tkeep),
    .m_axis_cc_tlast(cc0_tlast),
    .m_axis_cc_tuser(cc0_tuser),
    .m_axis_rq_tvalid(rq0_tvalid),
    .m_axis_rq_tready(rq0_tready),
    .m_axis_rq_tdata(rq0_tdata),
    .m_axis_rq_tkeep(rq0_tkeep),
    .m_axis_rq_tlast(rq0_tlast),
    .m_axis_rq_tuser(rq0_tuser),
    .s_axis_rc_tvalid(rc0_tvalid),
    .s_axis_rc_tready(rc0_tready),
    .s_axis_rc_tdata(rc0_tdata),
    .s_axis_rc_tkeep(rc0_tkeep),
    .s_axis_rc_tlast(rc0_tlast),
    .s_axis_rc_tuser(rc0_tuser),
    // Bit 2: Bus Master Enable.
    .msix_enable(msix_enable[0] & function_status[2]),
    .msix_mask(msix_mask[0]),
    .pcie_link_down(pcie0_link_down),
    .flr_in_process(flr_in_process0[0]),
    .flr_done(flr_done0),
    .user_clk1(user_clk1),
    .user_reset1(user_reset1),
    .s_axis_cq1_tvalid(cq1_tvalid),
    .s_axis_cq1_tready(cq1_tready),
    .s_axis_cq1_tdata(cq1_tdata),
    .s_axis_cq1_tkeep(cq1_tkeep),
    .s_axis_cq1_tlast(cq1_tlast),
    .s_axis_cq1_tuser(cq1_tuser),
    .m_axis_rq1_tvalid(rq1_tvalid),
    .m_axis_rq1_tready(rq1_tready),
    .m_axis_rq1_tdata(rq1_tdata),
    .m_axis_rq1_tkeep(rq1_tkeep),
    .m_axis_rq1_tlast(rq1_tlast),
    .m_axis_rq1_tuser(rq1_tuser),
    .s_axis_rc1_tvalid(rc1_tvalid),
    .s_axis_rc1_tready(rc1_tready),
    .s_axis_rc1_tdata(rc1_tdata),
    .s_axis_rc1_tkeep(rc1_tkeep),
    .s_axis_rc1_tlast(rc1_tlast),
    .s_axis_rc1_tuser(rc1_tuser),
    .pcie_link_down1(pcie1_link_down),
    .flr_in_process1(flr_in_process1[0]),
    .flr_done1(flr_done1),
    .reg_clk(reg_clk),
    .reg_reset(reg_reset),
    .m_axi_awaddr(axi_awaddr),
    .m_axi_awvalid(axi_awvalid),
    .m_axi_awready(axi_awready),
    .m_axi_wdata(axi_wdata),
    .m_axi_wvalid(axi_wvalid),
    .m_axi_wready(axi_wready),
    .m_axi_bresp(axi_bresp),
    .m_axi_bvalid(axi_bvalid),
    .m_axi_bready(axi_bready),
    .m_axi_araddr(axi_araddr),
    .m_axi_arvalid(axi_arvalid),
    .m_axi_arready(axi_arready),
    .m_axi_rdata(axi_rdata),
    .m_axi_rresp(axi_rresp),
    .m_axi_rvalid(axi_rvalid),
    .m_axi_rready(axi_rready),
    .m_axi_aresetn(axi_aresetn),
    .gt_reset(gt_reset),
    .gt_rx_reset(gt_rx_reset),
    .gt_tx_done(gt_tx_done),
    .gt_rx_done(gt_rx_done),
    .mac_clk(mac_clk),
    .rx_axis_tvalid_0(rx_tvalid0),
    .tx_axis_tvalid_0(tx_tvalid0),
    .tx_axis_tready_0(tx_tready0),
    .rx_axis_tvalid_2(rx_tvalid2),
    .tx_axis_tvalid_2(tx_tvalid2),
    .tx_axis_tready_2(tx_tready2),
    .rx_axis_tdata0(rx_tdata0),
    .rx_axis_tuser_ena0(rx_ena0),
    .rx_axis_tuser_sop0(rx_sop0),
    .rx_axis_tuser_eop0(rx_eop0),
    .rx_axis_tuser_err0(rx_err0),
    .rx_axis_tuser_mty0(rx_mty0),
    .rx_axis_tdata1(rx_tdata1),
    .rx_axis_tuser_ena1(rx_ena1),
    .rx_axis_tuser_sop1(rx_sop1),
    .rx_axis_tuser_eop1(rx_eop1),
    .rx_axis_tuser_err1(rx_err1),
    .rx_axis_tuser_mty1(rx_mty1),
    .rx_axis_tdata2(rx_tdata2),
    .rx_axis_tuser_ena2(rx_ena2),
    .rx_axis_tuser_sop2(rx_sop2),
    .rx_axis_tuser_eop2(rx_eop2),
    .rx_axis_tuser_err2(rx_err2),
    .rx_axis_tuser_mty2(rx_mty2),
    .rx_axis_tdata3(rx_tdata3),
    .rx_axis_tuser_ena3(rx_ena3),
    .rx_axis_tuser_sop3(rx_sop3),
    .rx_axis_tuser_eop3(rx_eop3),
    .rx_axis_tuser_err3(rx_err3),
    .rx_axis_tuser_mty3(rx_mty3),
    .rx_axis_tdata4(rx_tdata4),
    .rx_axis_tuser_ena4(rx_ena4),
    .rx_axis_tuser_sop4(rx_sop4),
    .rx_axis_tuser_eop4(rx_eop4),
    .rx_axis_tuser_err4(rx_err4),
    .rx_axis_tuser_mty4(rx_mty4),
    .rx_axis_tdata5(rx_tdata5),
    .rx_axis_tuser_ena5(rx_ena5),
    .rx_axis_tuser_sop5(rx_sop5),
    .rx_axis_tuser_eop5(rx_eop5),
    .rx_axis_tuser_err5(rx_err5),
    .rx_axis_tuser_mty5(rx_mty5),
    .rx_axis_tdata6(rx_tdata6),
    .rx_axis_tuser_ena6(rx_ena6),
    .rx_axis_tuser_sop6(rx_sop6),
    .rx_axis_tuser_eop6(rx_eop6),
    .rx_axis_tuser_err6(rx_err6),
    .rx_axis_tuser_mty6(rx_mty6),
    .rx_axis_tdata7(rx_tdata7),
    .rx_axis_tuser_ena7(rx_ena7),
    .rx_axis_tuser_sop7(rx_sop7),
    .rx_axis_tuser_eop7(rx_eop7),
    .rx_axis_tuser_err7(rx_err7),
    .rx_axis_tuser_mty7(rx_mty7),
    .tx_axis_tdata0(tx_tdata0),
    .tx_axis_tuser_ena0(tx_ena0),
    .tx_axis_tuser_sop0(tx_sop0),
    .tx_axis_tuser_eop0(tx_eop0),
    .tx_axis_tuser_err0(tx_err0),
    .tx_axis_tuser_mty0(tx_mty0),
    .tx_axis_tdata1(tx_tdata1),
    .tx_axis_tuser_ena1(tx_ena1),
    .tx_axis_tuser_sop1(tx_sop1),
    .tx_axis_tuser_eop1(tx_eop1),
    .tx_axis_tuser_err1(tx_err1),
    .tx_axis_tuser_mty1(tx_mty1),
    .tx_axis_tdata2(tx_tdata2),
    .tx_axis_tuser_ena2(tx_ena2),
    .tx_axis_tuser_sop2(tx_sop2),
    .tx_axis_tuser_eop2(tx_eop2),
    .tx_axis_tuser_err2(tx_err2),
    .tx_axis_tuser_mty2(tx_mty2),
    .tx_axis_tdata3(tx_tdata3),
    .tx_axis_tuser_ena3(tx_ena3),
    .tx_axis_tuser_sop3(tx_sop3),
    .tx_axis_tuser_eop3(tx_eop3),
    .tx_axis_tuser_err3(tx_err3),
    .tx_axis_tuser_mty3(tx_mty3),
    .tx_axis_tdata4(tx_tdata4),
    .tx_axis_tuser_ena4(tx_ena4),
    .tx_axis_tuser_sop4(tx_sop4),
    .tx_axis_tuser_eop4(tx_eop4),
    .tx_axis_tuser_err4(tx_err4),
    .tx_axis_tuser_mty4(tx_mty4),
    .tx_axis_tdata5(tx_tdata5),
    .tx_axis_tuser_ena5(tx_ena5),
    .tx_axis_tuser_sop5(tx_sop5),
    .tx_axis_tuser_eop5(tx_eop5),
    .tx_axis_tuser_err5(tx_err5),
    .tx_axis_tuser_mty5(tx_mty5),
    .tx_axis_tdata6(tx_tdata6),
    .tx_axis_tuser_ena6(tx_ena6),
    .tx_axis_tuser_sop6(tx_sop6),
    .tx_axis_tuser_eop6(tx_eop6),
    .tx_axis_tuser_err6(tx_err6),
    .tx_axis_tuser_mty6(tx_mty6),
    .tx_axis_tdata7(tx_tdata7),
    .tx_axis_tuser_ena7(tx_ena7),
    .tx_axis_tuser_sop7(tx_sop7),
    .tx_axis_tuser_eop7(tx_eop7),
    .tx_axis_tuser_err7(tx_err7),
    .tx_axis_tuser_mty7(tx_mty7)
  );
endmodule

`default_nettype wire
