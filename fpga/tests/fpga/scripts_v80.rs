//! The scripts of the V80 in tclsh: its block design, and its image.
use std::collections::BTreeMap;

use hdl_designs::Board;
use stellar_fpga::netlist::Module;
use stellar_fpga::Project;

use crate::files::project;
use crate::scripts::{place, run, run_with};

const BLOCKS: &str = include_str!("blocks.v");

/// Members of AMD's interfaces as the top uses them: name, width, and whether the end that is a slave drives them. A width of 0 is that of `tuser`.
const AXIS: &[(&str, usize, bool)] = &[
    ("tvalid", 1, false),
    ("tready", 1, true),
    ("tdata", 1024, false),
    ("tkeep", 32, false),
    ("tlast", 1, false),
    ("tuser", 0, false),
];
const LITE: &[(&str, usize, bool)] = &[
    ("awaddr", 32, false),
    ("awvalid", 1, false),
    ("awready", 1, true),
    ("wdata", 32, false),
    ("wvalid", 1, false),
    ("wready", 1, true),
    ("bresp", 2, true),
    ("bvalid", 1, true),
    ("bready", 1, false),
    ("araddr", 32, false),
    ("arvalid", 1, false),
    ("arready", 1, true),
    ("rdata", 32, true),
    ("rresp", 2, true),
    ("rvalid", 1, true),
    ("rready", 1, false),
];
const CONTROL: &[(&str, usize, bool)] = &[
    ("err_cor_in", 1, false),
    ("err_uncor_in", 1, false),
    ("flr_done", 1, false),
    ("flr_done_function_number", 16, false),
    ("flr_in_process", 4, true),
    ("hot_reset_in", 1, false),
    ("per_function_number", 16, false),
    ("per_function_req", 1, false),
    ("power_state_change_ack", 1, false),
];
const STATUS: &[(&str, usize, bool)] = &[
    ("cq_np_req", 2, true),
    ("function_status", 4, false),
    ("phy_link_down", 1, false),
];
const MSIX: &[(&str, usize, bool)] = &[
    ("enable", 4, true),
    ("mask", 4, true),
    ("address", 64, false),
    ("data", 32, false),
    ("int_vector", 1, false),
    ("mint_vector", 32, false),
    ("function_number", 16, false),
    ("vec_pending", 2, false),
    ("attr", 3, false),
    ("tph_present", 1, false),
    ("tph_st_tag", 8, false),
    ("tph_type", 2, false),
];

/// The value of an option in a recorded command.
fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == name)?;
    words.get(at + 1).copied()
}

/// The ports of the recorded block design: width, and whether it is an output.
fn ports(recorded: &[String]) -> BTreeMap<String, (usize, bool)> {
    let mut ports = BTreeMap::new();
    for line in recorded {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = (*words.last().unwrap()).to_owned();
        match words[0] {
            "create_bd_port" => {
                let top: usize = option(&words, "-from").map_or(0, |from| from.parse().unwrap());
                ports.insert(name, (top + 1, option(&words, "-dir") == Some("O")));
            }
            "create_bd_intf_port" => {
                let is_slave = option(&words, "-mode") == Some("Slave");
                let kind = option(&words, "-vlnv").unwrap();
                let lanes = if name.starts_with("pcie") { 8 } else { 4 };
                let user = [("_cq", 465), ("_rc", 337), ("_cc", 165), ("_rq", 373)]
                    .iter()
                    .find(|(end, _)| name.ends_with(end))
                    .map_or(1, |(_, user)| *user);
                let transceivers = [
                    ("grx_p", lanes, true),
                    ("grx_n", lanes, true),
                    ("gtx_p", lanes, false),
                    ("gtx_n", lanes, false),
                ];
                let members = match kind.trim_start_matches("xilinx.com:interface:") {
                    "axis_rtl:1.0" => AXIS,
                    "aximm_rtl:1.0" => LITE,
                    "pcie5_cfg_control_rtl:1.0" => CONTROL,
                    "pcie5_cfg_status_rtl:1.0" => STATUS,
                    "pcie4_cfg_msix_rtl:1.0" => MSIX,
                    "gt_rtl:1.0" => &transceivers,
                    "diff_clock_rtl:1.0" => &[("clk_p", 1, false), ("clk_n", 1, false)],
                    other => panic!("interface {other}"),
                };
                for (member, width, by_slave) in members {
                    let width = if *width == 0 { user } else { *width };
                    let port = format!("{name}_{member}");
                    ports.insert(port, (width, *by_slave == is_slave));
                }
            }
            _ => {}
        }
    }
    ports
}

