//! Drives a Verilated `WriteFlush` between a lane that places payload and memory that is slow.

use std::collections::{HashMap, HashSet, VecDeque};

use hdl_pcie::flush::WriteFlush512;
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::EventKind;
use stellar_wire::hw::dma::{FlushedBatch, WriteTlpHeader};
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::read::{CompletionHeader, FailedRead, ReadTlpHeader};

use super::paths::{Fault, Flaw, Paths};

/// Cycles after which a flush read is given up, in runs in which some are lost.
pub const PATIENCE: u64 = 600;
/// Double words of a page are so many bits.
const PAGE_DW_BIT: u32 = 10;
/// Cycles without progress after which a run counts as hung.
const STUCK: u64 = 20_000;
/// Index of host memory among the targets; device d is target d.
const HOST: u64 = 0;
/// Requests on a path at which no more writes of the host's queues come, as with flow control.
const CREDITS: usize = 64;
/// Commands that may wait for a flush: fewer than 1,024 outcomes do.
const OUTCOMES: usize = 1_000;
/// Commands that the lane may have handed over and that wait in the arbiter before the block.
const AHEAD: usize = 3;
/// Those, and writes of the host's queues that were accepted: two of them in a register of their own.
const ALL_AHEAD: usize = AHEAD + 2;

/// A random run. Probabilities are in eighths.
#[derive(Clone, Debug)]
pub struct Load {
    pub seed: u64,
    pub commands: usize,
    /// Devices beside host memory.
    pub devices: u64,
    /// A path to a target moves.
    pub arrives: u32,
    /// A completion that is there is delivered.
    pub answers: u32,
    /// PCIe accepts a beat, or a request.
    pub ready: u32,
    pub fault: Option<Fault>,
    /// There are drains.
    pub drains: bool,
    /// Writes of the host's queues, with a probability in 64ths.
    pub queues: u32,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            seed: 0,
            commands: 0,
            devices: 1,
            arrives: 4,
            answers: 4,
            ready: 6,
            fault: None,
            drains: false,
            queues: 0,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Command {
    /// The target of each TLP.
    Place {
        targets: Vec<u64>,
        flush: bool,
    },
    Fence,
}

impl Command {
    pub fn to_host(tlps: usize, flush: bool) -> Self {
        let targets = vec![HOST; tlps];
        Self::Place { targets, flush }
    }
}

/// A command whose last TLP has left.
struct Left {
    writes: Vec<usize>,
    /// A flush read of its last address fails.
    bad: bool,
}

/// A command whose first TLP has not left.
#[derive(Clone)]
struct Handed {
    targets: Vec<u64>,
    flush: bool,
    bad: bool,
}

#[derive(Debug, Default)]
pub struct Report {
    pub commands: u64,
    pub flush_reads: u64,
    pub sent: u64,
    pub fences: u64,
    pub drains: u64,
    pub failed_commands: u64,
    /// Those of them whose last address can be read.
    pub innocent: u64,
    /// Addresses of failed flush reads that were reported, and reports that were dropped.
    pub faults: u64,
    pub dropped: u64,
    /// Pulses of the block's outputs.
    pub failed: u64,
    pub timed_out: u64,
    /// Cycles in which flush reads were sent and given up.
    pub sent_at: Vec<u64>,
    pub given_up_at: Vec<u64>,
}

pub struct Bench {
    dut: Dut,
    rng: ChaCha8Rng,
    load: Load,
    paths: Paths,
    waiting: VecDeque<Command>,
    /// Handed over by the lane: TLPs of which the first has not left.
    handed: VecDeque<Handed>,
    /// Writes of the command that is leaving.
    leaving: Vec<usize>,
    /// Commands that have left and are not reported, by whether they need a flush.
    unflushed: VecDeque<Left>,
    /// Commands handed over so far, and writes of each in order, for fences.
    handed_total: usize,
    commands_left: Vec<Vec<usize>>,
    /// Writes of the host's queues: accepted ones that have not left, all, and those that have left.
    queue_waiting: usize,
    queue_total: usize,
    queue_left: Vec<usize>,
    /// The write at the port is one of the host's queues.
    offers_queue: bool,
    /// How many of them it is.
    offered_entries: usize,
    /// Commands, and writes of the host's queues, before the fence.
    fence: Option<(usize, usize)>,
    /// Writes before the drain that is under way.
    drain: Option<Vec<usize>>,
    /// Reads of data without a completion.
    data_reads: u64,
    /// The write at the port has been there before.
    offered: bool,
    /// The target of each address written.
    target_of: HashMap<u64, u64>,
    /// Addresses whose flush reads fail.
    bad: HashSet<u64>,
    /// Address of each flush read on its way, by its tag. All of them.
    asked: HashMap<u64, u64>,
    ever_asked: HashSet<u64>,
    /// Addresses of the flush reads whose completions have said that they failed.
    refused: VecDeque<u64>,
    report: Report,
    now: u64,
}

impl Bench {
    pub fn new(load: &Load) -> Self {
        let mut dut = Dut::new::<WriteFlush512>();
        let patience = match load.fault {
            Some(Fault::Lost { .. } | Fault::Command { lost: true, .. }) => PATIENCE,
            _ => 0,
        };
        dut.set("timeout", patience);
        dut.reset(2);
        let mut bench = Self {
            dut,
            rng: ChaCha8Rng::seed_from_u64(load.seed),
            paths: Paths::new(1 + load.devices as usize, load.fault, patience),
            load: load.clone(),
            waiting: VecDeque::new(),
            handed: VecDeque::new(),
            leaving: vec![],
            unflushed: VecDeque::new(),
            handed_total: 0,
            commands_left: vec![],
            queue_waiting: 0,
            queue_total: 0,
            queue_left: vec![],
            offers_queue: false,
            offered_entries: 0,
            fence: None,
            drain: None,
            data_reads: 0,
            offered: false,
            target_of: HashMap::new(),
            bad: HashSet::new(),
            asked: HashMap::new(),
            ever_asked: HashSet::new(),
            refused: VecDeque::new(),
            report: Report::default(),
            now: 0,
        };
        for _ in 0..load.commands {
            let command = bench.random_command();
            bench.queue(command);
        }
        bench
    }

