# The hard blocks of the V80: the block design `blocks`, as rtl/v80.v instantiates it. Settings that the driver's definition has are in project.tcl.
# DCMAC 3 with the wizard gtwiz_versal needs Vivado 2025.1.

proc connect {args} {
    set objects {}
    foreach name $args {
        lappend objects {*}[expr {[string match */* $name] ? [get_bd_pins $name] : [get_bd_ports $name]}]
    }
    connect_bd_net {*}$objects
}

# An interface of a cell as a port of the block design.
proc expose {port pin mode kind {settings {}}} {
    create_bd_intf_port -mode $mode -vlnv xilinx.com:interface:$kind $port
    if {$settings ne ""} {
        set_property -dict $settings [get_bd_intf_ports $port]
    }
    connect_bd_intf_net [get_bd_intf_ports $port] [get_bd_intf_pins $pin]
}

# A pin of a cell as a port. `direction` is that of the port, `more` what else it has.
proc bring_out {port pin direction {width 1} args} {
    set range {}
    if {$width > 1} {
        set range [list -from [expr {$width - 1}] -to 0]
    }
    create_bd_port -dir $direction {*}$range {*}$args $port
    if {$direction eq "I"} {
        connect $port $pin
    } else {
        connect $pin $port
    }
}

proc cell {name kind settings} {
    create_bd_cell -type ip -vlnv xilinx.com:$kind $name
    if {$settings ne ""} {
        set_property -dict $settings [get_bd_cells $name]
    }
}

proc constant {name width value} {
    cell $name ip:xlconstant:1.1 [list CONFIG.CONST_WIDTH $width CONFIG.CONST_VAL $value]
}

# The pins joined, from bit 0.
proc concatenate {name pins} {
    cell $name ip:xlconcat:2.1 [list CONFIG.NUM_PORTS [llength $pins]]
    set n 0
    foreach pin $pins {
        connect $pin $name/In$n
        incr n
    }
}

# What CPM5 is told about controller n.
proc controller {n} {
    global cpm
    set class [lindex $cpm(classes) $n]
    set settings [list \
        MODES PCIE \
        MODE_SELECTION Advanced \
        MAX_LINK_SPEED $cpm(speed) \
        PL_LINK_CAP_MAX_LINK_WIDTH $cpm(width) \
        REF_CLK_FREQ 100_MHz \
        AXISTEN_IF_ENABLE_CLIENT_TAG 1 \
        AXISTEN_IF_EXT_512_RQ_STRADDLE 1 \
        AXISTEN_IF_EXT_512_RC_STRADDLE 1 \
        AXISTEN_IF_EXT_512_RC_4TLP_STRADDLE 1 \
        AXISTEN_IF_EXT_512_CQ_STRADDLE 0 \
        AXISTEN_IF_EXT_512_CC_STRADDLE 0 \
        RQ_STRADDLE_SIZE 4_TLP \
        RC_STRADDLE_SIZE 8_TLP \
        EN_PARITY 0 \
        AXISTEN_IF_TX_PARITY_EN 0 \
        CFG_CTL_IF 1 \
        CFG_STS_IF 1 \
        PF0_DEV_CAP_MAX_PAYLOAD 1024_bytes \
        PF0_DEV_CAP_EXT_TAG_EN 1 \
        PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE 1 \
        PF0_DSN_CAP_ENABLE 1 \
        CFG_VEND_ID $cpm(vendor) \
        PF0_CFG_DEV_ID [lindex $cpm(devices) $n] \
        PF0_CFG_SUBSYS_VEND_ID $cpm(vendor) \
        PF0_CFG_SUBSYS_ID 0001 \
        PF0_CFG_REV_ID 1 \
        PF0_USE_CLASS_CODE_LOOKUP_ASSISTANT 0 \
        PF0_BASE_CLASS_VALUE [string range $class 0 1] \
        PF0_SUB_CLASS_VALUE [string range $class 2 3] \
        PF0_INTERFACE_VALUE [string range $class 4 5] \
        PF0_MSI_ENABLED 0]
    if {$n == 0} {
        lappend settings \
            MSI_X_OPTIONS MSI-X_External \
            PF0_MSIX_ENABLED 1 \
            PF0_MSIX_CAP_TABLE_SIZE $cpm(msix_last) \
            PF0_MSIX_CAP_TABLE_BIR BAR_5:4 \
            PF0_MSIX_CAP_TABLE_OFFSET $cpm(msix_table) \
            PF0_MSIX_CAP_PBA_BIR BAR_5:4 \
            PF0_MSIX_CAP_PBA_OFFSET $cpm(msix_pending)
        foreach {bar scale size} $cpm(bars) {
            lappend settings \
                PF0_BAR${bar}_ENABLED 1 \
                PF0_BAR${bar}_TYPE Memory \
                PF0_BAR${bar}_64BIT 1 \
                PF0_BAR${bar}_PREFETCHABLE 0 \
                PF0_BAR${bar}_SCALE $scale \
                PF0_BAR${bar}_SIZE $size
        }
    } else {
        lappend settings PF0_MSIX_ENABLED 0 PF0_BAR0_ENABLED 0
    }
    set named {}
    foreach {name value} $settings {
        lappend named CPM_PCIE${n}_$name $value
    }
    return $named
}

# Two values of a setting, of which one may be a number in another form.
proc same {one other} {
    if {[string equal -nocase $one $other]} {
        return 1
    }
    set number {^(0x)?[0-9a-fA-F]+$}
    return [expr {[regexp $number $one] && [regexp $number $other] && [scan $one %x] == [scan $other %x]}]
}

# CIPS with both controllers of CPM5. The interfaces are raw streams: neither QDMA nor bridge.
proc create_cpm {} {
    set wanted [concat [controller 0] [controller 1]]
    # The pins of the PCIe resets, and a clock of 100 MHz for registers.
    set platform {
        DESIGN_MODE 1
        PCIE_APERTURES_DUAL_ENABLE 0
        PCIE_APERTURES_SINGLE_ENABLE 0
        PS_BOARD_INTERFACE Custom
        PS_PCIE1_PERIPHERAL_ENABLE 1
        PS_PCIE2_PERIPHERAL_ENABLE 1
        PS_PCIE_EP_RESET1_IO {PMC_MIO 24}
        PS_PCIE_EP_RESET2_IO {PMC_MIO 25}
        PS_PCIE_RESET {{ENABLE 1}}
        PS_NUM_FABRIC_RESETS 1
        PS_USE_PMCPL_CLK0 1
        PMC_CRP_PL0_REF_CTRL_FREQMHZ 100
        SMON_ALARMS Set_Alarms_On
        SMON_ENABLE_TEMP_AVERAGING 0
        SMON_TEMP_AVERAGING_SAMPLES 0
    }
    cell cips ip:versal_cips:3.4 [list CONFIG.CPM_CONFIG $wanted CONFIG.PS_PMC_CONFIG $platform CONFIG.PS_PMC_CONFIG_APPLIED 1]
    # A setting that the IP does not know is not an error in Vivado. Those of straddle have other names inside, by what others publish.
    set taken [get_property CONFIG.CPM_CONFIG [get_bd_cells cips]]
    foreach {name value} $wanted {
        if {[dict exists $taken $name] && [same [dict get $taken $name] $value]} {
            continue
        }
        if {![string match *_STRADDLE* $name]} {
            error "CPM5 has not taken $name $value"
        }
        puts "openstellar: CPM5 does not repeat $name $value"
    }
    foreach n {0 1} {
        expose pcie${n}_refclk cips/gt_refclk$n Slave diff_clock_rtl:1.0
        expose pcie${n}_gt cips/PCIE${n}_GT Master gt_rtl:1.0
        expose pcie${n}_cq cips/pcie${n}_m_axis_cq Master axis_rtl:1.0
        expose pcie${n}_rc cips/pcie${n}_m_axis_rc Master axis_rtl:1.0
        foreach {name user} {cc 165 rq 373} {
            expose pcie${n}_$name cips/pcie${n}_s_axis_$name Slave axis_rtl:1.0 [list \
                CONFIG.HAS_TKEEP 1 CONFIG.HAS_TLAST 1 CONFIG.HAS_TREADY 1 CONFIG.HAS_TSTRB 0 CONFIG.LAYERED_METADATA undef \
                CONFIG.TDATA_NUM_BYTES 128 CONFIG.TDEST_WIDTH 0 CONFIG.TID_WIDTH 0 CONFIG.TUSER_WIDTH $user]
        }
        expose pcie${n}_control cips/pcie${n}_cfg_control Slave pcie5_cfg_control_rtl:1.0
        expose pcie${n}_status cips/pcie${n}_cfg_status Master pcie5_cfg_status_rtl:1.0
        bring_out pcie${n}_user_reset cips/pcie${n}_user_reset O 1 -type rst
        bring_out pcie${n}_user_clk cips/pcie${n}_user_clk O 1 -type clk
        set_property -dict [list \
            CONFIG.ASSOCIATED_BUSIF pcie${n}_cq:pcie${n}_rc:pcie${n}_cc:pcie${n}_rq \
            CONFIG.ASSOCIATED_RESET pcie${n}_user_reset] [get_bd_ports pcie${n}_user_clk]
    }
    expose pcie0_msix cips/pcie0_cfg_msix Slave pcie4_cfg_msix_rtl:1.0
}

# The reference of both QSFPs to the transceivers, and the clocks of the DCMAC's core (782 MHz), its streams (391 MHz: PG369 wants 390.625 MHz and 100 ppm at least) and its time stamps (350 MHz) from it.
proc create_clocks {} {
    global dcmac
    cell refclk ip:util_ds_buf:2.2 {CONFIG.C_BUF_TYPE IBUFDS_GTME5}
    expose qsfp_refclk refclk/CLK_IN_D1 Slave diff_clock_rtl:1.0 [list CONFIG.FREQ_HZ [expr {round($dcmac(reference) * 1e6)}]]
    constant one 1 1
    constant zero 1 0
    cell fabric_refclk ip:util_ds_buf:2.2 {CONFIG.C_BUF_TYPE BUFG_GT}
    connect refclk/IBUFDS_GTME5_ODIV2 fabric_refclk/BUFG_GT_I
    connect one/dout fabric_refclk/BUFG_GT_CE
    cell clocks ip:clk_wizard:1.0 [list \
        CONFIG.PRIM_IN_FREQ $dcmac(reference) \
        CONFIG.PRIM_SOURCE Global_buffer \
        CONFIG.CLKOUT_USED {true,true,true,false,false,false,false} \
        CONFIG.CLKOUT_REQUESTED_OUT_FREQUENCY {782,391,350,100.000,100.000,100.000,100.000} \
        CONFIG.CLKOUT_DRIVES {BUFG,BUFG,BUFG,BUFG,BUFG,BUFG,BUFG} \
        CONFIG.USE_LOCKED true \
        CONFIG.USE_RESET false]
    connect fabric_refclk/BUFG_GT_O clocks/clk_in1
    bring_out mac_clk clocks/clk_out2 O 1 -type clk

    # The clock of registers comes from the processing system, and stays. Its reset ends when the clocks of the DCMAC run.
    bring_out reg_clk cips/pl0_ref_clk O 1 -type clk
    cell reg_resets ip:proc_sys_reset:5.0 {}
    connect cips/pl0_ref_clk reg_resets/slowest_sync_clk
    connect cips/pl0_resetn reg_resets/ext_reset_in
    connect clocks/locked reg_resets/dcm_locked
    bring_out reg_reset reg_resets/peripheral_reset O 1 -type rst
}

# The transceivers of QSFP n: a quad of GTM at 53.125 Gb/s per lane, PAM4.
proc create_quad {n} {
    global dcmac
    set quad quad$n
    set lanes {}
    foreach lane {0 1 2 3} {
        lappend lanes QUAD0_RX$lane {{}} QUAD0_TX$lane {{}}
    }
    set rates [list \
        RX_REFCLK_FREQUENCY $dcmac(reference) TX_REFCLK_FREQUENCY $dcmac(reference) \
        RXPROGDIV_FREQ_VAL $dcmac(divided) TXPROGDIV_FREQ_VAL $dcmac(divided)]
    cell $quad ip:gtwiz_versal:1.0 [list \
        CONFIG.GT_TYPE GTM \
        CONFIG.INTF0_PRESET GTM-PAM4_Ethernet_53G \
        CONFIG.INTF0_GT_SETTINGS(LR0_SETTINGS) $rates \
        CONFIG.INTF0_PARENTID undef \
        CONFIG.INTF_PARENT_PIN_LIST $lanes \
        CONFIG.LOCATE_BUFG EXAMPLE_DESIGN \
        CONFIG.QUAD0_REFCLK_STRING "HSCLK0_LCPLLGTREFCLK0 refclk_PROT0_R0_$dcmac(reference_exact)_MHz_unique1" \
        CONFIG.QUAD0_GT_GPIO_EN false]
    expose qsfp${n}_gt $quad/Quad0_GT_Serial Master gt_rtl:1.0
    connect refclk/IBUFDS_GTME5_O $quad/QUAD0_GTREFCLK0
    connect cips/pl0_ref_clk $quad/gtwiz_freerun_clk
    foreach direction {RX TX} {
        set buffer ${quad}_[string tolower $direction]
        cell $buffer ip:util_ds_buf:2.2 {CONFIG.C_BUF_TYPE MBUFG_GT}
        connect $quad/QUAD0_${direction}0_outclk $buffer/MBUFG_GT_I
        connect one/dout $buffer/MBUFG_GT_CE
        connect $quad/INTF0_${direction}_clr_out $buffer/MBUFG_GT_CLR
        connect $quad/INTF0_${direction}_clrb_leaf_out $buffer/MBUFG_GT_CLRB_LEAF
        foreach lane {0 1 2 3} {
            connect $buffer/MBUFG_GT_O2 $quad/QUAD0_${direction}${lane}_usrclk
        }
    }
    foreach lane {0 1 2 3} {
        set place [expr {4 * $n + $lane}]
        connect mac/txdata_out_$place $quad/INTF0_TX${lane}_ch_txdata
        connect $quad/INTF0_RX${lane}_ch_rxdata mac/rxdata_in_$place
        connect main_cursor/dout $quad/INTF0_TX${lane}_ch_txmaincursor
        connect side_cursor/dout $quad/INTF0_TX${lane}_ch_txpostcursor
        connect side_cursor/dout $quad/INTF0_TX${lane}_ch_txprecursor
    }
    # Both quads begin together; a receiver may begin again alone.
    connect gt_reset $quad/INTF0_rst_all_in
    bring_out gt_rx_reset$n $quad/INTF0_rst_rx_datapath_in I 1
    foreach pin {rst_rx_pll_and_datapath_in rst_tx_pll_and_datapath_in rst_tx_datapath_in} {
        connect zero/dout $quad/INTF0_$pin
    }
    bring_out gt_tx_done$n $quad/INTF0_rst_tx_done_out O 1
    bring_out gt_rx_done$n $quad/INTF0_rst_rx_done_out O 1
}

# The DCMAC with two ports of 200G: slots 0 and 1, and slots 2 and 3. `dcmac_start` sets its modes again by the registers.
proc create_dcmac {} {
    global dcmac
    set settings [list \
        CONFIG.DCMAC_LOCATION_C0 $dcmac(site) \
        CONFIG.DCMAC_MODE_C0 {Coupled MAC+PCS} \
        CONFIG.DCMAC_DATA_PATH_INTERFACE_C0 {391MHz Upto 6 Ports} \
        CONFIG.GT_REF_CLK_FREQ_C0 $dcmac(reference) \
        CONFIG.IS_GT_WIZ_OLD 0 \
        CONFIG.GT_PIPELINE_STAGES 7 \
        CONFIG.MAC_PORT0_CONFIG_C0 200GAUI-4 \
        CONFIG.MAC_PORT2_CONFIG_C0 200GAUI-4]
    foreach slot {0 1 2 3 4 5} {
        lappend settings CONFIG.MAC_PORT${slot}_ENABLE_C0 [expr {$slot < 4}]
        if {$slot < 4} {
            lappend settings \
                CONFIG.MAC_PORT${slot}_RX_STRIP_C0 1 \
                CONFIG.MAC_PORT${slot}_TX_INSERT_C0 1 \
                CONFIG.FEC_SLICE${slot}_CFG_C0 {RS(544) CL119}
        }
    }
    cell mac ip:dcmac:3.0 $settings
    expose mac_axi mac/s_axi Slave aximm_rtl:1.0 {
        CONFIG.PROTOCOL AXI4LITE CONFIG.ADDR_WIDTH 32 CONFIG.DATA_WIDTH 32 CONFIG.HAS_PROT 0 CONFIG.HAS_WSTRB 0
    }
    set_property CONFIG.ASSOCIATED_BUSIF mac_axi [get_bd_ports reg_clk]
    connect cips/pl0_ref_clk mac/s_axi_aclk
    bring_out mac_axi_aresetn mac/s_axi_aresetn I 1 -type rst

    # Clocks. Those of the slots are buses of six.
    foreach direction {rx tx} {
        connect clocks/clk_out1 mac/${direction}_core_clk
        connect clocks/clk_out2 mac/${direction}_axi_clk
        connect clocks/clk_out2 mac/${direction}_macif_clk
    }
    set clock clocks/clk_out2
    concatenate stream_clocks [list $clock $clock $clock $clock $clock $clock]
    connect stream_clocks/dout mac/rx_flexif_clk mac/tx_flexif_clk
    set clock clocks/clk_out3
    concatenate stamp_clocks [list $clock $clock $clock $clock $clock $clock]
    connect stamp_clocks/dout mac/ts_clk

    # Resets and flushes are those of registers (dcmac_start).
    constant none 6 0
    foreach direction {rx tx} {
        connect zero/dout mac/${direction}_core_reset
        connect none/dout mac/${direction}_serdes_reset mac/${direction}_channel_flush
    }

    # Distances of alignment markers, which count only in custom modes.
    constant marker_distance 16 255
    connect marker_distance/dout mac/ctl_rx_custom_vl_length_minus1 mac/ctl_tx_custom_vl_length_minus1

    # The swing of the transmitters.
    constant main_cursor 7 52
    constant side_cursor 6 6
    create_bd_port -dir I gt_reset
    foreach n {0 1} {
        create_quad $n
    }
    foreach direction {rx tx} {
        foreach {bus output} {serdes_clk O1 alt_serdes_clk O2} {
            set clocks {}
            foreach slot {0 1 2 3} {
                lappend clocks quad[expr {$slot / 2}]_$direction/MBUFG_GT_$output
            }
            concatenate ${direction}_$bus [concat $clocks zero/dout zero/dout]
            connect ${direction}_$bus/dout mac/${direction}_$bus
        }
    }

    # The streams: four segments for each port.
    foreach slot {0 2} {
        bring_out rx_axis_tvalid_$slot mac/rx_axis_tvalid_$slot O
        bring_out tx_axis_tvalid_$slot mac/tx_axis_tvalid_$slot I
        bring_out tx_axis_tready_$slot mac/tx_axis_tready_$slot O
    }
    foreach segment {0 1 2 3 4 5 6 7} {
        foreach {name width} {tdata 128 tuser_ena 1 tuser_sop 1 tuser_eop 1 tuser_err 1 tuser_mty 4} {
            bring_out rx_axis_$name$segment mac/rx_axis_$name$segment O $width
            bring_out tx_axis_$name$segment mac/tx_axis_$name$segment I $width
        }
    }
    constant preamble 56 0
    connect preamble/dout mac/tx_preamblein_0 mac/tx_preamblein_2
}

proc step_ip {} {
    global results
    create_bd_design -dir $results blocks
    create_cpm
    create_clocks
    create_dcmac
    assign_bd_address
    validate_bd_design
    save_bd_design
    # Its cells are synthesised with the top.
    set design [get_files blocks.bd]
    set_property synth_checkpoint_mode None $design
    generate_target all $design
}
