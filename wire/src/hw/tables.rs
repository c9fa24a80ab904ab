//! Table entries, and the control word that writes them.

use rust_hdl::prelude::*;

/// Transport mode of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum QpMode {
    /// Standard RoCEv2 reliable connection: one path, packets in order.
    Rc,
    /// OCP Multipath Reliable Connection: any order inside the window.
    Mrc,
}

/// Receive-side state of a queue pair; only `Ready` accepts packets (verbs: RTR, RTS).
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum QpState {
    /// No such queue pair: an entry that was never written.
    Invalid,
    /// Reset or Init: exists, but takes no packets.
    Init,
    /// Ready to receive (RTR or RTS).
    Ready,
    /// Error: packets are dropped.
    Error,
}

/// Static part of a QP context: written by software, only read by the lane. 1,024 entries, indexed by QP number.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct QpContext {
    pub state: QpState,
    pub mode: QpMode,
    /// Protection domain, compared with the memory region's.
    pub pd: Bits<20>,
    /// Partition key. The low 15 bits must equal the packet's; not both may be limited members (bit 15 clear in both).
    pub pkey: Bits<16>,
    /// log2 of the path MTU in bytes: 8 (256 B) to 13 (8,192 B).
    pub mtu_log2: Bits<4>,
    /// First PSN expected (24 bits, modulo 2^24): written here, copied into both tracking states when the entry is written.
    pub initial_psn: Bits<24>,
    /// The QP accepts remote writes at all (IBTA qp_access_flags REMOTE_WRITE).
    pub remote_write: Bit,
}

/// Page size of a memory region.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum PageSize {
    Size4K,
    Size64K,
    Size2M,
    Size1G,
}

/// Bits of an index of the eMTT, and so of a row of any table: no table has more rows.
pub const EMTT_INDEX_BITS: usize = 20;

/// Memory region. 4,096 entries; an R_Key is `index << 8 | key`, so bits 31:20 of a valid R_Key are zero.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MrEntry {
    pub valid: Bit,
    /// Consumer-owned low byte of the key (IBTA 10.6.3.3): a stale key of a reused index does not match.
    pub key: Bits<8>,
    pub pd: Bits<20>,
    pub remote_write: Bit,
    pub remote_read: Bit,
    pub remote_atomic: Bit,
    pub page_size: PageSize,
    /// First byte of the region in the virtual address space of the requester.
    pub base_va: Bits<64>,
    /// Length in bytes, up to 2^47.
    pub length: Bits<48>,
    /// eMTT index of the page that holds `base_va`; page n of the region is at `first_emtt + n`.
    pub first_emtt: Bits<EMTT_INDEX_BITS>,
    /// Pages come when they are first used: a WRITE over MRC to one that has no valid translation is as if it were lost, and software hears of it.
    pub on_demand: Bit,
}

/// Who owns the memory behind an eMTT entry (STELLAR, section 6).
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Owner {
    /// Host memory: TLPs carry AT = 00 and the IO virtual address, the IOMMU translates.
    Host,
    /// GPU memory: TLPs carry AT = 10 and the final address, a switch may route them straight to the GPU.
    Gpu,
}

/// Entry of the extended memory translation table (eMTT): one page, 64 bits. 524,288 entries in the card; indices have room for twice as many.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct EmttEntry {
    pub valid: Bit,
    pub owner: Owner,
    /// Index of the owning device, for reports.
    pub device: Bits<10>,
    /// Address bits 63:12 of the page; the low bits of a page larger than 4 KiB must be zero.
    pub frame: Bits<52>,
}

/// Tables of the lane that the table port writes.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum TableSelect {
    /// `QpContext`; also resets both tracking states of that QP to `initial_psn`.
    Qp,
    Mr,
    Emtt,
}

/// One table write: travels through the core pipeline in order with packets, so it never collides with a packet's own update.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TableWrite {
    pub select: TableSelect,
    pub index: Bits<EMTT_INDEX_BITS>,
    /// The entry, packed from bit 0 (`QpContext`, `MrEntry` or `EmttEntry`).
    pub entry: Bits<176>,
}