/// The ports that the top is checked with.
fn stub() -> BTreeMap<String, (usize, bool)> {
    let module = Module::read_all(BLOCKS).remove(0);
    let ports = module.ports.into_iter();
    ports
        .map(|port| (port.name, (port.width, port.is_output)))
        .collect()
}

fn recorded(project: &Project) -> Vec<String> {
    run(project, "0.1", None).unwrap()
}

#[test]
fn the_scripts_of_the_v80_do_every_step_in_order() {
    let project = project(Board::V80);
    let recorded = recorded(&project);
    let order = [
        "create_project -in_memory -part xcv80-lsva4737-2MHP-e-S",
        "create_bd_design",
        "create_bd_cell",
        "assign_bd_address",
        "validate_bd_design",
        "save_bd_design",
        "set_property synth_checkpoint_mode None blocks.bd",
        "generate_target all blocks.bd",
        "read_verilog",
        "read_xdc v80.xdc",
        "read_xdc crossings.xdc",
        "synth_design -top v80 -part xcv80-lsva4737-2MHP-e-S -verilog_define SYNTHESIS",
        "opt_design",
        "place_design",
        "route_design",
        "report_cdc",
        "report_bus_skew",
        "get_timing_paths",
        "write_device_image -force DIR/build/openstellar.pdi",
    ];
    let places = order.map(|command| place(&recorded, command));
    assert!(places.is_sorted(), "{places:?}");
    for absent in ["create_ip", "write_bitstream", "write_cfgmem"] {
        assert!(!recorded.iter().any(|line| line.starts_with(absent)));
    }
    let sources = project.files.keys().filter(|path| path.ends_with(".v"));
    let read = recorded
        .iter()
        .filter(|line| line.starts_with("read_verilog"));
    assert_eq!(read.count(), sources.count());
    let error = run(&project, "-0.02", None).unwrap_err();
    assert!(
        error.contains("the worst setup slack is -0.02 ns"),
        "{error}"
    );
}

/// The block design has the ports that the top is checked with, no more and no fewer.
#[test]
fn the_block_design_has_the_ports_of_the_top() {
    let good = project(Board::V80);
    assert_eq!(ports(&recorded(&good)), stub());
    for (from, to) in [
        (
            "    expose pcie0_msix cips/pcie0_cfg_msix Slave pcie4_cfg_msix_rtl:1.0\n",
            "",
        ),
        ("tuser_mty 4", "tuser_mty 3"),
        (
            "bring_out gt_tx_done$n $quad/INTF0_rst_tx_done_out O 1",
            "bring_out gt_tx_done$n $quad/INTF0_rst_tx_done_out I 1",
        ),
        (
            "expose mac_axi mac/s_axi Slave",
            "expose mac_axi mac/s_axi Master",
        ),
    ] {
        let mut changed = good.clone();
        let text = changed.files.get_mut("tcl/ip.tcl").unwrap();
        assert!(text.contains(from), "{from}");
        *text = text.replacen(from, to, 1);
        assert_ne!(ports(&recorded(&changed)), stub(), "{from}");
    }
}

/// What drives an input of the block design.
fn driver<'a>(recorded: &'a [String], pin: &str) -> &'a str {
    let nets = recorded
        .iter()
        .filter_map(|line| line.strip_prefix("connect_bd_net "));
    let mut nets = nets.map(|net| net.split_whitespace());
    let found = nets.find_map(|mut net| {
        let first = net.next().unwrap();
        net.any(|object| object == pin).then_some(first)
    });
    found.unwrap_or_else(|| panic!("{pin} is not connected"))
}