    fn random_command(&mut self) -> Command {
        if self.rng.random_ratio(1, 16) {
            return Command::Fence;
        }
        let tlps = self.rng.random_range(1..4);
        let devices = self.load.devices;
        let targets = (0..tlps).map(|_| self.rng.random_range(0..=devices));
        let mut targets: Vec<u64> = targets.collect();
        if let Some(Fault::Command { .. }) = self.load.fault {
            targets = vec![targets[0]; tlps];
        }
        Command::Place {
            targets,
            flush: self.rng.random_ratio(3, 4),
        }
    }

    pub fn queue(&mut self, command: Command) {
        self.waiting.push_back(command);
    }

    /// Runs until everything is reported, and some cycles more.
    pub fn run(mut self) -> Report {
        let mut idle = 0;
        let mut after = 0;
        while after < 50 {
            let before = self.owed();
            self.clock();
            idle = if self.owed() == before { idle + 1 } else { 0 };
            assert!(
                idle < STUCK,
                "stuck in cycle {}: {:?}",
                self.now,
                self.report
            );
            after = if self.owed() == 0 { after + 1 } else { 0 };
        }
        self.report
    }

    fn owed(&self) -> usize {
        let fences = usize::from(self.fence.is_some());
        let drains = usize::from(self.drain.is_some());
        let faults = usize::from(self.dut.is("fault_valid"));
        let queued = self.handed.len() + self.queue_waiting;
        self.waiting.len() + queued + self.unflushed.len() + fences + drains + faults
    }

