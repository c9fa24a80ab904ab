//! Table entries, and the control word that writes them.

use hdl_macros::FromBits;
use rust_hdl::prelude::*;

/// Transport mode of a queue pair.
#[derive(Copy, Clone, PartialEq, Debug, LogicState, FromBits)]
pub enum QpMode {
    /// Standard RoCEv2 reliable connection: one path, packets in order.
    Rc,
    /// OCP Multipath Reliable Connection: any order inside the window.
    Mrc,
}

/// Receive-side state of a queue pair; only `Ready` accepts packets (verbs: RTR, RTS).
#[derive(Copy, Clone, PartialEq, Debug, LogicState, FromBits)]
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
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
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
#[derive(Copy, Clone, PartialEq, Debug, LogicState, FromBits)]
pub enum PageSize {
    Size4K,
    Size64K,
    Size2M,
    Size1G,
}

/// Bits of an index of the eMTT, and so of a row of any table: no table has more rows.
pub const EMTT_INDEX_BITS: usize = 20;

/// Memory region. 4,096 entries; an R_Key is `index << 8 | key`, so bits 31:20 of a valid R_Key are zero.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
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
#[derive(Copy, Clone, PartialEq, Debug, LogicState, FromBits)]
pub enum Owner {
    /// Host memory: TLPs carry AT = 00 and the IO virtual address, the IOMMU translates.
    Host,
    /// GPU memory: TLPs carry AT = 10 and the final address, a switch may route them straight to the GPU.
    Gpu,
}

/// Entry of the extended memory translation table (eMTT): one page, 64 bits. 524,288 entries in the card; indices have room for twice as many.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct, FromBits)]
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

/// Bits of a table write's entry: the widest row, [`MrEntry`], and some to spare.
pub const TABLE_ENTRY_BITS: usize = 176;

const _: () = assert!(
    QpContext::BITS <= TABLE_ENTRY_BITS
        && MrEntry::BITS <= TABLE_ENTRY_BITS
        && EmttEntry::BITS <= TABLE_ENTRY_BITS
);

/// One table write: travels through the core pipeline in order with packets, so it never collides with a packet's own update.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct TableWrite {
    pub select: TableSelect,
    pub index: Bits<EMTT_INDEX_BITS>,
    /// The entry, packed from bit 0 (`QpContext`, `MrEntry` or `EmttEntry`).
    pub entry: Bits<TABLE_ENTRY_BITS>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hw::FromBits;

    proptest! {
        #[test]
        fn a_queue_pair_comes_back_out_of_its_bits(
            state in 0..4usize, mrc in any::<bool>(), pd in 0..1u64 << 20, pkey in any::<u16>(), mtu_log2 in 0..16u64,
            initial_psn in 0..1u64 << 24, remote_write in any::<bool>(), above in any::<u64>(),
        ) {
            let states = [QpState::Invalid, QpState::Init, QpState::Ready, QpState::Error];
            let context = QpContext {
                state: states[state],
                mode: if mrc { QpMode::Mrc } else { QpMode::Rc },
                pd: pd.to_bits(),
                pkey: pkey.to_bits(),
                mtu_log2: mtu_log2.to_bits(),
                initial_psn: initial_psn.to_bits(),
                remote_write,
            };
            let packed: Bits<{ QpContext::BITS }> = context.into();
            let entry = bit_cast::<TABLE_ENTRY_BITS, { QpContext::BITS }>(packed)
                | (bit_cast::<TABLE_ENTRY_BITS, 64>(above.to_bits()) << QpContext::BITS as u64);
            prop_assert_eq!(QpContext::from_bits(entry), context);
        }

        #[test]
        fn a_region_comes_back_out_of_its_bits(
            flags in any::<[bool; 5]>(), key in any::<u8>(), pd in 0..1u64 << 20, size in 0..4usize,
            base_va in any::<u64>(), length in 0..1u64 << 48, first_emtt in 0..1u64 << EMTT_INDEX_BITS,
        ) {
            let sizes = [PageSize::Size4K, PageSize::Size64K, PageSize::Size2M, PageSize::Size1G];
            let entry = MrEntry {
                valid: flags[0],
                key: key.to_bits(),
                pd: pd.to_bits(),
                remote_write: flags[1],
                remote_read: flags[2],
                remote_atomic: flags[3],
                page_size: sizes[size],
                base_va: base_va.to_bits(),
                length: length.to_bits(),
                first_emtt: first_emtt.to_bits(),
                on_demand: flags[4],
            };
            let packed: Bits<{ MrEntry::BITS }> = entry.into();
            prop_assert_eq!(MrEntry::from_bits(packed), entry);
        }

        #[test]
        fn an_emtt_entry_comes_back_out_of_its_bits(
            valid in any::<bool>(), gpu in any::<bool>(), device in 0..1u64 << 10, frame in 0..1u64 << 52,
        ) {
            let entry = EmttEntry {
                valid,
                owner: if gpu { Owner::Gpu } else { Owner::Host },
                device: device.to_bits(),
                frame: frame.to_bits(),
            };
            let packed: Bits<{ EmttEntry::BITS }> = entry.into();
            prop_assert_eq!(EmttEntry::from_bits(packed), entry);
        }
    }
}
