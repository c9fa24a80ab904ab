//! The decisions of the reference transport about each token of the traffic.

use rust_hdl::prelude::*;
use stellar_transport::requester::{locate_payload, Payload, Segment};
use stellar_transport::rx::{
    check_region, look_up_pages, pieces_to_hw, DropReason, EmttRow, MrRow, Owner, PacketHeaders,
    Psn, QpMode, QpRow, RcAddress, RcClass, TableWrite, Tables,
};
use stellar_wire::host::Wqe;
use stellar_wire::hw::core::{AddressedToken, CoreToken, RegionToken, TokenKind, TranslatedToken};
use stellar_wire::hw::tables::{self, TableSelect};
use stellar_wire::{mrc::Entropy, Opcode, Position, Reth};

use super::traffic::{Op, Packet, Spot, SLOTS};

/// One token, and the expected output of each stage.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub input: AddressedToken,
    pub region: RegionToken,
    /// The region's fields in `region` mean something.
    pub has_region: bool,
    pub translated: TranslatedToken,
}

/// A packet whose payload has to be located.
#[derive(Clone, Copy, Debug)]
pub struct LocalPacket {
    pub pd: u32,
    pub lkey: u32,
    /// Address of the first byte of the message.
    pub va: u64,
    pub message_length: u32,
    /// Bytes of the message before the packet.
    pub offset: u32,
    pub length: u16,
}

const POSITIONS: [Position; 4] = [
    Position::First,
    Position::Middle,
    Position::Last,
    Position::Only,
];

/// The tables as the tokens so far left them.
#[derive(Default)]
pub struct World {
    tables: Tables,
}

impl World {
    /// One slot per cycle; `None` is a cycle without a token.
    pub fn run(ops: &[Op]) -> Vec<Option<Step>> {
        let mut world = Self::default();
        ops.iter().flat_map(|op| world.steps(op)).collect()
    }

    pub fn steps(&mut self, op: &Op) -> Vec<Option<Step>> {
        match *op {
            Op::Idle(clocks) => vec![None; clocks.into()],
            Op::Region { slot, entry } => {
                let index = SLOTS[slot];
                self.write(&TableWrite::Mr { index, entry });
                vec![Some(table_step(
                    TableSelect::Mr,
                    index,
                    pack_region(&entry),
                ))]
            }
            Op::RegionBeyond { slot, entry } => {
                let index = SLOTS[slot] + Tables::MRS;
                vec![Some(table_step(
                    TableSelect::Mr,
                    index,
                    pack_region(&entry),
                ))]
            }
            Op::Pages {
                slot,
                page,
                count,
                entry,
            } => {
                let first = u64::from(self.region(slot).first_emtt) + page;
                (first..first + u64::from(count))
                    .map(|index| {
                        let index = index as u32;
                        if index < Tables::EMTT {
                            self.write(&TableWrite::Emtt { index, entry });
                        }
                        Some(table_step(TableSelect::Emtt, index, pack_page(&entry)))
                    })
                    .collect()
            }
            Op::QueuePair { index, tag } => {
                let entry: Bits<32> = tag.to_bits();
                vec![Some(table_step(TableSelect::Qp, index, bit_cast(entry)))]
            }
            Op::Fence { tag } => {
                let mut input = self.aim(&no_packet(tag)).0;
                input.token.kind = TokenKind::Fence;
                vec![Some(untouched(input))]
            }
            Op::Packet(packet) => vec![Some(self.packet(&packet))],
        }
    }

    fn write(&mut self, write: &TableWrite) {
        self.tables
            .write(write)
            .expect("the traffic writes inside the tables");
    }

    fn region(&self, slot: usize) -> MrRow {
        self.tables.mr(SLOTS[slot])
    }