    fn clock(&mut self) {
        self.now += 1;
        self.hand_over();
        self.drain();
        self.drive_write();
        self.drive_reads();
        let ready = self.rng.random_ratio(self.load.ready, 8);
        let flushed_ready = self.rng.random_ratio(self.load.ready, 8);
        self.dut.set("tlp_ready", ready.into());
        self.dut
            .set("placement_flushed_ready", flushed_ready.into());
        let fault_ready = self.rng.random_ratio(self.load.ready, 8);
        self.dut.set("fault_ready", fault_ready.into());
        self.dut.eval();
        self.take_fault(fault_ready);
        self.take_reports(flushed_ready);
        self.take_request();
        self.take_write(ready);
        self.dut.clock();
    }

    /// The lane hands over the next command: its TLPs follow later, in order.
    fn hand_over(&mut self) {
        let (mut placed, mut fence) = (false, false);
        // Writes of the host's queues come as long as there are commands.
        let ahead = self.handed.len() + self.queue_waiting;
        let of_queue = !self.waiting.is_empty() && ahead < ALL_AHEAD - 1;
        let of_queue = of_queue && self.rng.random_ratio(self.load.queues, 64);
        // They would come faster than a slow path moves, and each read would take longer than the one before.
        let of_queue = of_queue && self.paths.waiting(HOST as usize) < CREDITS;
        self.dut.set("queue_accepted", of_queue.into());
        match self.waiting.front() {
            Some(Command::Place { targets, flush })
                if self.handed.len() < AHEAD
                    && ahead < ALL_AHEAD - 1
                    && self.unflushed.len() < OUTCOMES =>
            {
                let bad = match self.load.fault {
                    Some(Fault::Command { one_in, .. }) if *flush => {
                        self.rng.random_ratio(1, one_in)
                    }
                    _ => false,
                };
                self.handed.push_back(Handed {
                    targets: targets.clone(),
                    flush: *flush,
                    bad,
                });
                self.handed_total += 1;
                placed = true;
                self.report.commands += 1;
            }
            Some(Command::Fence) if self.fence.is_none() => {
                self.fence = Some((self.handed_total, self.queue_total));
                fence = true;
            }
            _ => {}
        }
        if placed || fence {
            self.waiting.pop_front();
        }
        self.dut.set("placement_placed", placed.into());
        self.dut.set("placement_fence", fence.into());
        self.queue_waiting += usize::from(of_queue);
        self.queue_total += usize::from(of_queue);
    }

    /// A drain begins. Its writes are those that have left, and one that leaves in this cycle may be among them.
    fn drain(&mut self) {
        let may_begin = self.load.drains && self.drain.is_none();
        let begins = may_begin && self.rng.random_ratio(1, 64);
        self.dut.set("drain", begins.into());
        if begins {
            let left = self.commands_left.iter().flatten();
            let left = left.chain(&self.queue_left).chain(&self.leaving);
            self.drain = Some(left.copied().collect());
        }
    }

    fn drive_write(&mut self) {
        let valid = !self.handed.is_empty() || self.queue_waiting > 0;
        self.dut.set("write_valid", valid.into());
        if self.offered || !valid {
            return;
        }
        self.offered = true;
        self.offers_queue =
            self.queue_waiting > 0 && (self.handed.is_empty() || self.rng.random_ratio(1, 2));
        let (target, ends, flush, bad) = match self.handed.front() {
            Some(command) if !self.offers_queue => {
                let ends = self.leaving.len() + 1 == command.targets.len();
                let target = command.targets[self.leaving.len()];
                (target, ends, command.flush, command.bad && ends)
            }
            _ => (HOST, false, false, false),
        };
        let most = self.queue_waiting.clamp(1, 4);
        self.offered_entries = self.rng.random_range(1..=most);
        let of_one = [1, 4, 8][self.rng.random_range(0..3)];
        let length_dw = match self.offered_entries {
            _ if !self.offers_queue => 1,
            1 => of_one,
            entries => 8 * entries as u64,
        };
        // Each write has a page of its own.
        let address_dw = self.now << PAGE_DW_BIT;
        self.target_of.insert(address_dw, target);
        if bad {
            self.bad.insert(address_dw);
        }
        let at = if target == HOST { 0b00 } else { 0b10_u64 };
        let header = WriteTlpHeader {
            address_dw: address_dw.to_bits(),
            at: at.to_bits(),
            length_dw: length_dw.to_bits(),
            first_be: 15_u64.to_bits(),
            ends,
            flush,
            device: target.to_bits(),
            of_host_queue: self.offers_queue,
            ..WriteTlpHeader::default()
        };
        self.dut.set("write_first", 1);
        self.dut.set("write_last", 1);
        self.dut.set_record("write_header", header);
    }

