//! The address of a port.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::address::PortConfig;

/// What the destination of a frame is compared with.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct OwnAddress {
    /// The port compares destinations. Otherwise it accepts frames for any.
    pub checked: Bit,
    /// The address is known. No frame is for a port whose address is not.
    pub known: Bit,
    pub mac: Bits<48>,
    /// IPv4: in the low 32 bits.
    pub ip: Bits<128>,
}

/// The address that a port sends from is also the one that it accepts frames for, from the moment on that software has `written` it.
#[hdl_fn]
pub fn address_of(port: PortConfig, written: Bit) -> OwnAddress {
    OwnAddress {
        checked: true,
        known: written,
        mac: port.mac,
        ip: port.ip,
    }
}
