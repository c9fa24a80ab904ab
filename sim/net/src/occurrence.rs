//! What a fabric returns to its user.

use crate::{Frame, HostId, LinkId, Time};

/// A frame, or the record of one, that reached a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<P = Frame> {
    /// The host.
    pub host: HostId,
    /// Its port, which is the plane.
    pub port: usize,
    /// When the last bit (of the FCS) arrived, in picoseconds.
    pub time: Time,
    /// The frame as it arrived.
    pub frame: P,
}

/// Something that the user of a fabric has to act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occurrence<P = Frame> {
    /// A frame reached a host.
    Delivery(Delivery<P>),
    /// The line of a port is free after [`transmit`](crate::Fabric::transmit).
    PortFree(HostId, usize),
    /// The time of a [`set_alarm`](crate::Fabric::set_alarm) has come.
    Alarm(u64),
    /// A link came up (`true`) or went down.
    Link(LinkId, bool),
}
