//! Random histories: hardware and reference execute the same operations, with the same results.

use proptest::prelude::*;
use stellar_transport::requester::{Card, RequestPacket, Requester, RequesterCounters, WindowPool};
use stellar_transport::rx::Tables;
use stellar_transport::spray::PlaneMask;
use stellar_transport::time::Ticks;
use stellar_wire::host::Wqe;
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::pack::Record;
use stellar_wire::hw::requester::TxRequest;
use stellar_wire::rows::{wire_cost, BURST_PACKETS};
use stellar_wire::Opcode;

use crate::core::memory::Entries;
use crate::core::packets::{compare_packet, completion};
use crate::core::peer::InFlight;
use crate::core::rig::{Observed, Rig, Totals, BLOCKS};
use crate::core::setup::{tables, work_request, Kinds, Pair, QPS, RING_LOG2};

type Count = fn(&RequesterCounters) -> u64;

/// Names of the hardware's counters, and the counters of the reference.
const COUNTERS: [(&str, Count); 20] = [
    ("packet", |c| c.packets),
    ("bytes", |c| c.bytes),
    ("retransmission", |c| c.retransmissions),
    ("probe", |c| c.probes),
    ("sack", |c| c.sacks),
    ("sack_out_of_window", |c| c.sacks_out_of_window),
    ("sack_inconsistent", |c| c.sacks_inconsistent),
    ("stale_sack", |c| c.stale_sacks),
    ("ecn_mark", |c| c.ecn_marks),
    ("probe_answer", |c| c.probe_answers),
    ("early_loss", |c| c.early_losses),
    ("timeout", |c| c.timeouts),
    ("nack_trimmed", |c| c.nacks_trimmed),
    ("nack_recoverable", |c| c.nacks_recoverable),
    ("nack_fatal", |c| c.nacks_fatal),
    ("nack_ignored", |c| c.nacks_ignored),
    ("spurious", |c| c.spurious_losses),
    ("ack", |c| c.acks),
    ("nak", |c| c.naks),
    ("ack_ignored", |c| c.acks_ignored),
];

/// State of one history.
pub struct Bench {
    pub rig: Rig,
    pub pairs: Vec<Pair>,
    tables: Tables,
    entries: Entries,
    pub pool: WindowPool,
    /// Transmissions that found no block.
    pub starved: u32,
    pub now: Ticks,
    planes: PlaneMask,
    /// Counts of SACKs that hardware processed before a burst moved the queue pair to the error state. In the reference the failure comes first, so it does
    /// not count them.
    pub counted_before_failure: Totals,
}

impl Bench {
    pub fn new(dice: u64) -> Self {
        let rig = Rig::new(tables());
        Self::of(dice, rig, WindowPool::new(BLOCKS), Kinds::Mixed)
    }

    /// A history of MRC queue pairs that share two blocks.
    pub fn with_two_blocks(dice: u64) -> Self {
        let rig = Rig::with_two_blocks(tables());
        Self::of(dice, rig, WindowPool::new(2), Kinds::Mrc)
    }

    fn of(dice: u64, mut rig: Rig, pool: WindowPool, kinds: Kinds) -> Self {
        let tables = tables();
        rig.read_latency = 2 + (dice >> 24 & 15) as u32;
        let now = Ticks((dice >> 3) as u32);
        let pairs = (0..QPS)
            .map(|number| Pair::new(number, dice.rotate_left(7 * number), now, &mut rig, kinds))
            .collect();
        Self {
            rig,
            pairs,
            tables,
            entries: Entries::default(),
            pool,
            starved: 0,
            now,
            planes: PlaneMask::BOTH,
            counted_before_failure: Totals::default(),
        }
    }