    fn packet(&self, packet: &Packet) -> Step {
        let (input, headers, context, target) = self.aim(packet);
        let mut step = untouched(input);
        if headers.payload_length == 0 {
            return step;
        }
        match check_region(&self.tables, &context, &headers, target) {
            Err(reason) => {
                step.region.access_reason = reason;
                step.translated.access_reason = reason;
            }
            Ok(region) => {
                step.has_region = true;
                let entry = region.to_hw();
                step.region.page_size = entry.page_size;
                step.region.base_va = entry.base_va;
                step.region.first_emtt = entry.first_emtt;
                step.region.on_demand = entry.on_demand;
                match look_up_pages(&self.tables, &region, target.va, headers.payload_bytes()) {
                    Ok(segments) => {
                        let shift = region.page_size.shift();
                        let page = (target.va >> shift) - (region.base_va >> shift);
                        let mut rows = (0..segments.len() as u32)
                            .map(|n| self.tables.emtt(region.first_emtt + page as u32 + n));
                        let of_gpu = rows.find(|row| row.owner == Owner::Gpu);
                        let device = of_gpu.map_or(0, |row| row.device);
                        step.translated.segments = pieces_to_hw(&segments);
                        step.translated.device = u64::from(device).to_bits();
                    }
                    Err(reason) => step.translated.access_reason = reason,
                }
            }
        }
        step
    }

    /// Returns the packet as one of a message that extends around it in local memory. Returns `None` if it has no payload, or if the message would
    /// extend beyond 2^64.
    pub fn local_packet(&self, packet: &Packet) -> Option<LocalPacket> {
        let (token, _, context, target) = self.aim(packet);
        let length = packet.length;
        // The message extends before and after the packet by nothing, by about a page, or by more than the region has.
        let reach = |word: u32| [0, word % 8_193, word % 70_000, word >> 4][word as usize % 4];
        let offset = reach(packet.tag.rotate_left(7));
        let va = target.va.checked_sub(offset.into())?;
        (token.token.kind == TokenKind::Packet && length > 0).then(|| LocalPacket {
            pd: context.pd,
            lkey: target.rkey,
            va,
            message_length: offset + u32::from(length) + reach(packet.tag.rotate_left(23)),
            offset,
            length,
        })
    }

    /// Locates the payload by the reference.
    pub fn locate(&self, packet: &LocalPacket) -> Result<Payload, DropReason> {
        let wqe = Wqe {
            length: packet.message_length,
            local_va: packet.va,
            lkey: packet.lkey,
            ..Wqe::default()
        };
        let segment = Segment {
            opcode: Opcode::MrcWriteMiddle,
            offset: packet.offset,
            length: packet.length,
            last: false,
        };
        locate_payload(&self.tables, packet.pd, &wqe, &segment)
    }

