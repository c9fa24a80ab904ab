//! Memory region checks (hardware block `mr_check`).

use stellar_wire::Position;

use super::{DropReason, MrRow, PacketHeaders, QpMode, QpRow, RcAddress, Tables};

/// Returns the region that a payload goes to, or the first reason to refuse it in the order `BadKey`, `WrongPd`, `NoWriteRight`, `OutOfBounds`. An
/// empty payload touches no memory and must not be checked.
///
/// # Errors
/// The reason.
pub fn check_region(
    tables: &Tables,
    context: &QpRow,
    headers: &PacketHeaders,
    target: RcAddress,
) -> Result<MrRow, DropReason> {
    let region = find_region(tables, context.pd, target.rkey)?;
    if !region.remote_write || !context.remote_write {
        return Err(DropReason::NoWriteRight);
    }
    let (before, from) = checked_bytes(headers);
    let start = target
        .va
        .checked_sub(before)
        .ok_or(DropReason::OutOfBounds)?;
    check_bounds(&region, start, before + from)?;
    Ok(region)
}

/// Bytes before the packet's address, and from it on, that have to lie in the region. The first packet of a message is checked for the whole message (IBTA
/// volume 1, 9.7.4.1.5), so that nothing of a message that does not fit is placed. So is the last packet of an MRC message, because a completion reports the
/// length that it gives. An MRC packet in between does not tell its place in the message.
fn checked_bytes(headers: &PacketHeaders) -> (u64, u64) {
    let own = headers.payload_bytes();
    let length = u64::from(headers.dma_length());
    match (headers.mode, headers.position) {
        (_, Position::First | Position::Only) => (0, length),
        (QpMode::Mrc, Position::Last) => (length.saturating_sub(own), own),
        _ => (0, own),
    }
}

/// The region a key names, if protection domain `pd` may use it.
///
/// # Errors
/// `BadKey`, `WrongPd`.
pub(crate) fn find_region(tables: &Tables, pd: u32, key: u32) -> Result<MrRow, DropReason> {
    let region = tables.mr(key >> 8);
    if !region.valid || region.key != key as u8 {
        return Err(DropReason::BadKey);
    }
    if region.pd != pd {
        return Err(DropReason::WrongPd);
    }
    Ok(region)
}

/// Whether `length` bytes at `va` lie inside a region.
///
/// # Errors
/// `OutOfBounds`.
pub(crate) fn check_bounds(region: &MrRow, va: u64, length: u64) -> Result<(), DropReason> {
    // Ends are computed wider than an address: a range that runs past 2^64 does not come round to the bottom.
    let end = u128::from(va) + u128::from(length);
    let region_end = u128::from(region.base_va) + u128::from(region.length);
    if va < region.base_va || end > region_end {
        return Err(DropReason::OutOfBounds);
    }
    Ok(())
}