    /// Calls the reference.
    pub fn reference<T>(
        &mut self,
        qp: usize,
        act: impl FnOnce(&mut Requester, &mut Card<'_>) -> T,
    ) -> T {
        let pair = &mut self.pairs[qp];
        let mut card = Card {
            memory: &mut self.entries,
            tables: &self.tables,
            cq: &mut pair.cq,
            pool: &mut self.pool,
            burst: &mut Vec::new(),
        };
        act(&mut pair.reference, &mut card)
    }

    /// Compares all results, after the hardware has finished its background work.
    pub fn compare(&mut self, qp: usize, observed: &mut Observed, was_failed: bool) {
        self.rig.settle();
        let pair = &mut self.pairs[qp];
        pair.cqes.append(&mut observed.cqes);
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
        assert_eq!(observed.failed, failed, "failure");
        let deadline = pair.reference.deadline().map(|at| at.0);
        assert_eq!(self.rig.deadlines[qp], deadline, "deadline");
    }

    fn post(&mut self, qp: usize, dice: u64) {
        for i in 0..dice % 4 + 1 {
            let slot = self.pairs[qp].producer;
            let mut bytes = work_request(dice.rotate_left(11 * i as u32 + 3), slot).to_long_bytes();
            match dice.rotate_right(9 * i as u32) % 61 {
                0 => bytes[0] = 0x77,
                1 => bytes[2] ^= 0x10,
                _ => {}
            }
            if !self.place(qp, bytes) {
                break;
            }
        }
        self.ring(qp, dice);
    }

    /// Writes an entry to the send queue, if there is space. Returns whether there was.
    pub fn place(&mut self, qp: usize, entry: [u8; Wqe::LONG_LEN]) -> bool {
        let pair = &mut self.pairs[qp];
        // An entry that was not fetched must not be overwritten. The hardware fetches one entry earlier than the reference, but may evaluate two later
        // beside a burst: a NOP, and the message behind it. Until then it has no space for more.
        let fetched = pair.producer.wrapping_sub(pair.rung);
        let pending = pair.reference.messages_mut().queue().pending() + fetched;
        if u32::from(pending) + 3 > 1 << RING_LOG2 {
            return false;
        }
        let lines = entry[..pair.ring.entry.bytes()].as_chunks().0;
        let first = pair.ring.address_of(pair.producer);
        for (&line, address) in lines.iter().zip((first..).step_by(Wqe::LEN)) {
            self.entries.0.insert(address, line);
            self.rig.entries.0.insert(address, line);
        }
        pair.producer = pair.producer.wrapping_add(1);
        true
    }

    /// Rings the doorbell. Some producer indices are refused.
    pub fn ring(&mut self, qp: usize, dice: u64) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let producer = self.producer(qp, dice);
        let carries = producer == self.pairs[qp].producer && dice >> 45 & 1 == 1;
        let entry = carries.then(|| self.last_entry(qp)).flatten();
        let mut observed = self.rig.doorbell(qp as u32, producer, entry);
        self.compare_rung(qp, producer, &observed);
        self.compare(qp, &mut observed, was_failed);
    }

    /// Returns the first line of the entry before the producer index.
    fn last_entry(&self, qp: usize) -> Option<[u8; Wqe::LEN]> {
        let pair = &self.pairs[qp];
        let address = pair.ring.address_of(pair.producer.wrapping_sub(1));
        self.entries.0.get(&address).copied()
    }

    /// Returns the producer index of the next doorbell.
    pub fn producer(&self, qp: usize, dice: u64) -> u16 {
        match dice >> 50 & 31 {
            0 => self.pairs[qp].producer.wrapping_add(60),
            _ => self.pairs[qp].producer,
        }
    }

    /// Rings the reference's doorbell, and compares whether it is accepted.
    pub fn compare_rung(&mut self, qp: usize, producer: u16, observed: &Observed) {
        let taken = self.reference(qp, |reference, card| {
            let taken = reference
                .messages_mut()
                .queue_mut()
                .ring_doorbell(producer)
                .is_ok();
            if taken && reference.error().is_some() {
                reference.flush(card);
            }
            taken
        });
        if taken {
            self.pairs[qp].rung = producer;
        }
        assert_eq!(observed.refused, !taken, "producer index {producer}");
    }