    /// Returns the packet as a token, and in the form that the reference takes.
    fn aim(&self, packet: &Packet) -> (AddressedToken, PacketHeaders, QpRow, RcAddress) {
        let region = self.region(packet.slot);
        let page = region.page_size.bytes();
        let spot = match packet.spot {
            Spot::Start => region.base_va,
            Spot::End => region.base_va.wrapping_add(region.length),
            Spot::Page(n) => (region.base_va / page * page).wrapping_add(n * page),
            Spot::Anywhere(n) => region.base_va.wrapping_add(n % region.length.max(1)),
        };
        let back = if packet.ends_there {
            u64::from(packet.length)
        } else {
            0
        };
        let target = RcAddress {
            va: spot.wrapping_add_signed(packet.delta).wrapping_sub(back),
            rkey: (SLOTS[packet.slot] << 8 | u32::from(region.key)) ^ packet.key_error,
        };
        let tag = packet.tag;
        let context = QpRow {
            pd: region.pd ^ u32::from(packet.pd_error) << (tag % 20),
            pkey: tag as u16,
            initial_psn: Psn::new(tag >> 3),
            remote_write: packet.qp_write,
            ..QpRow::default()
        };
        let mode = [QpMode::Mrc, QpMode::Rc][(tag >> 13) as usize & 1];
        // The message of a first packet goes on behind it: often by little, so that only its end may lie outside the region.
        let behind = [0, tag.rotate_left(5) % 9_000, tag >> 2][tag as usize % 3];
        let headers = PacketHeaders {
            mode,
            refused: false,
            position: POSITIONS[(tag >> 14) as usize % POSITIONS.len()],
            reth: Some(Reth {
                va: !target.va,
                rkey: !target.rkey,
                dma_len: u32::from(packet.length) + behind,
            }),
            immediate: Some(!tag),
            meth: None,
            timestamp: Some((tag >> 5) as u16),
            ack_req: tag & 1 != 0,
            solicited: tag & 2 != 0,
            retransmission: tag & 4 != 0,
            pkey: (tag >> 7) as u16,
            dest_qp: tag >> 8,
            psn: Psn::new(tag >> 1),
            ecn_ce: tag & 8 != 0,
            entropy: Entropy(tag.rotate_left(9)),
            payload_offset: tag as u8,
            payload_length: packet.length,
        };
        let mut core = CoreToken {
            headers: headers.to_hw(),
            ..CoreToken::default()
        };
        core.span.start = (u64::from(tag) >> 4 & 0xfff).to_bits();
        core.span.beats = (u64::from(tag) >> 16 & 0xff).to_bits();
        let input = AddressedToken {
            token: core,
            qp: context.to_hw(),
            reason: packet.earlier_reason,
            rc_class: [RcClass::NotRc, RcClass::Expected, RcClass::Gap][tag as usize % 3],
            rc_epsn: (tag & 0xff_ffff).to_bits(),
            rc_msn: (tag >> 8).to_bits(),
            va: target.va.to_bits(),
            rkey: target.rkey.to_bits(),
        };
        (input, headers, context, target)
    }
}

/// Returns a packet for the fields of a token that is not a packet.
fn no_packet(tag: u32) -> Packet {
    Packet {
        slot: 0,
        spot: Spot::Start,
        delta: 0,
        ends_there: false,
        length: (tag % 8_192) as u16,
        key_error: 0,
        pd_error: false,
        qp_write: true,
        earlier_reason: DropReason::None,
        tag,
    }
}

/// The expected output for a token that passes unchanged, with neither access reason nor segments.
fn untouched(input: AddressedToken) -> Step {
    Step {
        input,
        region: RegionToken {
            token: input.token,
            qp: input.qp,
            reason: input.reason,
            rc_class: input.rc_class,
            rc_epsn: input.rc_epsn,
            rc_msn: input.rc_msn,
            va: input.va,
            ..RegionToken::default()
        },
        has_region: false,
        translated: TranslatedToken {
            token: input.token,
            qp: input.qp,
            reason: input.reason,
            rc_class: input.rc_class,
            rc_epsn: input.rc_epsn,
            rc_msn: input.rc_msn,
            ..TranslatedToken::default()
        },
    }
}

/// A table write; its other fields hold the remains of some packet, which must not be acted on.
fn table_step(select: TableSelect, index: u32, entry: Bits<176>) -> Step {
    let mut input = World::default().aim(&no_packet(index * 77)).0;
    input.token.kind = TokenKind::Table;
    input.token.table.select = select;
    input.token.table.index = index.to_bits();
    input.token.table.entry = entry;
    untouched(input)
}

/// A write that takes away the first region in use.
pub fn clear_region() -> AddressedToken {
    table_step(TableSelect::Mr, SLOTS[0], Bits::default()).input
}

fn pack_region(entry: &MrRow) -> Bits<176> {
    let packed: Bits<{ tables::MrEntry::BITS }> = entry.to_hw().into();
    bit_cast(packed)
}

fn pack_page(entry: &EmttRow) -> Bits<176> {
    let packed: Bits<{ tables::EmttEntry::BITS }> = entry.to_hw().into();
    bit_cast(packed)
}
