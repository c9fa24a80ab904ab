//! Number of packets that share a SACK: the setting of the receiver, and the sender's that follows from it.

/// Maximum number of packets for which one SACK may be sent. A register has 6 bits for it.
pub const MAX_SACK_EVERY: u8 = 63;

/// Default number of packets per SACK at a path MTU of `mtu` bytes: 16 KiB, but at least 16 packets. Processing a SACK takes a requester as long as
/// several small packets.
pub const fn default_sack_every(mtu: u32) -> u8 {
    match 16 * 1024 / mtu {
        0..16 => 16,
        packets @ 16..63 => packets as u8,
        _ => MAX_SACK_EVERY,
    }
}

/// A congestion window that is never reached: every packet requests a SACK.
pub const NO_COALESCING: u32 = (1 << 24) - 1;

/// [`MrcConfig::coalesce_from`](super::MrcConfig::coalesce_from) for a receiver that sends a SACK for every
/// `sack_every` packets that do not request one. The window always has packets that do.
pub const fn coalesce_from(mpr: u16, sack_every: u8, mtu: u32) -> u32 {
    let packets = 4 * sack_every as u32;
    if (mpr as u32) < packets {
        NO_COALESCING
    } else {
        packets * mtu
    }
}
