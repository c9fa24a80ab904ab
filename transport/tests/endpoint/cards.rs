//! Cards with memory and regions, configurations of queue pairs, work requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use stellar_transport::congestion::NsccParams;
use stellar_transport::endpoint::{
    CardModel, Endpoint, EndpointConfig, ImmConfig, Memory, MemoryFault, Peer, PlaneAddress,
    QpConfig, TransportConfig, PORTS,
};
use stellar_transport::requester::{MrcConfig, SqRing};
use stellar_transport::rx::{EmttRow, MrRow, Owner, PageSize, Psn, RxConfig, TableWrite, WriteTlp};
use stellar_transport::spray::{
    EntropyProfile, GeneratedEntropy, HeaderFields, PlaneMask, Policy, SkipScope, SprayConfig,
};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Cqe, WcStatus, Wqe, WqeOpcode, WqeSize};
use stellar_wire::MacAddr;

pub const PD: u32 = 0x77;
pub const SOURCE_KEY: u32 = 10 << 8 | 0xa1;
pub const TARGET_KEY: u32 = 11 << 8 | 0xb2;
/// Neither region starts at a page.
pub const SOURCE_VA: u64 = 0x1_0000_0123;
pub const TARGET_VA: u64 = 0x7_0000_0ffd;
pub const REGION: u64 = 256 * 1024;
const SOURCE_EMTT: u32 = 100;
const TARGET_EMTT: u32 = 5000;
/// Bus addresses: (translated, 4 KiB page) to bytes. Pages not here do not answer.
#[derive(Default)]
pub struct TestMemory {
    pub pages: BTreeMap<(bool, u64), Vec<u8>>,
    /// Bytes written, counting each write.
    pub bytes_written: u64,
}

impl TestMemory {
    pub fn byte_mut(&mut self, translated: bool, address: u64) -> Option<&mut u8> {
        let page = self.pages.get_mut(&(translated, address >> 12))?;
        Some(&mut page[(address & 0xfff) as usize])
    }
}

impl Memory for TestMemory {
    fn read(&mut self, address: u64, translated: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        let length = into.len();
        for (i, byte) in into.iter_mut().enumerate() {
            let at = self.byte_mut(translated, address + i as u64);
            *byte = *at.ok_or(MemoryFault { address, length })?;
        }
        Ok(())
    }

    fn write(&mut self, tlp: &WriteTlp) {
        for (address, byte) in tlp.written() {
            self.bytes_written += 1;
            let at = self.byte_mut(tlp.at == 0b10, address);
            *at.expect("a write to memory that is there") = byte;
        }
    }
}

/// Page `n` of a region: host and GPU pages in turn, scattered.
fn page(first_emtt: u32, n: u64) -> (bool, u64) {
    let address = (u64::from(first_emtt) << 32) + 0x5_0000_0000 - 3 * n * 4096;
    (n % 3 == 1, address)
}

/// Returns the place of a byte of a region.
pub fn locate(base: u64, va: u64) -> (bool, u64) {
    let emtt = if base == SOURCE_VA {
        SOURCE_EMTT
    } else {
        TARGET_EMTT
    };
    let (gpu, address) = page(emtt, (va >> 12) - (base >> 12));
    (gpu, address | va & 0xfff)
}

fn register(card: &mut Endpoint<TestMemory>, base_va: u64, key: u32, first_emtt: u32, fill: u8) {
    let pages = ((base_va + REGION - 1) >> 12) - (base_va >> 12) + 1;
    for n in 0..pages {
        let (gpu, address) = page(first_emtt, n);
        let entry = EmttRow {
            valid: true,
            owner: if gpu { Owner::Gpu } else { Owner::Host },
            device: 1,
            frame: address >> 12,
        };
        let index = first_emtt + n as u32;
        card.write_table(&TableWrite::Emtt { index, entry })
            .expect("page");
        let bytes = (0..4096u64)
            .map(|i| ((i * 7 + n * 13) >> 1) as u8 ^ fill)
            .collect();
        card.memory_mut().pages.insert((gpu, address >> 12), bytes);
    }
    let entry = MrRow {
        valid: true,
        key: key as u8,
        pd: PD,
        remote_write: key == TARGET_KEY,
        remote_read: false,
        remote_atomic: false,
        page_size: PageSize::Size4K,
        base_va,
        length: REGION,
        first_emtt,
        on_demand: false,
    };
    let index = key >> 8;
    card.write_table(&TableWrite::Mr { index, entry })
        .expect("region");
}

