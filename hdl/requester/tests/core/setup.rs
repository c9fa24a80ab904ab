//! Queue pairs of a history: registers, tables, work requests.

use std::sync::Arc;

use hdl_requester::ConfigureKind;
use stellar_transport::congestion::NsccParams;
use stellar_transport::requester::{
    Backoff, CompletionQueue, Messages, MrcConfig, MrcRequester, QpIdentity, RcConfig, RcRequester,
    Requester, SendQueue, SqRing,
};
use stellar_transport::rx::{EmttRow, MrRow, Owner, PageSize, Psn, TableWrite, Tables};
use stellar_transport::spray::{
    EntropyProfile, GeneratedEntropy, HeaderFields, PlaneMask, Policy, SkipScope, SprayConfig,
};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Wqe, WqeOpcode, WqeSize};
use stellar_wire::mrc::Entropy;
use stellar_wire::rows::Row as _;

use crate::core::peer::{InFlight, RcReceiver, Receiver};
use crate::core::rig::Rig;

pub const LKEY: u32 = 1 << 8 | 0x5a;
pub const PD: u32 = 7;
/// Memory region of the local buffers. Some buffers exceed it.
pub const REGION: u64 = 1 << 20;
pub const RING_LOG2: u8 = 4;
pub const QPS: u32 = 3;
pub const MAX_WIMM: u16 = 3;
/// Round trip without other traffic, in ticks.
pub const BASE_RTT: u32 = 60;

/// The transports of the queue pairs of a history.
#[derive(Clone, Copy)]
pub enum Kinds {
    /// The first queue pair uses MRC, the last one RC, the others either.
    Mixed,
    Mrc,
}

/// One queue pair: the reference and its surroundings.
pub struct Pair {
    pub number: u32,
    pub ring: SqRing,
    pub reference: Requester,
    pub cq: CompletionQueue,
    pub producer: u16,
    /// Producer index of the last accepted doorbell.
    pub rung: u16,
    pub flying: Vec<InFlight>,
    /// The last packet sent was not the last of its message.
    pub in_message: bool,
    pub receiver: Receiver,
    pub rc_receiver: RcReceiver,
    /// Completions of the hardware that have not been compared with the reference yet.
    pub cqes: Vec<Vec<u32>>,
}

pub fn tables() -> Tables {
    let mut tables = Tables::default();
    let entry = MrRow {
        valid: true,
        key: LKEY as u8,
        pd: PD,
        page_size: PageSize::Size4K,
        base_va: 0x10_0000,
        length: REGION,
        ..MrRow::default()
    };
    tables
        .write(&TableWrite::Mr {
            index: LKEY >> 8,
            entry,
        })
        .expect("a region");
    // One page is missing.
    for index in (0..(REGION >> 12) as u32).filter(|&index| index != 37) {
        let entry = EmttRow {
            valid: true,
            owner: if index % 3 == 0 {
                Owner::Gpu
            } else {
                Owner::Host
            },
            device: 1,
            frame: 0x9_0000 + u64::from(index) * 2,
        };
        tables
            .write(&TableWrite::Emtt { index, entry })
            .expect("a page");
    }
    tables
}

/// Number of the entropy profile of a queue pair.
fn profile_number(dice: u64) -> u8 {
    (dice >> 62 & 1) as u8
}

/// The profiles: 0 is generated, 1 explicit.
fn profile(number: u8) -> EntropyProfile {
    let (active, backups) = (16, 4);
    let fields = HeaderFields::SourcePort;
    if number == 0 {
        let values = GeneratedEntropy {
            base: 0xc000,
            stride_log2: 0,
            active,
            backups,
        };
        return EntropyProfile::generated(values, fields).expect("a profile");
    }
    let values = (1..=u32::from(active + backups)).map(|n| Entropy((n * 0x9e37) & 0xffff));
    let values: Vec<Entropy> = values.collect();
    let (active, backups) = values.split_at(active.into());
    EntropyProfile::explicit(active, backups, fields).expect("a profile")
}

