//! The tables of the receive lane: queue pairs, memory regions, page translations.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;
use thiserror::Error;

use crate::record_enum::record_enum;
use crate::Psn;

/// Bits of an eMTT index. It is also the number of bits of a row number, because no table has more rows.
pub const EMTT_INDEX_BITS: usize = 20;

/// Bits of a queue pair's number in the card. No card has more than 65,536 queue pairs.
pub const QPN_BITS: usize = 16;

/// Queue pair numbers below this one are management's; the lane never receives for them.
pub const FIRST_QP: u32 = 2;

record_enum! {
    /// Transport mode of a queue pair.
    pub enum QpMode {
        /// Standard RoCEv2 reliable connection: one path, packets in order.
        Rc,
        /// OCP Multipath Reliable Connection: any order inside the window.
        Mrc,
    }
}

record_enum! {
    /// Receive-side state of a queue pair; only `Ready` accepts packets.
    pub enum QpState {
        /// No such queue pair: an entry that was never written.
        Invalid,
        /// The queue pair is in Reset or Init: it exists, but accepts no packets.
        Init,
        /// Ready to receive (verbs: RTR or RTS).
        Ready,
        /// Error: packets are dropped.
        Error,
    }
}

record_enum! {
    /// Page size of a memory region.
    pub enum PageSize {
        Size4K,
        Size64K,
        Size2M,
        Size1G,
    }
}

impl PageSize {
    /// log2 of the size in bytes.
    pub const fn shift(self) -> u32 {
        match self {
            Self::Size4K => 12,
            Self::Size64K => 16,
            Self::Size2M => 21,
            Self::Size1G => 30,
        }
    }

    /// Size in bytes.
    pub const fn bytes(self) -> u64 {
        1 << self.shift()
    }
}

record_enum! {
    /// Who owns the memory behind an eMTT entry (STELLAR, section 6).
    pub enum Owner {
        /// Host memory: TLPs carry AT = 00 and the IO virtual address, the IOMMU translates.
        Host,
        /// GPU memory: TLPs carry AT = 10 and the final address, a switch may route them straight to the GPU.
        Gpu,
    }
}

row! {
    /// Static part of a QP context: written by software, only read by the lane. An entry for each queue pair, indexed by QP number.
    pub struct QpRow => QpContext {
        state: QpState => QpState,
        mode: QpMode => QpMode,
        /// Protection domain, compared with the memory region's.
        pd: u32 => Bits<20>,
        /// Partition key. The low 15 bits must equal the packet's; not both may be limited members (bit 15 clear in both).
        pkey: u16 => Bits<16>,
        /// log2 of the path MTU in bytes: 8 (256 B) to 13 (8,192 B).
        mtu_log2: u8 => Bits<4>,
        /// First PSN expected. Writing the entry copies it into both tracking states.
        initial_psn: Psn => Bits<24>,
        /// The QP accepts remote writes at all (IBTA qp_access_flags REMOTE_WRITE).
        remote_write: bool => Bit,
    }
}

impl QpRow {
    /// Path MTU in bytes.
    pub const fn mtu(&self) -> u32 {
        1 << self.mtu_log2
    }
}

row! {
    /// Memory region. 4,096 entries; an R_Key is `index << 8 | key`, so bits 31:20 of a valid R_Key are zero.
    pub struct MrRow => MrEntry {
        valid: bool => Bit,
        /// Consumer-owned low byte of the key (IBTA 10.6.3.3): a stale key of a reused index does not match.
        key: u8 => Bits<8>,
        /// Protection domain.
        pd: u32 => Bits<20>,
        remote_write: bool => Bit,
        remote_read: bool => Bit,
        remote_atomic: bool => Bit,
        page_size: PageSize => PageSize,
        /// First byte of the region in the virtual address space of the requester.
        base_va: u64 => Bits<64>,
        /// Length in bytes, up to 2^47.
        length: u64 => Bits<48>,
        /// eMTT index of the page that holds `base_va`; page n of the region is at `first_emtt + n`.
        first_emtt: u32 => Bits<EMTT_INDEX_BITS>,
        /// Pages get their translation on first use: a WRITE over MRC to a page without a valid one counts as lost, and the card reports the fault.
        on_demand: bool => Bit,
    }
}

row! {
    /// Entry of the extended memory translation table (eMTT): one page, 64 bits. 524,288 entries in the card; indices have room for twice as many.
    pub struct EmttRow => EmttEntry {
        valid: bool => Bit,
        owner: Owner => Owner,
        /// Index of the owning device, for reports.
        device: u16 => Bits<10>,
        /// Address bits 63:12 of the page; the low bits of a page larger than 4 KiB must be zero.
        frame: u64 => Bits<52>,
    }
}

/// A table write that cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TableError {
    /// Index beyond the table.
    #[error("{table} index {index} is out of range; the table has {size} entries")]
    Index {
        table: &'static str,
        index: u32,
        size: u32,
    },
    /// Queue pairs below [`FIRST_QP`] are management queue pairs.
    #[error("queue pair {0} is reserved for management; use {FIRST_QP} or higher")]
    ReservedQp(u32),
    /// A value wider than its field.
    #[error("{field} is {value:#x}; it must fit {width} bits")]
    Width {
        field: &'static str,
        value: u64,
        width: u32,
    },
}
