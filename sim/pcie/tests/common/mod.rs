//! Functions that several tests share.

use sim_pcie::*;

pub const PORT: PortId = PortId(0);

pub fn write(requester: Bdf, address: u64, at: AddressType, bytes: &[u8]) -> Tlp {
    Tlp::Write(MemWrite::of_bytes(requester, address, at, bytes).unwrap())
}

/// Submits as soon as the port has space, waiting in steps of 1 ns; returns the time.
pub fn submit_when_ready(
    fabric: &mut Fabric,
    from: Picoseconds,
    port: PortId,
    tlp: Tlp,
) -> Picoseconds {
    let mut now = from;
    while !fabric.ready(now, port, tlp.class()).unwrap() {
        now += 1000;
        assert!(now < from + 1_000_000_000, "stuck for 1 ms");
    }
    fabric.submit(now, port, tlp).unwrap();
    now
}