/// Returns the registers of an MRC queue pair, decided by `dice`.
fn mrc_config(dice: u64, mtu: u32) -> MrcConfig {
    let gbps = if dice >> 26 & 1 == 0 { 400 } else { 10 };
    let nscc = NsccParams::from_path(Ticks::from_us(8), gbps, mtu, false).expect("a path");
    // A number that a test writes down has bit 63 clear, and one of the first four.
    let policies = [
        [
            Policy::EvState,
            Policy::Obs,
            Policy::RoundRobin,
            Policy::SinglePath,
        ],
        [
            Policy::Bitmap,
            Policy::Reps,
            Policy::Mixed,
            Policy::FlowBender,
        ],
    ];
    // Hopper and HP3 come instead of some of the others.
    let policy = match (dice >> 63, dice >> 45 & 3) {
        (1, 0) => Policy::Hopper,
        (1, 2) => Policy::Hp3,
        (second, _) => policies[second as usize][(dice % 4) as usize],
    };
    let spray = spray_config(dice, policy);
    MrcConfig {
        mpr: [12, 1024, 1024, 4096][(dice >> 17 & 3) as usize],
        backoff: if dice >> 19 & 1 == 0 {
            Backoff::Fixed
        } else {
            Backoff::Exponential
        },
        retry_budget: (dice >> 20 & 3) as u8,
        early_loss: [0, 0, 3, 8][(dice >> 22 & 3) as usize],
        rto: Ticks::from_us(40),
        coalesce_from: [0, 20_000, 1 << 23][(dice >> 27) as usize % 3],
        ..MrcConfig::new(nscc, spray)
    }
}

/// Returns the registers of a path choice, decided by `dice`.
fn spray_config(dice: u64, policy: Policy) -> SprayConfig {
    SprayConfig {
        policy,
        paths: if policy == Policy::SinglePath { 1 } else { 16 },
        planes_up: PlaneMask::BOTH,
        seed: (dice >> 32) as u32 | 1,
        profile: Arc::new(profile(profile_number(dice))),
        rotation: (dice >> 8) as u8 % 8,
        skip: if dice >> 16 & 1 == 0 {
            SkipScope::RestOfRotation
        } else {
            SkipScope::NextTurn
        },
        probe_interval: Ticks::from_us(5),
        base_rtt: Ticks(BASE_RTT),
        bend_after: 1 + (dice >> 36 & 1) as u8,
    }
}

/// Returns the registers of an RC queue pair, decided by `dice`. Three of four have a path policy.
fn rc_config(dice: u64) -> RcConfig {
    RcConfig {
        window: [1, 5, 40, 1024][(dice >> 17 & 3) as usize],
        rto: Ticks::from_us(40),
        retry_count: [0, 1, 3, 7][(dice >> 20 & 3) as usize],
        rnr_retry: [0, 2, 7, 7][(dice >> 28 & 3) as usize],
        ack_every: [1, 4, 16, 1000][(dice >> 22 & 3) as usize],
        udp_sport: 0xc000 | (dice >> 24) as u16,
        plane: (dice >> 27 & 1) as u8,
        paths: [
            None,
            Some(Policy::Hopper),
            Some(Policy::Hp3),
            Some(Policy::Hp3),
        ][(dice >> 45 & 3) as usize]
            .map(|policy| spray_config(dice, policy)),
    }
}