    pub fn transmit(&mut self, qp: usize, port: u8) -> bool {
        let was_failed = self.pairs[qp].reference.error().is_some();
        if !self.planes.contains(port) {
            return false;
        }
        let mut observed = Observed::default();
        // After a NOP the next entry may not have arrived. Its arrival wakes the queue pair up.
        for _ in 0..40 {
            let again = self.rig.transmit(qp as u32, port, self.now.0);
            assert!(again.rotated != again.deactivated, "rotated or deactivated");
            assert!(again.rotated || again.tx.is_empty(), "a packet");
            observed.cqes.extend(again.cqes);
            observed.failed.extend(again.failed);
            observed.starved.extend(again.starved);
            (observed.tx, observed.costs) = (again.tx, again.costs);
            observed.faults = again.faults;
            let arrived = self.rig.settle() || again.arrived;
            observed.cqes.extend(self.rig.take_cqes());
            // If a payload cannot be read, a burst may have no packet that leaves.
            if again.rotated || !arrived {
                break;
            }
        }
        self.compare_cost(&observed);
        let sent = self.compare_sent(qp, port, &observed);
        self.compare(qp, &mut observed, was_failed);
        sent
    }

    /// The tenant pays for all packets of the burst, those behind a payload that could not be located too.
    fn compare_cost(&mut self, observed: &Observed) {
        let length = |words: &Vec<u32>| Record::<TxRequest>::new(words).u64("length") as u32;
        let sent = observed
            .tx
            .iter()
            .map(|words| wire_cost(length(words), 1))
            .sum::<u32>();
        let costs: u64 = observed.costs.iter().sum();
        if observed.faults == 0 {
            assert_eq!(
                costs,
                u64::from(sent),
                "cost of {} packets",
                observed.tx.len()
            );
        } else {
            assert!(observed.costs.is_empty() || costs >= u64::from(sent));
        }
    }

    /// Returns the packets that the reference would send now, and whether the queue pair would fail.
    pub fn foresee(&mut self, qp: usize, port: u8) -> (Vec<RequestPacket>, bool) {
        let now = self.now;
        let pair = &self.pairs[qp];
        let before = (pair.reference.clone(), pair.cq.clone(), self.pool.clone());
        let packets = self.reference(qp, |reference, card| {
            reference.transmit_burst(port, now, BURST_PACKETS, card)
        });
        let pair = &mut self.pairs[qp];
        let fails = pair.reference.error().is_some();
        (pair.reference, pair.cq, self.pool) = before;
        (packets, fails)
    }

    /// Lets the reference transmit, and compares the packets. Returns whether there are any.
    pub fn compare_sent(&mut self, qp: usize, port: u8, observed: &Observed) -> bool {
        let now = self.now;
        // Nobody waits yet for a block.
        self.pool = WindowPool::new(self.pool.free());
        let packets = self.reference(qp, |reference, card| {
            reference.transmit_burst(port, now, BURST_PACKETS, card)
        });
        assert_eq!(packets.len(), observed.tx.len(), "packets of {packets:?}");
        let starves = self.pool.is_waiting(qp as u32);
        assert_eq!(observed.starved.contains(&(qp as u32)), starves, "a block");
        self.starved += u32::from(starves);
        let pair = &mut self.pairs[qp];
        for (packet, words) in packets.iter().zip(&observed.tx) {
            compare_packet(packet, words, qp as u32, port);
            pair.flying.push(InFlight::of(packet));
            // The position in the messages does not follow from a retransmission.
            if !packet.retransmission {
                pair.in_message = matches!(
                    packet.opcode,
                    Opcode::MrcWriteFirst | Opcode::MrcWriteMiddle
                );
            }
        }
        !packets.is_empty()
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
        let mut observed = self.rig.timer(qp as u32, now.0);
        self.reference(qp, |reference, card| reference.on_timer(now, card));
        self.compare(qp, &mut observed, was_failed);
    }

