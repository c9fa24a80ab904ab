//! The linter: the constraints of every board pass, and each mistake is found.
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hdl_designs::Board;
use stellar_fpga::crossing_constraints::lines;
use stellar_fpga::crossings::Crossing;
use stellar_fpga::lint::{check, Crossings};
use stellar_fpga::netlist::Module;
use stellar_fpga::platform::Platform;
use stellar_fpga::project::{board_constraints, board_top, crossings_of};
use stellar_fpga::Problem;

/// The crossings of a design, found once.
fn crossings(design: &'static str) -> Vec<Crossing> {
    static FOUND: Mutex<BTreeMap<&str, Vec<Crossing>>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let find = || crossings_of(&hdl_designs::elaborate(design).unwrap());
    found.entry(design).or_insert_with(find).clone()
}

/// A board's constraints with those of its blocks' crossings.
struct Case {
    board: Board,
    top: Module,
    blocks: Vec<Crossings<'static>>,
    /// The lines of crossings.
    generated: String,
    text: String,
}

impl Case {
    fn new(board: Board) -> Self {
        let mut blocks = vec![];
        let mut generated = String::new();
        for block in Platform::of(board).blocks {
            for at in block.at {
                let found = crossings(block.design);
                generated += &lines(&found, at, &block.periods());
                blocks.push(Crossings {
                    at,
                    found,
                    periods: block.periods(),
                });
            }
        }
        Self {
            board,
            top: Module::read_all(board_top(board)).remove(0),
            blocks,
            text: format!("{}{generated}", board_constraints(board)),
            generated,
        }
    }

    fn problems(&self, text: &str) -> Vec<Problem> {
        check(self.board, &self.top, text, &self.blocks)
    }

    /// The only problem after a change, in words.
    fn after(&self, from: &str, to: &str) -> String {
        assert!(self.text.contains(from), "{from} is not in the constraints");
        let problems = self.problems(&self.text.replacen(from, to, 1));
        let words: Vec<String> = problems.iter().map(ToString::to_string).collect();
        words.join("; ")
    }
}

#[test]
fn the_constraints_of_every_board_pass() {
    for board in Board::ALL {
        let case = Case::new(board);
        assert_eq!(case.problems(&case.text), vec![], "{board}");
    }
}

#[test]
fn every_mistake_with_pins_is_found() {
    let case = Case::new(Board::U55c);
    let line = "set_property PACKAGE_PIN AL2 [get_ports {pcie_rx_p[0]}]\n";
    assert_eq!(case.after(line, ""), "port pcie_rx_p[0] has no pin");
    let twice = format!("{line}set_property PACKAGE_PIN AM1 [get_ports {{pcie_rx_p[0]}}]\n");
    let found = case.after(line, &twice);
    assert!(
        found.starts_with(
            "port pcie_rx_p[0] is placed twice, at AL2 and AM1; port pcie_rx_p[0] is at pin AM1"
        ),
        "{found}"
    );
    let found = case.after("PACKAGE_PIN AL2 ", "PACKAGE_PIN AM4 ");
    assert!(
        found.contains("pin AM4 is used twice")
            && found.contains("on this board it belongs to AL2"),
        "{found}"
    );
    let found = case.after("[get_ports {qsfp0_rx_p[3]}]", "[get_ports {qsfp0_rx_p[4]}]");
    assert!(
        found.contains("there is no port qsfp0_rx_p[4]")
            && found.contains("port qsfp0_rx_p[3] has no pin"),
        "{found}"
    );
    let found = case.after(
        "IOSTANDARD LVCMOS18 [get_ports pcie_perst_n]",
        "IOSTANDARD LVCMOS12 [get_ports pcie_perst_n]",
    );
    assert_eq!(
        found,
        "port pcie_perst_n has I/O standard LVCMOS12; its bank needs LVCMOS18"
    );
    let found = case.after(
        "set_property IOSTANDARD LVCMOS18 [get_ports hbm_cattrip]\n",
        "",
    );
    assert_eq!(
        found,
        "port hbm_cattrip has I/O standard none; its bank needs LVCMOS18"
    );
    let found = case.after(
        "set_property BITSTREAM.CONFIG.CONFIGFALLBACK Enable [current_design]\n",
        "",
    );
    assert_eq!(found, "BITSTREAM.CONFIG.CONFIGFALLBACK is not set");
    let found = case.after("[get_ports {qsfp0_rx_p[3]}]", "[get_ports {qsfp0_rx_p[3]]");
    assert!(found.contains("brackets that do not close"), "{found}");
}

