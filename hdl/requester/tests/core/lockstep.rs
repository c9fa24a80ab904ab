//! Random histories: every operation does what the reference does, and says the same of it.

use std::sync::Arc;

use hdl_requester::ConfigureKind;
use proptest::prelude::*;
use rust_hdl::prelude::*;
use stellar_transport::congestion::NsccParams;
use stellar_transport::requester::{
    Backoff, Card, CompletionQueue, Messages, MrcConfig, MrcRequester, Payload, QpIdentity,
    RequestPacket, Sack, SendQueue, SqRing,
};
use stellar_transport::rx::{EmttEntry, MrEntry, Owner, PageSize, Psn, TableWrite, Tables};
use stellar_transport::spray::{
    EntropyProfile, GeneratedEntropy, HeaderFields, PlaneMask, Policy, SkipScope, SprayConfig,
};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Cqe, Wqe, WqeOpcode};
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::{ControlKind, ControlPacket, TxRequest};
use stellar_wire::hw::tx::{TxCcState, TxNeth, TxSeth};
use stellar_wire::mrc::{CcState, Entropy, NackReason, Neth, PathHint, Seth};

use crate::memory::Entries;
use crate::peer::{InFlight, Receiver};
use crate::rig::{pieces_record, Did, Rig};

const LKEY: u32 = 1 << 8 | 0x5a;
const PD: u32 = 7;
/// Region the local buffers are in, but for its end.
const REGION: u64 = 1 << 20;
const RING_LOG2: u8 = 4;
const QPS: u32 = 2;
const MAX_WIMM: u16 = 3;

/// One queue pair: the reference and its surroundings.
struct Pair {
    number: u32,
    mtu: u32,
    ring: SqRing,
    reference: MrcRequester,
    cq: CompletionQueue,
    producer: u16,
    /// Producer index of the last doorbell that was taken.
    rung: u16,
    flying: Vec<InFlight>,
    receiver: Receiver,
    /// Completions of the hardware that the reference has not been asked for.
    cqes: Vec<Vec<u32>>,
}

/// Everything of one history.
struct Bench {
    rig: Rig,
    pairs: Vec<Pair>,
    tables: Tables,
    entries: Entries,
    now: Ticks,
    planes: PlaneMask,
}