    fn take_write(&mut self, ready: bool) {
        let valid = self.dut.is("tlp_valid");
        assert_eq!(ready && valid, self.dut.moves("write_valid", "write_ready"));
        let sent = self.dut.is("placement_sent");
        if !(ready && valid) {
            assert!(!sent, "a report without a write");
            return;
        }
        self.offered = false;
        if self.offers_queue {
            assert!(!sent, "a report about a write of a queue");
            self.queue_waiting -= self.offered_entries;
            let write = self.paths.write(HOST as usize);
            let entries = std::iter::repeat_n(write, self.offered_entries);
            self.queue_left.extend(entries);
            return;
        }
        let Handed {
            targets,
            flush,
            bad,
        } = self.handed[0].clone();
        let write = self.paths.write(targets[self.leaving.len()] as usize);
        self.leaving.push(write);
        let ends = self.leaving.len() == targets.len();
        assert_eq!(sent, ends && !flush);
        if !ends {
            return;
        }
        self.handed.pop_front();
        let writes = std::mem::take(&mut self.leaving);
        self.commands_left.push(writes.clone());
        if flush {
            self.unflushed.push_back(Left { writes, bad });
        } else {
            self.report.sent += 1;
        }
    }

    /// Offers a read of data, and the completion that arrives in this cycle.
    fn drive_reads(&mut self) {
        let (arrives, answers) = (self.load.arrives, self.load.answers);
        let completion = self.paths.clock(self.now, arrives, answers, &mut self.rng);
        self.dut
            .set("completion_valid", completion.is_some().into());
        self.dut.set("completion_last", 1);
        if let Some((tag, flaw)) = completion {
            let status = match flaw {
                Some(Flaw::Status(status)) => status,
                _ => 0,
            };
            let header = CompletionHeader {
                tag: tag.to_bits(),
                status: status.to_bits(),
                poisoned: flaw == Some(Flaw::Poisoned),
                ..CompletionHeader::default()
            };
            self.dut.set_record("completion", header);
            let damaged = flaw == Some(Flaw::Damaged);
            self.dut.set("completion_error", damaged.into());
            self.dut.eval();
            if flaw.is_some() && tag >= 192 {
                self.refused.push_back(self.asked[&tag]);
            }
            let of_data = tag < 192;
            assert_eq!(self.dut.is("data_valid"), of_data);
            if of_data {
                assert_eq!(self.dut.words("data"), to_words(header));
                self.data_reads -= 1;
            }
        }
        let wants = self.data_reads < 4 && self.rng.random_ratio(1, 4);
        self.dut.set("read_valid", wants.into());
        let tag = self.now % 192;
        let read = ReadTlpHeader {
            tag: tag.to_bits(),
            length_dw: 16_u64.to_bits(),
            first_be: 15_u64.to_bits(),
            ..ReadTlpHeader::default()
        };
        self.dut.set_record("read", read);
        let ready = self.rng.random_ratio(self.load.ready, 8);
        self.dut.set("request_ready", ready.into());
        self.dut.eval();
        if wants && self.dut.is("read_ready") {
            self.data_reads += 1;
        }
    }

