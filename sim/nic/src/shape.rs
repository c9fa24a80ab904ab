//! The shape of the cards of this process that do not name one.

use std::cell::Cell;
use std::env;
use std::sync::OnceLock;

use hdl_nic::{Board, Shape};
use sim_world::HostPorts;

/// Environment variable with the board whose shape cards have, for tests: `STELLAR_BOARD=u55c cargo test -p sim-nic`.
pub const VARIABLE: &str = "STELLAR_BOARD";

static CHOSEN: OnceLock<Shape> = OnceLock::new();

thread_local! {
    static OF_THREAD: Cell<Option<Shape>> = const { Cell::new(None) };
}

/// Chooses the shape of cards that are powered up without one, for the whole process. Call it before the first card.
///
/// # Panics
/// If another shape was chosen before.
pub fn choose_shape(shape: Shape) {
    let chosen = *CHOSEN.get_or_init(|| shape);
    assert_eq!(
        chosen, shape,
        "a process chooses the shape of its cards once"
    );
}

/// Runs `job` with this shape in place of the chosen one, in this thread: for tests of several shapes.
pub fn with_shape<T>(shape: Shape, job: impl FnOnce() -> T) -> T {
    let before = OF_THREAD.replace(Some(shape));
    let result = job();
    OF_THREAD.set(before);
    result
}

/// The shape that was chosen; or that of the board in the environment variable; or the full card's.
///
/// # Panics
/// If the variable names no board.
pub fn chosen_shape() -> Shape {
    let of_thread = OF_THREAD.get();
    of_thread.unwrap_or_else(|| CHOSEN.get().copied().unwrap_or_else(of_environment))
}

fn of_environment() -> Shape {
    match env::var(VARIABLE) {
        Ok(name) if !name.is_empty() => match name.parse::<Board>() {
            Ok(board) => board.shape(),
            Err(unknown) => panic!("{VARIABLE}: {unknown}"),
        },
        _ => Shape::default(),
    }
}

/// Ports of a host with a card of this shape.
pub const fn host_ports(shape: Shape) -> HostPorts {
    HostPorts {
        count: shape.ports(),
        rate_gbps: shape.port_gbps(),
    }
}
