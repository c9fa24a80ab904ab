//! Page translation (hardware block `emtt_lookup`).

use arrayvec::ArrayVec;

use super::{DropReason, MrRow, Owner, Tables};

/// Part of a payload that lies in one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Bus address of its first byte.
    pub address: u64,
    /// Bytes.
    pub length: usize,
    /// The address is final: AT = 10. Otherwise the IOMMU translates it: AT = 00.
    pub translated: bool,
}

/// The pieces of a packet's payload in address order. The payload is at most as long as two of the smallest pages.
pub type Pieces = ArrayVec<Piece, 3>;

/// Translates `length` bytes at `va`, which lie inside `region`, page by page. Returns one piece per page, in address order.
///
/// Page n of the region, counted from the page that holds its base, is at `first_emtt + n`.
///
/// # Errors
/// [`DropReason::InvalidPage`] if one of the pages has no valid translation or would be beyond the end of the table. For an on-demand region the
/// reason is [`DropReason::PageAbsent`].
///
/// # Panics
/// If the bytes lie in more than three pages, which a packet's payload does not.
pub fn look_up_pages(
    tables: &Tables,
    region: &MrRow,
    va: u64,
    length: u64,
) -> Result<Pieces, DropReason> {
    let page_bytes = region.page_size.bytes();
    let first_page = va / page_bytes - region.base_va / page_bytes;
    let not_there = if region.on_demand {
        DropReason::PageAbsent
    } else {
        DropReason::InvalidPage
    };
    let mut pieces = Pieces::new();
    let mut done = 0;
    while done < length {
        // Pages are counted from the first one, so that a region that extends beyond 2^64 continues with its next entry.
        let in_first = va % page_bytes + done;
        let index = u64::from(region.first_emtt) + first_page + in_first / page_bytes;
        // A page past the end of the table counts as one that was never written.
        let entry = u32::try_from(index)
            .ok()
            .filter(|&index| index < Tables::EMTT)
            .map(|index| tables.emtt(index))
            .filter(|entry| entry.valid)
            .ok_or(not_there)?;
        let offset = in_first % page_bytes;
        let in_page = (length - done).min(page_bytes - offset);
        // Bits of the frame below the page size must be zero; the offset takes their place.
        let page_address = (entry.frame << 12) & !(page_bytes - 1);
        pieces.push(Piece {
            address: page_address | offset,
            length: in_page as usize,
            translated: entry.owner == Owner::Gpu,
        });
        done += in_page;
    }
    Ok(pieces)
}
