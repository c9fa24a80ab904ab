//! Tokens of the core pipeline, stage by stage.

use super::frame::{DropReason, PacketHeaders};
use super::tables::{PageSize, QpContext, TableWrite, EMTT_INDEX_BITS};
use crate::mtu::MAX_PAYLOAD;
pub use crate::receive::RcClass;
use rust_hdl::prelude::*;

/// Kind of a core token. All kinds travel in order: that is what makes a fence a fence.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum TokenKind {
    /// A frame: good (`headers.reason` is `None`) or bad (it still frees its buffer).
    Packet,
    /// A table write.
    Table,
    /// Deregistration fence: reported when every DMA of earlier tokens has left.
    Fence,
    /// The queue pair `table.index` moves to state Error. Nothing else of its context changes.
    Error,
}

/// Where a frame lies in the packet buffer. Beats are lane-width words; the buffer is a ring.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BufferSpan {
    pub start: Bits<12>,
    pub beats: Bits<8>,
}

/// Token that enters the core: one per frame, table write, fence or error.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CoreToken {
    pub kind: TokenKind,
    /// Lane on which the frame arrived. It equals the port.
    pub lane: Bit,
    pub span: BufferSpan,
    pub headers: PacketHeaders,
    pub table: TableWrite,
}

/// Token after `qp_fetch`: the context of its QP, and the first reason against it so far.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct QpToken {
    pub token: CoreToken,
    pub qp: QpContext,
    /// First reason so far: the parser's, else the QP checks'.
    pub reason: DropReason,
}

/// Token after `rc_track`: address, key and length are final whether they came from RETH or from the running state.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct AddressedToken {
    pub token: CoreToken,
    pub qp: QpContext,
    pub reason: DropReason,
    pub rc_class: RcClass,
    /// RC: expected PSN after this packet, messages completed after this packet (AETH.MSN).
    pub rc_epsn: Bits<24>,
    pub rc_msn: Bits<24>,
    pub va: Bits<64>,
    pub rkey: Bits<32>,
}

/// Token after `mr_check`: the verdict on the region, and what page translation needs from the region.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RegionToken {
    pub token: CoreToken,
    pub qp: QpContext,
    /// Reason found before the region checks.
    pub reason: DropReason,
    /// Reason found by the region checks; `None` for zero-length payload.
    pub access_reason: DropReason,
    pub rc_class: RcClass,
    pub rc_epsn: Bits<24>,
    pub rc_msn: Bits<24>,
    pub va: Bits<64>,
    /// Page size of the memory region. This and the following fields of the region are undefined with an `access_reason`, and for zero-length payload.
    pub page_size: PageSize,
    pub base_va: Bits<64>,
    pub first_emtt: Bits<EMTT_INDEX_BITS>,
    pub on_demand: Bit,
}

/// Token after `emtt_lookup`: up to three physical segments, and the access verdict.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TranslatedToken {
    pub token: CoreToken,
    pub qp: QpContext,
    /// Reason found before the region checks.
    pub reason: DropReason,
    /// Reason found by region and page checks; `None` for zero-length payload.
    pub access_reason: DropReason,
    pub rc_class: RcClass,
    pub rc_epsn: Bits<24>,
    pub rc_msn: Bits<24>,
    pub segments: DmaSegments,
    /// Device that owns the GPU's pages of the target, if there are any. Those of a region belong to one GPU.
    pub device: Bits<10>,
}

/// Target of one packet: it lies in one page, or in two or three neighbours of the table.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct DmaSegments {
    /// Bytes that lie in the first page (all of them if the packet does not cross).
    pub first_length: Bits<14>,
    pub first_address: Bits<64>,
    /// AT of the first piece's TLPs is translated (10).
    pub first_translated: Bit,
    pub second_address: Bits<64>,
    pub second_translated: Bit,
    /// The payload lies in three pages. These are pages of the smallest size, so [`WHOLE_PAGE`] bytes of it lie in the second page.
    pub has_third: Bit,
    pub third_address: Bits<64>,
    pub third_translated: Bit,
}

/// Bytes of the second page of three: all of the smallest page.
pub const WHOLE_PAGE: usize = 4096;

// A fourth page would need a field of its own.
const _: () = assert!(MAX_PAYLOAD <= 2 * WHOLE_PAGE);