    fn take_request(&mut self) {
        if !self.dut.moves("request_valid", "request_ready") {
            return;
        }
        let words = self.dut.words("request");
        let request = Record::<ReadTlpHeader>::new(&words);
        let tag = request.u64("tag");
        if request.u64("length_dw") == 16 {
            assert!(tag < 192);
            self.paths.read(HOST as usize, tag, false);
            return;
        }
        assert!(tag >= 192, "the tag of a read of data");
        assert_eq!((request.u64("length_dw"), request.u64("first_be")), (1, 0));
        self.report.flush_reads += 1;
        let address_dw = request.u64("address_dw");
        self.asked.insert(tag, 4 * address_dw);
        self.ever_asked.insert(4 * address_dw);
        self.report.sent_at.push(self.now);
        let target = self.target_of[&address_dw];
        assert_eq!(request.u64("at"), if target == HOST { 0b00 } else { 0b10 });
        let bad = self.bad.contains(&address_dw);
        self.paths.read(target as usize, tag, bad);
    }

    /// The report of a flush read that failed has its address. Without completions the read is one that nobody has answered.
    fn take_fault(&mut self, ready: bool) {
        // A report that finds no place is the one of this cycle.
        if self.dut.is("fault_dropped") {
            self.report.dropped += 1;
            self.refused.pop_back();
        }
        if !(ready && self.dut.is("fault_valid")) {
            return;
        }
        self.report.faults += 1;
        let words = self.dut.words("fault");
        let fault = Record::<FailedRead>::new(&words);
        assert_eq!(
            fault.u64("kind"),
            u64::from(EventKind::FlushReadFailed.code())
        );
        let address = fault.u64("address");
        match self.load.fault {
            Some(Fault::Lost { .. } | Fault::Command { lost: true, .. }) => assert!(
                self.ever_asked.contains(&address),
                "{address:#x} was not asked"
            ),
            _ => assert_eq!(Some(address), self.refused.pop_front()),
        }
    }

    fn take_reports(&mut self, flushed_ready: bool) {
        self.report.failed += self.dut.get("failed");
        if self.dut.is("timed_out") {
            self.report.timed_out += 1;
            self.report.given_up_at.push(self.now);
        }
        if flushed_ready && self.dut.is("placement_flushed_valid") {
            let words = self.dut.words("placement_flushed");
            let batch = Record::<FlushedBatch>::new(&words);
            let failed = batch.bool("failed");
            for _ in 0..batch.u64("commands") {
                let left = self.unflushed.pop_front().expect("a command that has left");
                let all = left.writes.iter().all(|&write| self.paths.arrived[write]);
                assert!(
                    failed || all,
                    "a report before the bytes, in cycle {}",
                    self.now
                );
                self.report.failed_commands += u64::from(failed);
                self.report.innocent += u64::from(failed && !left.bad);
            }
        }
        if self.dut.is("drained") {
            let writes = self.drain.take().expect("a drain");
            self.report.drains += 1;
            let all = writes.into_iter().all(|write| self.paths.arrived[write]);
            assert!(
                all || self.load.fault.is_some(),
                "a drain ends before the bytes"
            );
        }
        if self.dut.is("placement_fence_done") {
            let (before, queue_before) = self.fence.take().expect("a fence");
            self.report.fences += 1;
            assert!(
                self.commands_left.len() >= before && self.queue_left.len() >= queue_before,
                "a fence before its writes left"
            );
            let of_queues = &self.queue_left[..queue_before];
            let writes = self.commands_left[..before]
                .iter()
                .flatten()
                .chain(of_queues);
            let all = writes.into_iter().all(|&write| self.paths.arrived[write]);
            assert!(all || self.load.fault.is_some(), "a fence before the bytes");
        }
    }
}