fn plane(card: u8, port: u8) -> PlaneAddress {
    PlaneAddress {
        mac: MacAddr([2, 0, 0, 0, card, port]),
        ip: [10, port, 0, card + 1].into(),
    }
}

pub fn planes(card: u8) -> [PlaneAddress; PORTS] {
    [plane(card, 0), plane(card, 1)]
}

pub fn endpoint_config(card: u8) -> EndpointConfig {
    EndpointConfig {
        planes: planes(card),
        rx: RxConfig::default(),
        data_dscp: 10,
        control_dscp: 46,
        event_entries: 256,
    }
}

/// A card with a source and a target region.
pub fn card(number: u8) -> Endpoint<TestMemory> {
    card_at(number, planes(number))
}

/// Does what [`card`] does, with these addresses.
pub fn card_at(number: u8, planes: [PlaneAddress; PORTS]) -> Endpoint<TestMemory> {
    card_of(number, planes, CardModel::default())
}

/// As [`card_at`], of this model.
pub fn card_of(
    number: u8,
    planes: [PlaneAddress; PORTS],
    model: CardModel,
) -> Endpoint<TestMemory> {
    let config = EndpointConfig {
        planes,
        ..endpoint_config(number)
    };
    let memory = TestMemory::default();
    let mut card = Endpoint::with_model(config, model, memory).expect("configuration");
    register(&mut card, SOURCE_VA, SOURCE_KEY, SOURCE_EMTT, 0x55);
    register(&mut card, TARGET_VA, TARGET_KEY, TARGET_EMTT, 0x0f);
    card
}

pub fn spray(policy: Policy, paths: u8, seed: u32) -> SprayConfig {
    let values = GeneratedEntropy {
        base: 0xc000,
        stride_log2: 0,
        active: 128,
        backups: 16,
    };
    let profile = EntropyProfile::generated(values, HeaderFields::SourcePort).expect("profile");
    SprayConfig {
        policy,
        paths,
        planes_up: PlaneMask::BOTH,
        seed,
        profile: Arc::new(profile),
        rotation: 0,
        skip: SkipScope::default(),
        probe_interval: Ticks::from_us(20),
        base_rtt: Ticks::from_us(6),
        bend_after: 1,
    }
}

pub fn mrc(mtu_log2: u8) -> MrcConfig {
    let rtt = Ticks::from_us(6);
    let nscc = NsccParams::from_path(rtt, 400, 1 << mtu_log2, false).expect("a path");
    MrcConfig::new(nscc, spray(Policy::Obs, 128, 1))
}

/// A SACK is sent for this number of packets that do not request one.
pub const SACK_EVERY: u8 = 16;

/// Queue pair `number` of a card, connected to the same number of the other.
pub fn qp(card: u8, number: u32, mtu_log2: u8, transport: TransportConfig) -> QpConfig {
    QpConfig {
        number,
        page: 100 + number,
        peer: Peer {
            qp: number,
            planes: planes(1 - card),
        },
        pd: PD,
        pkey: 0xffff,
        mtu_log2,
        sq_psn: Psn::new(0x1000),
        rq_psn: Psn::new(0x1000),
        remote_write: true,
        sq: None,
        cq_entries: 4096,
        imm: ImmConfig {
            max_wimm: 32,
            completions: true,
        },
        sack_every: SACK_EVERY,
        srv6: None,
        transport,
    }
}

pub fn ring(base: u64) -> Option<SqRing> {
    Some(SqRing {
        base,
        log2_entries: 4,
        entry: WqeSize::Bytes64,
    })
}

/// A WRITE from the source region to the target region, at these offsets.
pub fn write(from: u64, to: u64, length: u32, wr_id: u64) -> Wqe {
    Wqe {
        opcode: WqeOpcode::Write,
        length,
        remote_va: TARGET_VA + to,
        rkey: TARGET_KEY,
        wr_id,
        local_va: SOURCE_VA + from,
        lkey: SOURCE_KEY,
        ..Wqe::default()
    }
}

pub fn write_imm(from: u64, to: u64, length: u32, wr_id: u64, immediate: u32) -> Wqe {
    Wqe {
        opcode: WqeOpcode::WriteImm,
        immediate,
        ..write(from, to, length, wr_id)
    }
}

/// Identifier and status of completions.
pub fn statuses(completions: &[Cqe]) -> Vec<(u64, WcStatus)> {
    completions.iter().map(|c| (c.wr_id, c.status)).collect()
}