/// The clocks, resets and lanes of the DCMAC and of its transceivers.
#[test]
fn the_dcmac_is_connected() {
    let recorded = recorded(&project(Board::V80));
    let driver = |pin: &str| driver(&recorded, pin);
    for direction in ["rx", "tx"] {
        assert_eq!(
            driver(&format!("mac/{direction}_core_clk")),
            "clocks/clk_out1"
        );
        assert_eq!(
            driver(&format!("mac/{direction}_axi_clk")),
            "clocks/clk_out2"
        );
        assert_eq!(
            driver(&format!("mac/{direction}_macif_clk")),
            "clocks/clk_out2"
        );
        assert_eq!(
            driver(&format!("mac/{direction}_flexif_clk")),
            "stream_clocks/dout"
        );
        for reset in ["core_reset", "serdes_reset", "channel_flush"] {
            let source = driver(&format!("mac/{direction}_{reset}"));
            assert!(["zero/dout", "none/dout"].contains(&source));
        }
        // Slots 0 and 1 are those of QSFP0, 2 and 3 those of QSFP1.
        for (bus, output) in [("serdes_clk", "O1"), ("alt_serdes_clk", "O2")] {
            let bus = format!("{direction}_{bus}");
            assert_eq!(driver(&format!("mac/{bus}")), format!("{bus}/dout"));
            for slot in 0..6 {
                let due = match slot {
                    0..4 => format!("quad{}_{direction}/MBUFG_GT_{output}", slot / 2),
                    _ => "zero/dout".into(),
                };
                assert_eq!(driver(&format!("{bus}/In{slot}")), due);
            }
        }
    }
    assert_eq!(driver("mac/ts_clk"), "stamp_clocks/dout");
    for input in [
        "mac/s_axi_aclk",
        "quad0/gtwiz_freerun_clk",
        "quad1/gtwiz_freerun_clk",
    ] {
        assert_eq!(
            driver(input),
            "cips/pl0_ref_clk",
            "the clock that never stops"
        );
    }
    assert_eq!(driver("mac/s_axi_aresetn"), "mac_axi_aresetn");
    for lane in 0..8 {
        let (quad, place) = (lane / 4, lane % 4);
        let sent = driver(&format!("quad{quad}/INTF0_TX{place}_ch_txdata")).to_owned();
        assert_eq!(sent, format!("mac/txdata_out_{lane}"));
        let came = driver(&format!("mac/rxdata_in_{lane}")).to_owned();
        assert_eq!(came, format!("quad{quad}/INTF0_RX{place}_ch_rxdata"));
        for direction in ["RX", "TX"] {
            let clock = driver(&format!("quad{quad}/QUAD0_{direction}{place}_usrclk"));
            let lower = direction.to_lowercase();
            assert_eq!(clock, format!("quad{quad}_{lower}/MBUFG_GT_O2"));
        }
    }
    for quad in 0..2 {
        assert_eq!(
            driver(&format!("quad{quad}/QUAD0_GTREFCLK0")),
            "refclk/IBUFDS_GTME5_O"
        );
        assert_eq!(driver(&format!("quad{quad}/INTF0_rst_all_in")), "gt_reset");
        assert_eq!(
            driver(&format!("quad{quad}/INTF0_rst_rx_datapath_in")),
            format!("gt_rx_reset{quad}")
        );
        assert_eq!(
            driver(&format!("gt_rx_done{quad}")),
            format!("quad{quad}/INTF0_rst_rx_done_out")
        );
    }
    assert_eq!(driver("mac_clk"), "clocks/clk_out2");
    assert_eq!(driver("reg_resets/dcm_locked"), "clocks/locked");
}