fn tables() -> Tables {
    let mut tables = Tables::default();
    let entry = MrEntry {
        valid: true,
        key: LKEY as u8,
        pd: PD,
        page_size: PageSize::Size4K,
        base_va: 0x10_0000,
        length: REGION,
        ..MrEntry::default()
    };
    tables
        .write(&TableWrite::Mr {
            index: LKEY >> 8,
            entry,
        })
        .expect("a region");
    // One page is missing.
    for index in (0..(REGION >> 12) as u32).filter(|&index| index != 37) {
        let entry = EmttEntry {
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

/// Packets that hardware sends in one operation at most (`docs/requester.md`, Sequencer).
fn burst_limit(mtu: u32) -> u32 {
    (16384 / mtu).min(32)
}

/// Registers of a queue pair, out of `dice`.
fn config(dice: u64, mtu: u32) -> MrcConfig {
    let gbps = if dice >> 26 & 1 == 0 { 400 } else { 10 };
    let nscc = NsccParams::from_path(Ticks::from_us(8), gbps, mtu, false).expect("a path");
    let profile = GeneratedEntropy {
        base: 0xc000,
        stride_log2: 0,
        active: 16,
        backups: 4,
    };
    let policy = [
        Policy::EvState,
        Policy::Obs,
        Policy::RoundRobin,
        Policy::SinglePath,
    ][(dice % 4) as usize];
    let spray = SprayConfig {
        policy,
        paths: if policy == Policy::SinglePath { 1 } else { 16 },
        planes_up: PlaneMask::BOTH,
        seed: (dice >> 32) as u32 | 1,
        profile: Arc::new(
            EntropyProfile::generated(profile, HeaderFields::SourcePort).expect("a profile"),
        ),
        rotation: (dice >> 8) as u8 % 8,
        skip: if dice >> 16 & 1 == 0 {
            SkipScope::RestOfRotation
        } else {
            SkipScope::NextTurn
        },
        probe_interval: Ticks::from_us(5),
    };
    MrcConfig {
        mpr: if dice >> 17 & 3 == 0 { 12 } else { 1024 },
        backoff: if dice >> 19 & 1 == 0 {
            Backoff::Linear
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

impl Bench {
    fn new(dice: u64) -> Self {
        let tables = tables();
        let mut rig = Rig::new(tables.clone());
        rig.read_latency = 2 + (dice >> 24 & 15) as u32;
        let now = Ticks((dice >> 3) as u32);
        let mut pairs = Vec::new();
        for number in 0..QPS {
            let dice = dice.rotate_left(7 * number);
            let mtu = [256, 1024, 4096][(dice >> 30) as usize % 3];
            let config = config(dice, mtu);
            let qp = QpIdentity {
                local: number,
                peer: 90 + number,
                pd: PD,
                mtu,
            };
            let ring = SqRing {
                base: 0x5000_0000 + 0x1_0000 * u64::from(number),
                log2_entries: RING_LOG2,
            };
            let first = Psn::new(if number == 0 {
                0xff_ffe0
            } else {
                (dice >> 40) as u32 & 0xff_ffff
            });
            let profile = config.spray.profile.as_generated().expect("generated");
            rig.profile(&to_words(profile.to_hw()));
            rig.set("now", now.0.into());
            for (kind, port, row) in [
                (
                    ConfigureKind::Requester,
                    "requester_settings",
                    to_words(config.to_hw(&qp, 3, first)),
                ),
                (
                    ConfigureKind::SendQueue,
                    "queue_settings",
                    to_words(ring.to_hw(qp.mtu, MAX_WIMM)),
                ),
                (
                    ConfigureKind::Spray,
                    "spray_settings",
                    to_words(config.spray.to_hw(0)),
                ),
                (
                    ConfigureKind::Nscc,
                    "nscc_settings",
                    to_words(config.nscc.registers().to_hw()),
                ),
            ] {
                rig.configure(kind, number, port, &row);
            }
            let queue = SendQueue::new(Some(ring)).expect("a ring");
            let messages = Messages::new(queue, number, MAX_WIMM);
            pairs.push(Pair {
                number,
                mtu,
                ring,
                reference: MrcRequester::new(qp, config, messages, first, now).expect("paths"),
                cq: CompletionQueue::new(1 << 12),
                producer: 0,
                rung: 0,
                flying: Vec::new(),
                receiver: Receiver::new(first),
                cqes: Vec::new(),
            });
        }
        Self {
            rig,
            pairs,
            tables,
            entries: Entries::default(),
            now,
            planes: PlaneMask::BOTH,
        }
    }

    /// Lets the reference act as one of its callers does.
    fn reference<T>(
        &mut self,
        qp: usize,
        act: impl FnOnce(&mut MrcRequester, &mut Card<'_>) -> T,
    ) -> T {
        let pair = &mut self.pairs[qp];
        let mut card = Card {
            memory: &mut self.entries,
            tables: &self.tables,
            cq: &mut pair.cq,
        };
        act(&mut pair.reference, &mut card)
    }

    /// Compares what both did, after what the hardware does in the background.
    fn compare(&mut self, qp: usize, did: &mut Did, was_failed: bool) {
        self.rig.settle();
        let pair = &mut self.pairs[qp];
        pair.cqes.append(&mut did.cqes);
        pair.cqes.append(&mut self.rig.take_cqes());
        for words in pair.cqes.drain(..) {
            let found = Record::<Completion>::new(&words);
            let wanted = pair.cq.pop();
            assert_eq!(Some(completion(&found)), wanted, "completion");
        }
        assert_eq!(pair.cq.pop(), None, "a completion is missing");
        let error = pair.reference.error().filter(|_| !was_failed);
        let failed: Vec<_> = error
            .map(|status| (pair.number, status.code()))
            .into_iter()
            .collect();
        assert_eq!(did.failed, failed, "failure");
        let deadline = pair.reference.deadline().map(|at| at.0);
        assert_eq!(self.rig.deadlines[qp], deadline, "deadline");
    }

    fn post(&mut self, qp: usize, dice: u64) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let count = dice % 4 + 1;
        let pair = &mut self.pairs[qp];
        for i in 0..count {
            // What is not fetched is not overwritten; the hardware fetches one entry earlier than the reference.
            let fetched = pair.producer.wrapping_sub(pair.rung);
            let pending = pair.reference.messages_mut().queue().pending() + fetched;
            if u32::from(pending) + 2 > 1 << RING_LOG2 {
                break;
            }
            let wqe = work_request(dice.rotate_left(11 * i as u32 + 3), pair.producer);
            let index = u64::from(pair.producer) % (1 << RING_LOG2);
            let address = pair.ring.base + index * Wqe::LEN as u64;
            let mut bytes = wqe.to_bytes();
            match dice.rotate_right(9 * i as u32) % 61 {
                0 => bytes[0] = 0x77,
                1 => bytes[2] ^= 0x10,
                _ => {}
            }
            self.entries.0.insert(address, bytes);
            self.rig.entries.0.insert(address, bytes);
            pair.producer = pair.producer.wrapping_add(1);
        }
        let producer = match dice >> 50 & 31 {
            0 => self.pairs[qp].producer.wrapping_add(60),
            _ => self.pairs[qp].producer,
        };
        let mut did = self.rig.doorbell(qp as u32, producer);
        let taken = self.reference(qp, |reference, card| {
            let taken = reference
                .messages_mut()
                .queue_mut()
                .ring_doorbell(producer)
                .is_ok();
            if taken && reference.error().is_some() {
                reference.fail(None, card);
            }
            taken
        });
        if taken {
            self.pairs[qp].rung = producer;
        }
        assert_eq!(did.refused, !taken, "producer index {producer}");
        self.compare(qp, &mut did, was_failed);
    }

    fn transmit(&mut self, qp: usize, port: u8) -> bool {
        let was_failed = self.pairs[qp].reference.error().is_some();
        if !self.planes.contains(port) {
            return false;
        }
        let mut did = Did::default();
        // A NOP needs the entry behind it, which is not there yet: the queue pair is woken when it comes.
        for _ in 0..40 {
            let again = self.rig.transmit(qp as u32, port, self.now.0);
            assert!(again.served != again.parked, "served or parked");
            assert_eq!(again.served, !again.tx.is_empty(), "a packet");
            did.cqes.extend(again.cqes);
            did.failed.extend(again.failed);
            did.tx = again.tx;
            let arrived = self.rig.settle() || again.arrived;
            did.cqes.extend(self.rig.take_cqes());
            if !did.tx.is_empty() || !arrived {
                break;
            }
        }
        let now = self.now;
        let limit = burst_limit(self.pairs[qp].mtu);
        let packets = self.reference(qp, |reference, card| {
            reference.transmit_burst(port, now, limit, card)
        });
        assert_eq!(packets.len(), did.tx.len(), "packets of {packets:?}");
        for (packet, words) in packets.iter().zip(&did.tx) {
            compare_packet(packet, words, qp as u32, port);
            self.pairs[qp].flying.push(InFlight::of(packet));
        }
        self.compare(qp, &mut did, was_failed);
        !packets.is_empty()
    }

    fn sack(&mut self, qp: usize, seth: &Seth, cc: &CcState) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let control = ControlPacket {
            kind: ControlKind::Sack,
            qp: (qp as u64).to_bits(),
            reflected: u64::from(seth.entropy.0).to_bits(),
            seth: seth_record(seth),
            cc_state: TxCcState {
                timestamp: u64::from(cc.tx_timestamp).to_bits(),
                rcv_cwnd_pen: u64::from(cc.rcv_cwnd_pen).to_bits(),
                ..TxCcState::default()
            },
            ..ControlPacket::default()
        };
        let mut did = self.rig.control(control, self.now.0);
        let now = self.now;
        let good = self.pairs[qp]
            .reference
            .spray_mut()
            .index_of(seth.entropy)
            .filter(|_| seth.path_hint == PathHint::Good && !was_failed)
            .map(|index| (index.plane(), seth.entropy.0));
        self.reference(qp, |reference, card| {
            reference.on_sack(Sack { seth, cc }, now, card);
        });
        self.compare(qp, &mut did, was_failed);
        did.good.append(&mut self.rig.take_good());
        assert_eq!(did.good, good.into_iter().collect::<Vec<_>>(), "good path");
    }

    fn deliver(&mut self, qp: usize, dice: u64) {
        let pair = &mut self.pairs[qp];
        if pair.flying.is_empty() {
            return;
        }
        let index = (dice % pair.flying.len() as u64) as usize;
        // Mostly the oldest; some packets are lost, some arrive twice.
        let index = if dice >> 20 & 1 == 0 { 0 } else { index };
        let packet = pair.flying[index];
        if dice >> 21 & 15 != 0 {
            pair.flying.remove(index);
        }
        if dice >> 25 & 7 == 0 {
            return;
        }
        let hint = match dice >> 28 & 31 {
            0..4 => PathHint::SkipOnce,
            4 => PathHint::AlwaysSkip,
            _ => PathHint::Good,
        };
        let mpr = if dice >> 33 & 15 == 0 {
            (dice >> 37 & 7) as u8
        } else {
            0
        };
        let penalty = if dice >> 40 & 7 == 0 {
            (dice >> 43 & 127) as u8
        } else {
            0
        };
        let (seth, cc) = pair.receiver.answer(&packet, hint, mpr, penalty);
        self.sack(qp, &seth, &cc);
    }

    /// A SACK that no receiver sends.
    fn garble(&mut self, qp: usize, dice: u64) {
        let pair = &mut self.pairs[qp];
        let next = pair.reference.window().next();
        let packet = InFlight {
            psn: next.plus((dice & 0xff_ffff) as u32 >> (dice >> 59)),
            entropy: Entropy(0xbff8 + (dice >> 30) as u32 % 32),
            stamp: dice as u16,
            probe_id: (dice >> 11 & 3 == 0).then_some((dice >> 14) as u16 % 200),
        };
        let mut receiver = pair.receiver.clone();
        let (mut seth, cc) = receiver.answer(&packet, PathHint::Good, 0, 0);
        if dice >> 41 & 1 == 0 {
            seth.cack_psn = next.plus(0xff_ffff - (dice >> 42) as u32 % 2048).value();
        }
        if dice >> 53 & 1 == 0 {
            seth.bitmap ^= dice;
        }
        self.sack(qp, &seth, &cc);
    }

    fn refuse(&mut self, qp: usize, dice: u64) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let Some(packet) = self.pairs[qp].flying.first().copied() else {
            return;
        };
        let reasons = [1, 2, 6, 7, 10, 11, 3, 11, 1, 10];
        let reason = match dice % 160 {
            0 => 25,
            other => reasons[(other % 10) as usize],
        };
        let mut neth = Receiver::refuse(&packet, NackReason::from_byte(reason));
        neth.tx_timestamp ^= u16::from(dice >> 20 & 7 == 0);
        let Neth {
            nack_psn,
            tx_timestamp,
            ..
        } = neth;
        let control = ControlPacket {
            kind: ControlKind::Nack,
            qp: (qp as u64).to_bits(),
            neth: TxNeth {
                reason: u64::from(reason).to_bits(),
                nack_psn: u64::from(nack_psn).to_bits(),
                timestamp: u64::from(tx_timestamp).to_bits(),
                ..TxNeth::default()
            },
            ..ControlPacket::default()
        };
        let mut did = self.rig.control(control, self.now.0);
        self.reference(qp, |reference, card| reference.on_nack(&neth, card));
        self.compare(qp, &mut did, was_failed);
    }

    fn timer(&mut self, qp: usize) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let Some(deadline) = self.pairs[qp].reference.deadline() else {
            return;
        };
        if !self.now.reached(deadline) {
            self.now = deadline;
        }
        let now = self.now;
        let mut did = self.rig.timer(qp as u32, now.0);
        self.reference(qp, |reference, card| reference.on_timer(now, card));
        self.compare(qp, &mut did, was_failed);
    }

    fn fault(&mut self, qp: usize, dice: u64) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let slot = self.pairs[qp].rung.wrapping_sub((dice % 8) as u16);
        if was_failed || self.pairs[qp].reference.messages_mut().get(slot).is_none() {
            return;
        }
        let mut did = self.rig.fault(qp as u32, slot);
        self.reference(qp, |reference, card| reference.local_fault(slot, card));
        self.compare(qp, &mut did, was_failed);
    }

    fn flush(&mut self, qp: usize) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let mut did = self.rig.flush(qp as u32);
        self.reference(qp, |reference, card| reference.fail(None, card));
        self.compare(qp, &mut did, was_failed);
    }

    fn plane(&mut self, dice: u64) {
        self.planes = match dice % 4 {
            0 => PlaneMask::only(0),
            1 => PlaneMask::only(1),
            _ => PlaneMask::BOTH,
        };
        let up = |plane| self.planes.contains(plane);
        self.rig
            .set("plane_up", u64::from(up(0)) | u64::from(up(1)) << 1);
        for pair in &mut self.pairs {
            for plane in 0..2 {
                pair.reference.set_plane(plane, self.planes.contains(plane));
            }
        }
    }

    /// One event of a history.
    fn act(&mut self, kind: u8, dice: u64) {
        let qp = (dice >> 62) as usize % QPS as usize;
        match kind {
            0..6 => self.post(qp, dice),
            6..18 => {
                self.transmit(qp, (dice & 1) as u8);
            }
            18..24 => {
                for i in 0..dice % 24 {
                    self.now = self.now.plus(Ticks((dice >> (i % 40) & 3) as u32));
                    if !self.transmit(qp, (dice >> i & 1) as u8) {
                        break;
                    }
                }
            }
            24..44 => self.deliver(qp, dice),
            44..47 => self.refuse(qp, dice),
            47..49 => self.garble(qp, dice),
            49..55 => self.now = self.now.plus(Ticks((dice & 0xfff) as u32)),
            55..58 => self.timer(qp),
            58 if dice & 7 == 0 => self.fault(qp, dice >> 3),
            59 if dice & 31 == 0 => self.flush(qp),
            60 => self.plane(dice),
            _ => self.now = self.now.plus(Ticks((dice & 0x3f) as u32)),
        }
    }

    /// What both counted in all.
    fn compare_counters(&self) {
        let sum = |pick: fn(&stellar_transport::requester::RequesterCounters) -> u64| {
            self.pairs
                .iter()
                .map(|pair| pick(pair.reference.counters()))
                .sum::<u64>()
        };
        for (name, wanted) in [
            ("packet", sum(|c| c.packets)),
            ("retransmission", sum(|c| c.retransmissions)),
            ("probe", sum(|c| c.probes)),
            ("sack", sum(|c| c.sacks)),
            ("sack_out_of_window", sum(|c| c.sacks_out_of_window)),
            ("sack_inconsistent", sum(|c| c.sacks_inconsistent)),
            ("stale_sack", sum(|c| c.stale_sacks)),
            ("ecn_mark", sum(|c| c.ecn_marks)),
            ("probe_answer", sum(|c| c.probe_answers)),
            ("early_loss", sum(|c| c.early_losses)),
            ("timeout", sum(|c| c.timeouts)),
            ("nack_trimmed", sum(|c| c.nacks_trimmed)),
            ("nack_recoverable", sum(|c| c.nacks_recoverable)),
            ("nack_fatal", sum(|c| c.nacks_fatal)),
            ("nack_ignored", sum(|c| c.nacks_ignored)),
            ("spurious", sum(|c| c.spurious_losses)),
        ] {
            let found = self.rig.totals.0.get(name).copied().unwrap_or(0);
            assert_eq!(found, wanted, "{name}");
        }
    }
}

fn seth_record(seth: &Seth) -> TxSeth {
    TxSeth {
        path_hint: u64::from(seth.path_hint.code()).to_bits(),
        probe_response: seth.probe_response,
        ack_psn_offset: u64::from(seth.ack_psn_offset as u16).to_bits(),
        cack_psn: u64::from(seth.cack_psn).to_bits(),
        mpr: u64::from(seth.mpr).to_bits(),
        sack_offset: u64::from(seth.sack_offset as u16).to_bits(),
        bitmap: seth.bitmap.to_bits(),
    }
}

/// A work request, out of `dice`: small and large, signaled or not, now and then one that cannot be executed.
fn work_request(dice: u64, slot: u16) -> Wqe {
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
            length % 17
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

fn completion(found: &Record<'_, Completion>) -> Cqe {
    Cqe {
        status: stellar_wire::host::WcStatus::from_code(found.u64("status") as u8)
            .expect("a status"),
        opcode: stellar_wire::host::CqeOpcode::from_code(found.u64("opcode") as u8)
            .expect("an opcode"),
        // Given with its place, later; the reference's ring here never comes round.
        phase: true,
        qp: found.u64("qp") as u32,
        wr_id: found.u64("wr_id"),
        byte_len: found.u64("byte_len") as u32,
        immediate: found.u64("immediate") as u32,
        msn: found.u64("msn") as u32,
        sq_head: found.u64("sq_head") as u16,
    }
}

/// Every field of a packet that its opcode has.
fn compare_packet(wanted: &RequestPacket, words: &[u32], qp: u32, port: u8) {
    let found = Record::<TxRequest>::new(words);
    let check = |field: &str, value: u64| {
        assert_eq!(found.u64(field), value, "{field} of {wanted:?}");
    };
    check("qp", qp.into());
    check("port", port.into());
    check("opcode", wanted.opcode.code().into());
    check("psn", wanted.psn.value().into());
    check("ack_req", wanted.ack_req.into());
    check("retransmission", wanted.retransmission.into());
    check("entropy", wanted.entropy.0.into());
    check("length", wanted.length.into());
    let ext = &wanted.ext;
    if let Some(stamp) = ext.tseth {
        check("timestamp", stamp.tx_timestamp.into());
    }
    if let Some(meth) = ext.meth {
        check("meth.msn", meth.msn.into());
        check("meth.rqmsn", meth.rqmsn.into());
    }
    if let Some(reth) = ext.reth {
        check("reth.va", reth.va);
        check("reth.rkey", reth.rkey.into());
        check("reth.dma_length", reth.dma_len.into());
    }
    if let Some(immediate) = ext.imm {
        check("immediate", immediate.0.into());
    }
    if let Some(peth) = ext.peth {
        check("timestamp", peth.timestamp.tx_timestamp.into());
        check("probe_id", peth.probe_id.into());
    }
    if let Some(slot) = wanted.slot {
        check("slot", slot.into());
    }
    match &wanted.payload {
        Payload::Inline(bytes) => {
            check("inline", 1);
            let data: Vec<u8> = found
                .words("inline_data")
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            assert_eq!(data, bytes, "inline data");
        }
        Payload::Memory(pieces) if !pieces.is_empty() => {
            check("inline", 0);
            let pieces = to_words(pieces_record(pieces));
            let wanted = Record::<stellar_wire::hw::core::Pieces>::new(&pieces);
            for field in ["first_length", "first_address", "first_translated"] {
                check(&format!("pieces.{field}"), wanted.u64(field));
            }
            if wanted.u64("first_length") < u64::from(found.u64("length") as u16) {
                for field in ["second_address", "second_translated"] {
                    check(&format!("pieces.{field}"), wanted.u64(field));
                }
            }
        }
        Payload::Memory(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn hardware_and_reference_do_the_same(
        dice: u64, events in prop::collection::vec((0u8..64, any::<u64>()), 20..300),
    ) {
        let mut bench = Bench::new(dice);
        for (kind, dice) in events {
            bench.act(kind, dice);
        }
        bench.compare_counters();
    }
}
