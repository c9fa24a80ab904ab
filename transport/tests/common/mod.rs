//! A lane with one queue pair of each mode and one region, and frames for it.
pub mod crafted;

use std::collections::BTreeMap;

use stellar_transport::rx::{
    DropReason, EmttRow, MrRow, Owner, PageSize, Psn, QpMode, QpRow, QpState, RxConfig, RxLane,
    RxOutcome, TableWrite, WriteTlp,
};
use stellar_wire::mrc::Meth;
use stellar_wire::{Bth, ExtHeaders, ImmDt, Opcode, Reth, RoceFrame};

pub const RC_QP: u32 = 5;
pub const MRC_QP: u32 = 1023;
pub const PD: u32 = 0xabcde;
pub const MR_INDEX: u32 = 0xfed;
pub const KEY: u8 = 0x5a;
pub const RKEY: u32 = MR_INDEX << 8 | KEY as u32;
/// This address is not aligned to any page size.
pub const BASE_VA: u64 = 0x7f12_3456_7123;
pub const REGION_LENGTH: u64 = 64 * 1024;
pub const FIRST_EMTT: u32 = 1000;
pub const MTU: u32 = 1024;

/// Context of a queue pair that takes writes.
pub fn context(mode: QpMode, initial_psn: u32) -> QpRow {
    QpRow {
        state: QpState::Ready,
        mode,
        pd: PD,
        pkey: 0xffff,
        mtu_log2: MTU.ilog2() as u8,
        initial_psn: Psn::new(initial_psn),
        remote_write: true,
    }
}

/// Region of `page_size` pages, all rights.
pub fn region(page_size: PageSize) -> MrRow {
    MrRow {
        valid: true,
        key: KEY,
        pd: PD,
        remote_write: true,
        remote_read: true,
        remote_atomic: true,
        page_size,
        base_va: BASE_VA,
        length: REGION_LENGTH,
        first_emtt: FIRST_EMTT,
        on_demand: false,
    }
}

/// Bus address of page `n`: pages lie in descending order with holes, so that no arithmetic on a neighbour gets them right.
pub fn page_address(page_size: PageSize, n: u64) -> u64 {
    0x4000_0000_0000 - 3 * n * page_size.bytes()
}

/// Odd pages belong to a GPU.
pub fn page(page_size: PageSize, n: u64) -> EmttRow {
    EmttRow {
        valid: true,
        owner: if n % 2 == 1 { Owner::Gpu } else { Owner::Host },
        device: 7,
        frame: page_address(page_size, n) >> 12,
    }
}

pub fn write_qp(lane: &mut RxLane, index: u32, context: QpRow) {
    lane.write_table(&TableWrite::Qp { index, context })
        .expect("queue pair");
}

pub fn write_mr(lane: &mut RxLane, entry: MrRow) {
    let index = MR_INDEX;
    lane.write_table(&TableWrite::Mr { index, entry })
        .expect("region");
}

pub fn write_emtt(lane: &mut RxLane, index: u32, entry: EmttRow) {
    lane.write_table(&TableWrite::Emtt { index, entry })
        .expect("page");
}

/// A lane whose queue pairs expect `initial_psn` and whose region has 4 KiB pages.
pub fn lane(initial_psn: u32) -> RxLane {
    let mut lane = RxLane::new(RxConfig::default());
    write_qp(&mut lane, RC_QP, context(QpMode::Rc, initial_psn));
    write_qp(&mut lane, MRC_QP, context(QpMode::Mrc, initial_psn));
    write_mr(&mut lane, region(PageSize::Size4K));
    let pages = (BASE_VA + REGION_LENGTH).div_ceil(4096) - BASE_VA / 4096;
    for n in 0..pages {
        write_emtt(&mut lane, FIRST_EMTT + n as u32, page(PageSize::Size4K, n));
    }
    lane
}

/// Payload that differs from packet to packet and from byte to byte.
pub fn pattern(seed: u32, length: usize) -> Vec<u8> {
    (0..length as u32)
        .map(|i| (i.wrapping_mul(167) ^ seed.wrapping_mul(0x9e37_79b9) >> 13) as u8)
        .collect()
}

/// A WRITE packet to the queue pair of its mode, with the extension headers its opcode has.
pub fn write_packet(
    opcode: Opcode,
    psn: u32,
    va: u64,
    dma_len: u32,
    payload: Vec<u8>,
) -> RoceFrame {
    let mrc = opcode.is_mrc();
    RoceFrame {
        bth: Bth {
            opcode,
            dest_qp: if mrc { MRC_QP } else { RC_QP },
            psn: Psn::new(psn).value(),
            ack_req: true,
            ..Bth::default()
        },
        ext: ExtHeaders {
            meth: mrc.then(Meth::default),
            reth: opcode.has_reth().then_some(Reth {
                va,
                rkey: RKEY,
                dma_len,
            }),
            imm: opcode.has_imm().then_some(ImmDt(0x1122_3344)),
            ..ExtHeaders::default()
        },
        payload,
        ..RoceFrame::default()
    }
}

/// A one-packet message of `length` bytes at `va`.
pub fn only(mode: QpMode, psn: u32, va: u64, length: usize) -> RoceFrame {
    let opcode = match mode {
        QpMode::Rc => Opcode::RcWriteOnly,
        QpMode::Mrc => Opcode::MrcWriteOnly,
    };
    write_packet(opcode, psn, va, length as u32, pattern(psn, length))
}

pub fn receive(lane: &mut RxLane, frame: &RoceFrame) -> RxOutcome {
    lane.receive(&frame.emit().expect("a frame that can be sent"))
}

/// Receives a frame that must be refused for `reason` and touch no memory.
#[track_caller]
pub fn refused(lane: &mut RxLane, frame: &RoceFrame, reason: DropReason) -> RxOutcome {
    let outcome = receive(lane, frame);
    assert_eq!(outcome.reason, reason);
    assert_eq!(
        (&outcome.place, outcome.tlps.len()),
        (&None, 0),
        "a refused packet places nothing"
    );
    outcome
}

/// Receives a frame that must be accepted.
#[track_caller]
pub fn accepted(lane: &mut RxLane, frame: &RoceFrame) -> RxOutcome {
    let outcome = receive(lane, frame);
    assert_eq!(outcome.reason, DropReason::None);
    outcome
}

/// Memory as writes leave it: (address type, address) to value. A byte written twice is an error.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Memory(pub BTreeMap<(u8, u64), u8>);

impl Memory {
    #[track_caller]
    pub fn write(&mut self, tlps: &[WriteTlp]) {
        for tlp in tlps {
            for (address, byte) in tlp.written() {
                let before = self.0.insert((tlp.at, address), byte);
                assert_eq!(before, None, "byte {address:#x} was written twice");
            }
        }
    }
}

/// Memory after `payload` at `va`, worked out byte by byte from the page map.
pub fn naive_memory(page_size: PageSize, va: u64, payload: &[u8]) -> Memory {
    let bytes = page_size.bytes();
    let place = |(i, &byte): (usize, &u8)| {
        let at = va + i as u64;
        let n = at / bytes - BASE_VA / bytes;
        let kind = if n % 2 == 1 { 0b10 } else { 0b00 };
        ((kind, page_address(page_size, n) + at % bytes), byte)
    };
    Memory(payload.iter().enumerate().map(place).collect())
}