/// Boards differ: the constraints of one are wrong for another.
#[test]
fn constraints_of_another_board_are_found() {
    let case = Case::new(Board::U280);
    let other = Case::new(Board::U55c);
    assert!(case.problems(&other.text).len() > 8);
}

#[test]
fn every_mistake_with_clocks_is_found() {
    for (board, period) in [
        (Board::U55c, "6.206"),
        (Board::U280, "6.400"),
        (Board::U250, "6.400"),
    ] {
        let case = Case::new(board);
        let line = format!(
            "create_clock -period {period} -name qsfp0_refclk [get_ports qsfp0_refclk_p]\n"
        );
        assert_eq!(
            case.after(&line, ""),
            "clock port qsfp0_refclk_p has no create_clock"
        );
        let found = case.after(&line, &line.replace(period, "6.4005"));
        assert!(
            found.starts_with("clock port qsfp0_refclk_p has a period of 6.4005 ns"),
            "{found}"
        );
    }
    let case = Case::new(Board::V80);
    let found = case.after("create_clock -period 3.103", "create_clock -period 3.2");
    assert!(
        found.contains("3.2 ns; the board's clock has 3.103 ns"),
        "{found}"
    );
}

/// The pins of the V80: both ports, and none of CPM5.
#[test]
fn every_mistake_with_pins_of_the_v80_is_found() {
    let case = Case::new(Board::V80);
    for line in board_constraints(Board::V80).lines() {
        let Some((_, port)) = line
            .strip_prefix("set_property PACKAGE_PIN ")
            .and_then(|rest| rest.split_once(" [get_ports "))
        else {
            continue;
        };
        let port = port.trim_matches(['{', '}', ']']);
        let found = case.after(&format!("{line}\n"), "");
        // The second pin of a pair is placed with the first one.
        if port.contains("_n[") {
            assert_eq!(found, "");
        } else {
            let port = if port.contains('[') {
                format!("{port}]")
            } else {
                port.into()
            };
            assert_eq!(found, format!("port {port} has no pin"));
        }
    }
    let found = case.after("PACKAGE_PIN AA64 ", "PACKAGE_PIN AA67 ");
    assert!(found.contains("pin AA67 is used twice"), "{found}");
    let clock = "create_clock -period 3.103 -name qsfp0_refclk [get_ports qsfp0_refclk_p]\n";
    assert_eq!(
        case.after(clock, ""),
        "clock port qsfp0_refclk_p has no create_clock"
    );
    let placed = format!("{clock}set_property PACKAGE_PIN M58 [get_ports {{pcie0_rx_p[0]}}]\n");
    let found = case.after(clock, &placed);
    assert!(found.contains("no known pin"), "{found}");
}

/// Without any one of the lines of crossings, and with any of their values 1 ps longer, there is one problem.
#[test]
fn every_mistake_with_crossings_is_found() {
    // Both pointers of both FIFOs, the count of frames, and the count of drops. The V80 has two such shims, and at its second endpoint three FIFOs, and counts of beats and of chains.
    for (board, skews, anchor) in [
        (Board::U55c, 6, "create_pblock"),
        (Board::V80, 20, "create_clock"),
    ] {
        check_every_line(&Case::new(board), skews, anchor);
    }
}

fn check_every_line(case: &Case, due_skews: usize, anchor: &str) {
    let mut skews = 0;
    for line in case.generated.lines() {
        let line = format!("{line}\n");
        let found = case.after(&line, "");
        assert!(
            found.starts_with("crossing into u_") && found.contains(": no set_"),
            "{found}"
        );
        skews += usize::from(found.ends_with("no set_bus_skew"));
        for value in ["2.557\n", "3.103\n", "4.000\n", "10.000\n"] {
            if line.ends_with(value) {
                let longer: f64 = value.trim().parse::<f64>().unwrap() + 0.001;
                let found = case.after(&line, &line.replace(value, &format!("{longer:.3}\n")));
                assert!(found.contains(" is longer than "), "{found}");
            }
        }
    }
    assert_eq!(skews, due_skews);
    let stale = "set_max_delay -datapath_only -from [get_cells {u_x/source_crossing_reg*}] -to [get_cells {u_y/first_crossing_reg*}] 3.103\n";
    let found = case.after(anchor, &format!("{stale}{anchor}"));
    assert!(
        found.ends_with("names a crossing that the hardware does not have"),
        "{found}"
    );
    let groups = "set_clock_groups -asynchronous -group user_clk -group mac_clk\n";
    let found = case.after(anchor, &format!("{groups}{anchor}"));
    assert!(
        found.ends_with("overrides the delays of crossings"),
        "{found}"
    );
}