/// A table row: its kind, its port, and its words.
type Row = (ConfigureKind, &'static str, Vec<u32>);

/// Writes the entropy profile of a queue pair, and returns its row of path selection.
fn spray_row(dice: u64, config: &SprayConfig, rig: &mut Rig) -> Row {
    let number = profile_number(dice);
    rig.profile(number, &config.profile.rows().expect("a key"));
    (
        ConfigureKind::Spray,
        "settings_spray",
        config.row(number).pack(),
    )
}

/// Returns the reference of an MRC queue pair, and its rows.
fn mrc(
    dice: u64,
    qp: QpIdentity,
    messages: Messages,
    first: Psn,
    now: Ticks,
    rig: &mut Rig,
) -> (Requester, Vec<Row>) {
    let config = mrc_config(dice, qp.mtu);
    let rows = vec![
        (
            ConfigureKind::Requester,
            "settings_requester",
            config.row(&qp, 3, first).pack(),
        ),
        spray_row(dice, &config.spray, rig),
        (
            ConfigureKind::Nscc,
            "settings_nscc",
            config.nscc.registers().pack(),
        ),
    ];
    let requester = MrcRequester::new(qp, config, messages, first, now).expect("paths");
    (Requester::Mrc(Box::new(requester)), rows)
}

/// Returns the reference of an RC queue pair, and its rows.
fn rc(
    dice: u64,
    qp: QpIdentity,
    messages: Messages,
    first: Psn,
    rig: &mut Rig,
) -> (Requester, Vec<Row>) {
    let config = rc_config(dice);
    let row = (
        ConfigureKind::Requester,
        "settings_requester",
        config.row(&qp, 3, first).pack(),
    );
    let paths = config.paths.as_ref();
    let paths = paths.map(|paths| spray_row(dice, paths, rig));
    let rows = [Some(row), paths].into_iter().flatten().collect();
    let requester = RcRequester::new(qp, config, messages, first).expect("paths");
    (Requester::Rc(Box::new(requester)), rows)
}

/// Path MTUs. Bits 30 and up of the dice choose one.
pub const MTUS: [u32; 4] = [256, 1024, 4096, 8192];

impl Pair {
    /// Creates queue pair `number` in the reference and in hardware, decided by `dice`.
    pub fn new(number: u32, dice: u64, now: Ticks, rig: &mut Rig, kinds: Kinds) -> Self {
        let mtu = MTUS[(dice >> 30) as usize % MTUS.len()];
        let over_rc = match number {
            _ if matches!(kinds, Kinds::Mrc) => false,
            0 => false,
            1 => dice >> 29 & 1 == 1,
            _ => true,
        };
        let qp = QpIdentity {
            local: number,
            peer: 90 + number,
            pd: PD,
            mtu,
        };
        let ring = SqRing {
            base: 0x5000_0000 + 0x1_0000 * u64::from(number),
            log2_entries: RING_LOG2,
            entry: if dice >> 39 & 1 == 1 {
                WqeSize::Bytes128
            } else {
                WqeSize::Bytes64
            },
        };
        let first = Psn::new(if number == 1 {
            (dice >> 40) as u32 & 0xff_ffff
        } else {
            0xff_ffe0
        });
        let max_wimm = if over_rc { u16::MAX } else { MAX_WIMM };
        let queue = SendQueue::new(Some(ring)).expect("a ring");
        let messages = Messages::new(queue, number, max_wimm);
        rig.dut.set("now", now.0.into());
        let (reference, rows) = if over_rc {
            rc(dice, qp, messages, first, rig)
        } else {
            mrc(dice, qp, messages, first, now, rig)
        };
        for (kind, port, row) in rows {
            rig.configure(kind, number, port, &row);
        }
        let queue = ring.row(mtu, max_wimm).pack();
        rig.configure(ConfigureKind::SendQueue, number, "settings_queue", &queue);
        Self {
            number,
            ring,
            reference,
            cq: CompletionQueue::new(1 << 12),
            producer: 0,
            rung: 0,
            flying: Vec::new(),
            in_message: false,
            receiver: Receiver::new(first),
            rc_receiver: RcReceiver::new(first),
            cqes: Vec::new(),
        }
    }

    /// Returns the next packet that arrives, if one does. It is mostly the oldest one; some packets are lost, some arrive twice.
    pub fn arriving(&mut self, dice: u64) -> Option<InFlight> {
        if self.flying.is_empty() {
            return None;
        }
        // RC makes progress only with packets in order.
        let overtakes = match self.reference {
            Requester::Mrc(_) => dice >> 20 & 1 == 1,
            Requester::Rc(_) => dice >> 18 & 15 == 15,
        };
        let index = if overtakes {
            (dice % self.flying.len() as u64) as usize
        } else {
            0
        };
        let packet = self.flying[index];
        if dice >> 21 & 15 != 0 {
            self.flying.remove(index);
        }
        (dice >> 25 & 7 != 0).then_some(packet)
    }
}

/// Returns a work request, decided by `dice`: small or large, signaled or not; some cannot be executed.
pub fn work_request(dice: u64, slot: u16) -> Wqe {
    let inline = dice >> 8 & 7 == 0;
    let length = match dice >> 11 & 7 {
        0 => 0,
        1 => 1,
        2..5 => (dice >> 16 & 0x7ff) as u32,
        _ => (dice >> 16 & 0x3fff) as u32,
    };
    Wqe {
        opcode: match dice & 7 {
            0 => WqeOpcode::Nop,
            1 | 2 => WqeOpcode::WriteImm,
            _ => WqeOpcode::Write,
        },
        signaled: dice >> 3 & 3 != 0,
        inline,
        fence: dice >> 5 & 7 == 0,
        slot,
        length: if inline && dice >> 40 & 31 != 0 {
            length % 65
        } else {
            length
        },
        remote_va: dice.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        rkey: (dice >> 7) as u32,
        immediate: (dice >> 19) as u32,
        wr_id: dice,
        local_va: 0x10_0000 + (dice >> 30) % (REGION - 0x4000),
        lkey: if dice >> 50 & 63 == 0 { LKEY + 1 } else { LKEY },
        inline_data: std::array::from_fn(|i| dice.rotate_left(i as u32 * 5) as u8),
    }
}
