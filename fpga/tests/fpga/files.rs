//! The files of a project.
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use hdl_designs::Board;
use stellar_fpga::project::SUMS;
use stellar_fpga::{Project, ProjectError};

use crate::card::{one_lane, two_lanes};

/// Boards with a CMAC.
pub const CMACS: [Board; 3] = [Board::U250, Board::U280, Board::U55c];

/// The project of a board, made once.
pub fn project(board: Board) -> Project {
    static MADE: Mutex<BTreeMap<&str, Project>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let project = made
        .entry(board.facts().name)
        .or_insert_with(|| make(board));
    project.clone()
}

fn make(board: Board) -> Project {
    let card = if CMACS.contains(&board) {
        one_lane()
    } else {
        two_lanes()
    };
    Project::of(board, &card).unwrap_or_else(|error| panic!("{board}: {error}"))
}

#[test]
fn a_project_is_the_same_every_time_and_its_sums_are_right() {
    for board in Board::ALL {
        let project = project(board);
        assert_eq!(project, make(board));
        let folder = tempfile::tempdir().unwrap();
        project.write(folder.path()).unwrap();
        let check = Command::new("sha256sum")
            .args(["--check", "--strict", "--quiet", SUMS])
            .current_dir(folder.path())
            .status();
        assert!(check.unwrap().success());
        assert_eq!(project.files[SUMS].lines().count() + 1, project.files.len());
        let text = &project.files["project.tcl"];
        assert!(text.contains(board.facts().part) && text.contains(&format!("set top {board}")));
        assert!(project.files["README.md"].contains("never run in it or on a board"));
    }
}

/// A project is written over an older one, beside what its scripts made, and nowhere else.
#[test]
fn a_directory_with_other_files_is_refused() {
    let project = project(Board::U55c);
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    project.write(at).unwrap();
    std::fs::create_dir(at.join("build")).unwrap();
    std::fs::write(at.join("build/timing.rpt"), "").unwrap();
    project.write(at).unwrap();
    for name in ["notes.txt", "rtl/other.v", "constraints/u250.xdc"] {
        let path = at.join(name);
        std::fs::write(&path, "").unwrap();
        let error = project.write(at).unwrap_err();
        assert!(
            matches!(&error, ProjectError::InTheWay(found) if *found == path),
            "{error}"
        );
        std::fs::remove_file(path).unwrap();
    }
    project.write(at).unwrap();
}

#[test]
fn a_card_that_does_not_fit_is_refused() {
    let mut card = one_lane();
    card.ports.retain(|port| port.name != "port_up");
    let error = Project::of(Board::U280, &card).unwrap_err().to_string();
    assert!(error.ends_with("it has no port port_up"), "{error}");
    let mut card = one_lane();
    let port = card.ports.iter_mut().find(|port| port.name == "rq0_tdata");
    port.unwrap().width = 1_024;
    let error = Project::of(Board::U280, &card).unwrap_err().to_string();
    assert!(
        error.contains("port rq0_tdata has 1024 bits, and m_axis_rq_tdata has 512"),
        "{error}"
    );
}

#[test]
fn a_card_of_another_shape_is_refused() {
    let error = Project::of(Board::V80, &one_lane())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("port port_up has 1 bits, and port_up has 2"),
        "{error}"
    );
    let error = Project::of(Board::U55c, &two_lanes())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("port port_up has 2 bits, and port_up has 1"),
        "{error}"
    );
    let mut card = two_lanes();
    card.ports.retain(|port| port.name != "cq1_tvalid");
    let error = Project::of(Board::V80, &card).unwrap_err().to_string();
    assert!(error.ends_with("it has no port cq1_tvalid"), "{error}");
}
