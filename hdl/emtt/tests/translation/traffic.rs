//! Operations on the tables and packets aimed at the edges of what the tables hold.

use proptest::prelude::*;
use stellar_transport::rx::{DropReason, EmttRow, MrRow, Owner, PageSize, Tables};

/// Regions in use: the ends of the table and some between.
pub const SLOTS: [u32; 6] = [0, 1, 5, 2_048, 4_094, 4_095];

/// The point of its region at which a packet is aimed, before `delta` is added.
#[derive(Clone, Copy, Debug)]
pub enum Spot {
    Start,
    /// The first byte after the region.
    End,
    /// First byte of a page. Pages are counted from the page that contains the base.
    Page(u64),
    Anywhere(u64),
}

#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub slot: usize,
    pub spot: Spot,
    pub delta: i64,
    /// The packet ends, rather than starts, at the spot.
    pub ends_there: bool,
    /// Payload bytes, 0 to 8,192.
    pub length: u16,
    /// Bits of the right R_Key that are flipped.
    pub key_error: u32,
    pub pd_error: bool,
    pub qp_write: bool,
    pub earlier_reason: DropReason,
    /// Fills the fields that pass unchanged.
    pub tag: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum Op {
    Idle(u8),
    Region {
        slot: usize,
        entry: MrRow,
    },
    /// Writes `count` entries from this page of the region on. Entries beyond the table must not be written.
    Pages {
        slot: usize,
        page: u64,
        count: u8,
        entry: EmttRow,
    },
    /// A write to the queue pair table, which these stages must ignore.
    QueuePair {
        index: u32,
        tag: u32,
    },
    /// A region write beyond the table: must write nothing.
    RegionBeyond {
        slot: usize,
        entry: MrRow,
    },
    Fence {
        tag: u32,
    },
    Packet(Packet),
}

fn page_size() -> impl Strategy<Value = PageSize> {
    prop::sample::select(PageSize::ALL.to_vec())
}

fn region() -> impl Strategy<Value = MrRow> {
    let base = prop_oneof![
        3 => any::<u64>(),
        2 => any::<u64>().prop_map(|va| va & !0x3fff_ffff),
        1 => 0..10_000u64,
        1 => (0..100_000u64).prop_map(|below| u64::MAX - below),
        1 => (1..0x8000u64, 1..5_000u64).prop_map(|(n, below)| (n << 30) - below),
    ];
    let length = prop_oneof![
        1 => 1..20_000u64,
        3 => 20_000..200_000u64,
        3 => (2..6u64, page_size()).prop_map(|(n, size)| n * size.bytes()),
        1 => 0..1u64 << 48,
        1 => Just(1 << 47),
        1 => Just((1 << 48) - 1),
    ];
    let first_emtt = prop_oneof![
        2 => 0..64u32,
        1 => Tables::EMTT - 6..Tables::EMTT + 2,
        3 => 0..Tables::EMTT,
    ];
    let key = prop_oneof![Just(0), Just(0xff), any::<u8>()];
    (
        base,
        length,
        first_emtt,
        key,
        page_size(),
        0..3u32,
        prop::array::uniform4(prop::bool::weighted(0.97)),
        any::<bool>(),
    )
        .prop_map(
            |(base_va, length, first_emtt, key, page_size, pd, flags, on_demand)| MrRow {
                valid: flags[0],
                key,
                pd,
                remote_write: flags[1],
                remote_read: flags[2],
                remote_atomic: flags[3],
                page_size,
                base_va,
                length,
                first_emtt,
                on_demand,
            },
        )
}

fn emtt_entry() -> impl Strategy<Value = EmttRow> {
    (
        prop::bool::weighted(0.92),
        any::<bool>(),
        0..1u16 << 10,
        0..1u64 << 52,
    )
        .prop_map(|(valid, gpu, device, frame)| EmttRow {
            valid,
            owner: if gpu { Owner::Gpu } else { Owner::Host },
            device,
            frame,
        })
}

fn slot() -> impl Strategy<Value = usize> {
    0..SLOTS.len()
}

fn packet() -> impl Strategy<Value = Packet> {
    let spot = prop_oneof![
        2 => Just(Spot::Start),
        2 => Just(Spot::End),
        4 => (0..5u64).prop_map(Spot::Page),
        1 => any::<u64>().prop_map(Spot::Anywhere),
    ];
    let delta = prop_oneof![3 => Just(0i64), 3 => -4..=4i64, 4 => -8_193..=8_193i64];
    let length = prop_oneof![1 => Just(0u16), 2 => 1..=8u16, 2 => 4_090..=4_098u16, 3 => 8_186..=8_192u16, 3 => 0..=8_192u16];
    let key_error = prop_oneof![25 => Just(0u32), 1 => (0..32u32).prop_map(|bit| 1 << bit)];
    let earlier = prop_oneof![
        8 => Just(DropReason::None),
        1 => prop::sample::select(DropReason::ALL[1..16].to_vec()),
    ];
    let rights = (prop::bool::weighted(0.04), prop::bool::weighted(0.96));
    let side = (any::<bool>(), prop::bool::weighted(0.85));
    (
        (slot(), spot, delta, side),
        length,
        key_error,
        rights,
        earlier,
        any::<u32>(),
    )
        .prop_map(
            |(
                (slot, spot, delta, (either, inner)),
                length,
                key_error,
                (pd_error, qp_write),
                earlier_reason,
                tag,
            )| Packet {
                slot,
                spot,
                delta,
                // Aimed at an end of the region, and mostly on the side that is inside.
                ends_there: match spot {
                    Spot::Start => !inner,
                    Spot::End => inner,
                    _ => either,
                },
                length,
                key_error,
                pd_error,
                qp_write,
                earlier_reason,
                tag,
            },
        )
}

fn pages() -> impl Strategy<Value = Op> {
    (slot(), 0..6u64, 1..3u8, emtt_entry()).prop_map(|(slot, page, count, entry)| Op::Pages {
        slot,
        page,
        count,
        entry,
    })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        24 => packet().prop_map(Op::Packet),
        2 => (1..4u8).prop_map(Op::Idle),
        1 => (slot(), region()).prop_map(|(slot, entry)| Op::Region { slot, entry }),
        5 => pages(),
        1 => (0..1_024u32, any::<u32>()).prop_map(|(index, tag)| Op::QueuePair { index, tag }),
        1 => (slot(), region()).prop_map(|(slot, entry)| Op::RegionBeyond { slot, entry }),
        1 => any::<u32>().prop_map(|tag| Op::Fence { tag }),
    ]
}

/// A region in every slot, and its first pages.
fn setup() -> impl Strategy<Value = Vec<Op>> {
    let one = (region(), prop::collection::vec(emtt_entry(), 6));
    prop::collection::vec(one, SLOTS.len()).prop_map(|slots| {
        let mut ops = vec![];
        for (slot, (entry, pages)) in slots.into_iter().enumerate() {
            ops.push(Op::Region { slot, entry });
            ops.extend(
                pages
                    .into_iter()
                    .enumerate()
                    .map(|(page, entry)| Op::Pages {
                        slot,
                        page: page as u64,
                        count: 1,
                        entry,
                    }),
            );
        }
        ops
    })
}

/// A table set-up, then packets with table writes, fences and gaps in between.
pub fn traffic(length: usize) -> impl Strategy<Value = Vec<Op>> {
    (setup(), prop::collection::vec(op(), 1..length)).prop_map(|(mut ops, more)| {
        ops.extend(more);
        ops
    })
}
