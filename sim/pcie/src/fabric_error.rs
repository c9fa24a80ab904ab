//! Calls that a fabric refuses.

use thiserror::Error;

use crate::bdf::Bdf;
use crate::tlp::FlowClass;
use crate::Picoseconds;

/// A call that the fabric refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FabricError {
    /// There is no such NIC endpoint.
    #[error("there is no NIC port {0}; ports count from 0 in the order the NICs were configured")]
    UnknownPort(usize),
    /// The time is before the present of the simulation.
    #[error(
        "time {asked} ps lies before {now} ps, which is simulated already; time only goes forward"
    )]
    TimeReversed {
        /// The given time.
        asked: Picoseconds,
        /// Time of the fabric.
        now: Picoseconds,
    },
    /// The port's send queue for this class is full.
    #[error("port {port} has no room for another {class:?} TLP; ask `ready` and hold it back")]
    QueueFull {
        /// The port.
        port: usize,
        /// The class.
        class: FlowClass,
    },
    /// The port's link is down.
    #[error("the link of port {0} is down; take it up with `set_link`")]
    LinkDown(usize),
    /// The function may not send requests.
    #[error("port {0} is no bus master; set it with `set_bus_master`")]
    NotMaster(usize),
    /// A read with this tag is outstanding, or the tag has more than 10 bits.
    #[error("port {port}: tag {tag:#x} is in use or has more than 10 bits; use a free one")]
    Tag {
        /// The port.
        port: usize,
        /// The tag.
        tag: u16,
    },
    /// No NIC of the fabric is this function.
    #[error("no NIC of the fabric is function {0}")]
    UnknownFunction(Bdf),
    /// The function may not ask for translations, so it has none that could be invalidated.
    #[error("function {0} has no ATS; enable it with `Iommu::set_ats`")]
    NoAts(Bdf),
    /// As many invalidations of the function wait for their completion as there are tags for them.
    #[error("{0} has not completed its earlier invalidations; wait for one of them")]
    InvalidationsFull(Bdf),
    /// A range to invalidate is no power of two of 4 KiB or more, or is not aligned to its length.
    #[error("{len:#x} bytes at {iova:#x} are no range of an invalidation: its length is a power of two from 4,096 on, and its address a multiple of it")]
    InvalidationRange {
        /// First IO virtual address.
        iova: u64,
        /// Length in bytes.
        len: u64,
    },
    /// Links of switches stay up.
    #[error("the link of a switch does not go down; only those of NICs and GPUs do, and there must be such a device")]
    NotADevice,
}
