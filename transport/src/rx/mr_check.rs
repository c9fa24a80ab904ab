//! Memory region checks (hardware block `mr_check`).

use super::{DropReason, MrEntry, PacketHeaders, QpContext, RcAddress, Tables};

/// The region a payload goes to, or the first reason against it in the order `BadKey`, `WrongPd`, `NoWriteRight`,
/// `OutOfBounds`. An empty payload touches no memory and is not to be asked about.
///
/// # Errors
/// The reason.
pub fn check_region(
    tables: &Tables,
    context: &QpContext,
    headers: &PacketHeaders,
    target: RcAddress,
) -> Result<MrEntry, DropReason> {
    let region = tables.mr(target.rkey >> 8);
    if !region.valid || region.key != target.rkey as u8 {
        return Err(DropReason::BadKey);
    }
    if region.pd != context.pd {
        return Err(DropReason::WrongPd);
    }
    if !region.remote_write || !context.remote_write {
        return Err(DropReason::NoWriteRight);
    }
    // Ends are computed wider than an address: a range that runs past 2^64 does not come round to the bottom.
    let end = u128::from(target.va) + u128::from(headers.payload_length);
    let region_end = u128::from(region.base_va) + u128::from(region.length);
    if target.va < region.base_va || end > region_end {
        return Err(DropReason::OutOfBounds);
    }
    Ok(region)
}
