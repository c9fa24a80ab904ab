# The hard blocks: pcie and cmac, as rtl/alveo_100g.v instantiates them. Settings that differ between boards are in project.tcl.

# Identity, BARs and MSI-X come from the driver's definition (project.tcl); docs/driver.md has the configuration space.
proc create_pcie {} {
    global results pcie
    create_ip -name $pcie(core) -vendor xilinx.com -library ip -module_name pcie -dir $results
    set settings [list \
        CONFIG.mode_selection Advanced \
        CONFIG.PL_LINK_CAP_MAX_LINK_SPEED $pcie(speed) \
        CONFIG.PL_LINK_CAP_MAX_LINK_WIDTH $pcie(width) \
        CONFIG.axisten_if_width 512_bit \
        CONFIG.axisten_freq 250 \
        CONFIG.AXISTEN_IF_EXT_512_CQ_STRADDLE false \
        CONFIG.AXISTEN_IF_EXT_512_RQ_STRADDLE true \
        CONFIG.AXISTEN_IF_EXT_512_RC_4TLP_STRADDLE true \
        CONFIG.axisten_if_enable_client_tag true \
        CONFIG.extended_tag_field true \
        CONFIG.pf0_dev_cap_max_payload 1024_bytes \
        CONFIG.vendor_id $pcie(vendor) \
        CONFIG.PF0_DEVICE_ID $pcie(device) \
        CONFIG.PF0_SUBSYSTEM_VENDOR_ID $pcie(vendor) \
        CONFIG.PF0_SUBSYSTEM_ID 0001 \
        CONFIG.pf0_dsn_enabled true \
        CONFIG.PF0_Use_Class_Code_Lookup_Assistant false \
        CONFIG.PF0_CLASS_CODE $pcie(class) \
        CONFIG.pf0_msi_enabled false \
        CONFIG.pf0_msix_enabled true \
        CONFIG.MSI_X_OPTIONS MSI-X_External \
        CONFIG.PF0_MSIX_CAP_TABLE_SIZE $pcie(msix_last) \
        CONFIG.PF0_MSIX_CAP_TABLE_BIR BAR_5:4 \
        CONFIG.PF0_MSIX_CAP_TABLE_OFFSET $pcie(msix_table) \
        CONFIG.PF0_MSIX_CAP_PBA_BIR BAR_5:4 \
        CONFIG.PF0_MSIX_CAP_PBA_OFFSET $pcie(msix_pending)]
    foreach {bar scale size} $pcie(bars) {
        lappend settings \
            CONFIG.pf0_bar${bar}_enabled true \
            CONFIG.pf0_bar${bar}_type Memory \
            CONFIG.pf0_bar${bar}_64bit true \
            CONFIG.pf0_bar${bar}_prefetchable false \
            CONFIG.pf0_bar${bar}_scale $scale \
            CONFIG.pf0_bar${bar}_size $size
    }
    set_property -dict $settings [get_ips pcie]
}

# Without its AXI4-Lite interface, the core has ports for what the shim drives.
proc create_cmac {} {
    global results cmac
    create_ip -name cmac_usplus -vendor xilinx.com -library ip -module_name cmac -dir $results
    set settings [list \
        CONFIG.CMAC_CAUI4_MODE 1 \
        CONFIG.NUM_LANES 4x25 \
        CONFIG.USER_INTERFACE AXIS \
        CONFIG.GT_REF_CLK_FREQ $cmac(reference) \
        CONFIG.GT_DRP_CLK 125.00 \
        CONFIG.ENABLE_AXI_INTERFACE 0 \
        CONFIG.INCLUDE_STATISTICS_COUNTERS 0 \
        CONFIG.INCLUDE_RS_FEC 1 \
        CONFIG.ENABLE_PIPELINE_REG 1 \
        CONFIG.TX_FLOW_CONTROL 0 \
        CONFIG.RX_FLOW_CONTROL 0 \
        CONFIG.RX_MIN_PACKET_LEN 64 \
        CONFIG.RX_MAX_PACKET_LEN 9600 \
        CONFIG.INS_LOSS_NYQ 20 \
        CONFIG.RX_GT_BUFFER 1 \
        CONFIG.GT_RX_BUFFER_BYPASS 0 \
        CONFIG.CMAC_CORE_SELECT $cmac(site) \
        CONFIG.GT_GROUP_SELECT $cmac(group)]
    for {set lane 1} {$lane <= 10} {incr lane} {
        set place [lindex $cmac(lanes) [expr {$lane - 1}]]
        lappend settings CONFIG.LANE${lane}_GT_LOC [expr {$place eq "" ? "NA" : $place}]
    }
    set_property -dict $settings [get_ips cmac]
}

proc step_ip {} {
    create_pcie
    create_cmac
    generate_target all [get_ips {pcie cmac}]
    synth_ip [get_ips {pcie cmac}]
}
