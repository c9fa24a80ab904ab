//! The scripts in tclsh, with commands that record in the place of Vivado's.
use std::process::Command;

use hdl_designs::Board;
use stellar_fpga::Project;

use crate::files::{project, CMACS};

const VIVADO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fpga/vivado.tcl");

/// Runs the scripts of a project, up to `step`. Returns what was recorded, or what the scripts say.
pub fn run(project: &Project, slack: &str, step: Option<&str>) -> Result<Vec<String>, String> {
    run_with(project, slack, step, "")
}

/// The same with settings that CPM5 does not take.
pub fn run_with(
    project: &Project,
    slack: &str,
    step: Option<&str>,
    refuses: &str,
) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    project.write(folder.path()).unwrap();
    let output = Command::new("tclsh")
        .arg(VIVADO)
        .arg(folder.path().join("build.tcl"))
        .arg(slack)
        .args(step)
        .env("refuses", refuses)
        .output()
        .expect("tclsh runs; `./stellar setup` installs it");
    let said = String::from_utf8_lossy(&output.stdout)
        .replace(&folder.path().display().to_string(), "DIR");
    if output.status.success() {
        Ok(said
            .lines()
            .filter_map(|line| line.strip_prefix("> "))
            .map(str::to_owned)
            .collect())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

pub fn place(recorded: &[String], command: &str) -> usize {
    let found = recorded.iter().position(|line| line.starts_with(command));
    found.unwrap_or_else(|| panic!("no {command} in {recorded:#?}"))
}

#[test]
fn the_scripts_do_every_step_in_order() {
    for board in CMACS {
        let project = project(board);
        let recorded = run(&project, "0.1", None).unwrap();
        let order = [
            "set_msg_config -id {Synth 8-6430} -new_severity ERROR",
            "create_project",
            "create_ip",
            "synth_ip",
            "read_verilog",
            "read_xdc",
            "synth_design",
            "opt_design",
            "place_design",
            "route_design",
            "report_cdc",
            "report_bus_skew",
            "get_timing_paths",
            "write_bitstream",
            "write_cfgmem",
        ];
        let places = order.map(|command| place(&recorded, command));
        assert!(places.is_sorted(), "{places:?}");
        assert!(
            recorded.iter().rposition(|line| line.starts_with("read_"))
                < Some(place(&recorded, "synth_design"))
        );
        let read = |what: &str| {
            recorded
                .iter()
                .filter(|line| line.starts_with(what))
                .count()
        };
        let sources = project.files.keys().filter(|path| path.ends_with(".v"));
        assert_eq!(
            read("read_verilog"),
            sources.count(),
            "every source is read once"
        );
        assert_eq!(read("read_xdc"), 2);
        let synth = &recorded[place(&recorded, "synth_design")];
        assert!(
            synth.contains(&format!("-top {board} -part {}", board.facts().part)),
            "{synth}"
        );
        assert!(synth.contains("-verilog_define SYNTHESIS") && !synth.contains("out_of_context"));
        assert!(
            recorded
                .iter()
                .any(|line| line == "set_property SEVERITY ERROR REQP-1858"),
            "design rules"
        );
    }
}

#[test]
fn drivers_of_wide_nets_are_replicated_before_placement() {
    for board in CMACS {
        let recorded = run(&project(board), "0.1", None).unwrap();
        let wide = place(&recorded, "get_nets");
        let found = &recorded[wide];
        assert!(found.contains("FLAT_PIN_COUNT > 501"), "{found}");
        let rest = &recorded[wide + 1..];
        // A multiplexer is made a LUT first.
        assert_eq!(
            rest[..7],
            [
                "set_property MUXF_REMAP TRUE cell4",
                "opt_design ",
                found.as_str(),
                "set_property FORCE_MAX_FANOUT 500 net1",
                "set_property FORCE_MAX_FANOUT 500 net2",
                "set_property FORCE_MAX_FANOUT 500 net4",
                "place_design -directive Explore",
            ]
        );
        assert!(rest
            .iter()
            .any(|line| line.starts_with("report_high_fanout_nets")));
    }
}

/// The settings of the hard blocks: those that the card needs, and those of the board.
#[test]
fn the_hard_blocks_have_the_settings_of_the_board() {
    let blocks = [
        (
            Board::U250,
            "pcie4_uscale_plus",
            "CMACE4_X0Y8",
            "156.25",
            "X1Y44~X1Y47",
            "X1Y47",
        ),
        (
            Board::U280,
            "pcie4c_uscale_plus",
            "CMACE4_X0Y6",
            "156.25",
            "X0Y40~X0Y43",
            "X0Y43",
        ),
        (
            Board::U55c,
            "pcie4c_uscale_plus",
            "CMACE4_X0Y3",
            "161.1328125",
            "X0Y24~X0Y27",
            "X0Y27",
        ),
    ];
    for (board, core, site, reference, group, fourth) in blocks {
        let recorded = run(&project(board), "0.1", Some("ip")).unwrap();
        assert!(recorded[place(&recorded, "create_ip")].contains(&format!("-name {core} ")));
        let settings: String = recorded
            .iter()
            .filter(|line| line.starts_with("set_property -dict"))
            .cloned()
            .collect();
        for setting in [
            "PL_LINK_CAP_MAX_LINK_SPEED 8.0_GT/s".to_owned(),
            "PL_LINK_CAP_MAX_LINK_WIDTH X16".into(),
            "AXISTEN_IF_EXT_512_RQ_STRADDLE true".into(),
            "AXISTEN_IF_EXT_512_CQ_STRADDLE false".into(),
            "axisten_if_enable_client_tag true".into(),
            "vendor_id 10EE".into(),
            "PF0_DEVICE_ID 5354".into(),
            "PF0_CLASS_CODE 028000".into(),
            "pf0_bar0_scale Kilobytes CONFIG.pf0_bar0_size 64 ".into(),
            "pf0_bar2_scale Megabytes CONFIG.pf0_bar2_size 256 ".into(),
            "pf0_bar4_scale Kilobytes CONFIG.pf0_bar4_size 4".into(),
            "PF0_MSIX_CAP_TABLE_SIZE 03F".into(),
            "PF0_MSIX_CAP_PBA_OFFSET 00000800".into(),
            format!("GT_REF_CLK_FREQ {reference} "),
            format!("CMAC_CORE_SELECT {site} "),
            format!("GT_GROUP_SELECT {group} "),
            format!("LANE4_GT_LOC {fourth} CONFIG.LANE5_GT_LOC NA"),
        ] {
            assert!(
                settings.contains(&format!("CONFIG.{setting}")),
                "{board}: no {setting} in {settings}"
            );
        }
        assert!(
            !recorded.iter().any(|line| line.starts_with("read_")),
            "the step ip is the last"
        );
    }
}

#[test]
fn timing_that_is_not_met_is_an_error_and_makes_no_image() {
    let error = run(&project(Board::U55c), "-0.02", None).unwrap_err();
    assert!(
        error.contains("the worst setup slack is -0.02 ns"),
        "{error}"
    );
}

#[test]
fn an_unknown_step_a_missing_file_and_an_unknown_command_are_errors() {
    let mut project = project(Board::U55c);
    let error = run(&project, "0.1", Some("program")).unwrap_err();
    assert!(
        error.contains("there is no step program in this project; there are create, ip, read"),
        "{error}"
    );
    project
        .files
        .get_mut("project.tcl")
        .unwrap()
        .push_str("lappend sources rtl/none.v\n");
    let error = run(&project, "0.1", None).unwrap_err();
    assert!(error.contains("rtl/none.v does not exist"), "{error}");
    project
        .files
        .get_mut("tcl/create.tcl")
        .unwrap()
        .push_str("make_project\n");
    let error = run(&project, "0.1", None).unwrap_err();
    assert!(
        error.contains("invalid command name \"make_project\""),
        "{error}"
    );
}
