//! The Verilated receive lane, end to end. One model per width serves all tests of this binary.

mod captures;
mod fuzzing;
mod gpu_direct;
mod scenarios;
mod tools;
mod world_traffic;

use std::sync::OnceLock;

use sim_cosim::{LaneModel, LaneWidth, Session, SessionConfig};
use sim_verilated::Library;
use stellar_transport::rx::{Psn, QpMode, QpRow, QpState};

/// Protection domain of all objects of these tests.
const PD: u32 = 4;

fn library(width: LaneWidth) -> &'static Library {
    static WIDE: OnceLock<Library> = OnceLock::new();
    static NARROW: OnceLock<Library> = OnceLock::new();
    let cell = match width {
        LaneWidth::Bits1024 => &WIDE,
        LaneWidth::Bits512 => &NARROW,
    };
    cell.get_or_init(|| LaneModel::build(width, false).unwrap())
}

fn session(width: LaneWidth) -> Session {
    Session::new(library(width), &SessionConfig::new(width)).unwrap()
}

fn ready(mode: QpMode, initial_psn: u32) -> QpRow {
    QpRow {
        state: QpState::Ready,
        mode,
        pd: PD,
        pkey: 0xffff,
        mtu_log2: 10,
        initial_psn: Psn::new(initial_psn),
        remote_write: true,
    }
}