/// What AMD's cores are told: what the card needs, and what the driver's definition says.
#[test]
fn the_cores_of_the_v80_have_their_settings() {
    let recorded = run(&project(Board::V80), "0.1", Some("ip")).unwrap();
    assert!(!recorded.iter().any(|line| line.starts_with("read_")));
    let settings: String = recorded
        .iter()
        .filter(|line| line.starts_with("set_property -dict"))
        .cloned()
        .collect();
    let mut due = vec![];
    for n in 0..2 {
        for setting in [
            "MODES PCIE",
            "MODE_SELECTION Advanced",
            "MAX_LINK_SPEED 32.0_GT/s",
            "PL_LINK_CAP_MAX_LINK_WIDTH X8",
            "AXISTEN_IF_ENABLE_CLIENT_TAG 1",
            "AXISTEN_IF_EXT_512_RQ_STRADDLE 1",
            "AXISTEN_IF_EXT_512_CQ_STRADDLE 0",
            "RQ_STRADDLE_SIZE 4_TLP",
            "RC_STRADDLE_SIZE 8_TLP",
            "CFG_VEND_ID 10EE",
            "PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE 1",
        ] {
            due.push(format!("CPM_PCIE{n}_{setting} "));
        }
    }
    due.extend(
        [
            "CPM_PCIE0_PF0_CFG_DEV_ID 5354 ",
            "CPM_PCIE1_PF0_CFG_DEV_ID 5344 ",
            "CPM_PCIE0_PF0_BASE_CLASS_VALUE 02 ",
            "CPM_PCIE0_PF0_SUB_CLASS_VALUE 80 ",
            "CPM_PCIE1_PF0_BASE_CLASS_VALUE 08 ",
            "CPM_PCIE0_PF0_BAR0_SCALE Kilobytes CPM_PCIE0_PF0_BAR0_SIZE 64 ",
            "CPM_PCIE0_PF0_BAR2_SCALE Megabytes CPM_PCIE0_PF0_BAR2_SIZE 256 ",
            "CPM_PCIE0_PF0_BAR4_SCALE Kilobytes CPM_PCIE0_PF0_BAR4_SIZE 4 ",
            "CPM_PCIE0_MSI_X_OPTIONS MSI-X_External ",
            "CPM_PCIE0_PF0_MSIX_CAP_TABLE_SIZE 03F ",
            "CPM_PCIE0_PF0_MSIX_CAP_PBA_OFFSET 00000800 ",
            "CPM_PCIE1_PF0_MSIX_ENABLED 0 CPM_PCIE1_PF0_BAR0_ENABLED 0",
            "PMC_CRP_PL0_REF_CTRL_FREQMHZ 100",
            "CONFIG.DCMAC_LOCATION_C0 DCMAC_X1Y1 ",
            "CONFIG.DCMAC_DATA_PATH_INTERFACE_C0 {391MHz Upto 6 Ports} ",
            "CONFIG.MAC_PORT0_CONFIG_C0 200GAUI-4 CONFIG.MAC_PORT2_CONFIG_C0 200GAUI-4",
            "CONFIG.FEC_SLICE3_CFG_C0 {RS(544) CL119}",
            "CONFIG.INTF0_PRESET GTM-PAM4_Ethernet_53G",
            "TX_REFCLK_FREQUENCY 322.265625",
            "CLKOUT_REQUESTED_OUT_FREQUENCY 782,391,350,",
        ]
        .map(String::from),
    );
    for setting in due {
        assert!(settings.contains(&setting), "no {setting} in {settings}");
    }
    // Vivado takes a dictionary with a name that the IP does not know, so the script looks again.
    let of_name = |name: &str| run_with(&project(Board::V80), "0.1", Some("ip"), name);
    let error = of_name("CPM_PCIE1_PF0_DSN_CAP_ENABLE").unwrap_err();
    assert!(
        error.contains("CPM5 has not taken CPM_PCIE1_PF0_DSN_CAP_ENABLE 1"),
        "{error}"
    );
    of_name("CPM_PCIE1_AXISTEN_IF_EXT_512_RQ_STRADDLE").unwrap();
}

/// Mistakes in the block design that Vivado would find, and some that it would not.
#[test]
fn mistakes_in_the_block_design_are_found() {
    let good = project(Board::V80);
    for (from, to, due) in [
        (
            "foreach n {0 1} {\n        create_quad $n",
            "foreach n {0 0} {\n        create_quad $n",
            "exists",
        ),
        (
            "connect fabric_refclk/BUFG_GT_O clocks/clk_in1",
            "connect fabric_refclk/BUFG_GT_O clock/clk_in1",
            "there is no cell clock",
        ),
        (
            "connect stamp_clocks/dout mac/ts_clk",
            "connect stamp_clocks/dout mac/tx_flexif_clk",
            "connection of mac/tx_flexif_clk exists",
        ),
        (
            "connect gt_reset $quad/",
            "connect gt_resets $quad/",
            "there is no port gt_resets",
        ),
    ] {
        let mut changed = good.clone();
        let text = changed.files.get_mut("tcl/ip.tcl").unwrap();
        assert!(text.contains(from), "{from}");
        *text = text.replacen(from, to, 1);
        let error = run(&changed, "0.1", None).unwrap_err();
        assert!(error.contains(due), "{due}: {error}");
    }
}
