//! What can be wrong in constraints.

use thiserror::Error;

use crate::xdc::XdcError;

/// Something wrong in constraints.
#[derive(Clone, PartialEq, Debug, Error)]
#[allow(missing_docs)]
pub enum Problem {
    #[error(transparent)]
    Unreadable(#[from] XdcError),
    #[error("port {port} has no pin")]
    NotPlaced { port: String },
    #[error("port {port} is placed twice, at {first} and {second}")]
    PlacedTwice {
        port: String,
        first: String,
        second: String,
    },
    #[error("pin {pin} is used twice, by {first} and {second}")]
    PinUsedTwice {
        pin: String,
        first: String,
        second: String,
    },
    #[error("port {port} is at pin {pin}; on this board it belongs to {expected}")]
    WrongPin {
        port: String,
        pin: String,
        expected: String,
    },
    #[error("line {line}: there is no port {port}")]
    NoSuchPort { line: usize, port: String },
    #[error("port {port} has I/O standard {found}; its bank needs {expected}")]
    WrongStandard {
        port: String,
        found: String,
        expected: String,
    },
    #[error("clock port {port} has no create_clock")]
    NoClock { port: String },
    #[error("clock port {port} has a period of {found} ns; the board's clock has {expected} ns")]
    WrongPeriod {
        port: String,
        found: f64,
        expected: f64,
    },
    #[error("crossing into {to}: no {command}")]
    NotCovered { to: String, command: &'static str },
    #[error("crossing into {to}: {command} of {found} ns is longer than {limit} ns")]
    TooLong {
        to: String,
        command: &'static str,
        found: f64,
        limit: f64,
    },
    #[error("line {line}: {command} names a crossing that the hardware does not have")]
    Stale { line: usize, command: String },
    #[error("line {line}: set_clock_groups -asynchronous overrides the delays of crossings")]
    ClockGroups { line: usize },
    #[error("{property} is not set")]
    NoProperty { property: &'static str },
}