    fn fault(&mut self, qp: usize, dice: u64) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let slot = self.pairs[qp].rung.wrapping_sub((dice % 8) as u16);
        if was_failed || self.pairs[qp].reference.messages_mut().get(slot).is_none() {
            return;
        }
        let mut observed = self.rig.fault(qp as u32, slot);
        self.reference(qp, |reference, card| reference.local_fault(slot, card));
        self.compare(qp, &mut observed, was_failed);
    }

    pub fn flush(&mut self, qp: usize) {
        let was_failed = self.pairs[qp].reference.error().is_some();
        let mut observed = self.rig.flush(qp as u32);
        self.reference(qp, |reference, card| reference.flush(card));
        self.compare(qp, &mut observed, was_failed);
    }

    fn plane(&mut self, dice: u64) {
        self.set_planes(match dice % 4 {
            0 => PlaneMask::only(0),
            1 => PlaneMask::only(1),
            _ => PlaneMask::BOTH,
        });
    }

    pub fn set_planes(&mut self, planes: PlaneMask) {
        self.planes = planes;
        let up = |plane| self.planes.contains(plane);
        self.rig
            .dut
            .set("plane_up", u64::from(up(0)) | u64::from(up(1)) << 1);
        for pair in &mut self.pairs {
            for plane in 0..2 {
                pair.reference.set_plane(plane, self.planes.contains(plane));
            }
        }
    }

    /// Executes one event of a history.
    pub fn act(&mut self, kind: u8, dice: u64) {
        // Only what has departed is answered.
        if (24..49).contains(&kind) || dice >> 33 & 1 == 1 {
            self.depart();
        }
        let qp = ((dice >> 62) as usize).min(QPS as usize - 1);
        let over_rc = matches!(self.pairs[qp].reference, Requester::Rc(_));
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
            24..44 if over_rc => self.deliver_rc(qp, dice),
            24..44 => self.deliver_mrc(qp, dice),
            44..47 if over_rc => self.refuse_rc(qp, dice),
            44..47 => self.refuse_mrc(qp, dice),
            47..49 if over_rc => self.garble_ack(qp, dice),
            47..49 => self.garble_sack(qp, dice),
            49..55 => self.now = self.now.plus(Ticks((dice & 0xfff) as u32)),
            55..58 => self.timer(qp),
            58 if dice & 7 == 0 => self.fault(qp, dice >> 3),
            59 if dice & 31 == 0 => self.flush(qp),
            60 => self.plane(dice),
            61 => self.mistake_transport(qp, dice),
            62 => self.use_paths(qp, dice),
            _ => self.now = self.now.plus(Ticks((dice & 0x3f) as u32)),
        }
    }

    /// Returns the counters of the reference, added up over all queue pairs.
    pub fn reference_totals(&self) -> Totals {
        let counters = || self.pairs.iter().map(|pair| pair.reference.counters());
        let sum = |count: fn(&RequesterCounters) -> u64| counters().map(count).sum();
        let totals = COUNTERS.map(|(name, count)| (name, sum(count)));
        Totals(totals.into_iter().collect())
    }

    /// Compares the counters.
    pub fn compare_counters(&self) {
        let wanted = self.reference_totals();
        for (name, _) in COUNTERS {
            let wanted = wanted.of(name) + self.counted_before_failure.of(name);
            assert_eq!(self.rig.totals.of(name), wanted, "{name}");
        }
        for (qp, pair) in self.pairs.iter().enumerate() {
            // A SACK that hardware processed before a failure counts its marks and losses, too.
            let Requester::Mrc(mrc) = &pair.reference else {
                continue;
            };
            if mrc.error().is_none() {
                for (index, &wanted) in mrc.path_counts().iter().enumerate() {
                    let counted = self.rig.paths.of(qp, index);
                    assert_eq!(counted, wanted, "queue pair {qp}, path {index}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn hardware_and_reference_do_the_same(
        dice: u64, events in prop::collection::vec((0u8..64, any::<u64>()), 20..300),
    ) {
        let mut bench = Bench::new(dice);
        bench.rig.holds_departures = true;
        for (kind, dice) in events {
            bench.act(kind, dice);
        }
        bench.compare_counters();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn hardware_and_reference_do_the_same_when_their_pool_runs_dry(
        dice: u64, events in prop::collection::vec((0u8..64, any::<u64>()), 100..300),
    ) {
        let mut bench = Bench::with_two_blocks(dice);
        bench.rig.holds_departures = true;
        for (kind, dice) in events {
            bench.act(kind, dice);
        }
        bench.compare_counters();
    }
}
