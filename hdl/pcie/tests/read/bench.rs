//! Drives a `DmaRead` model: commands in, requests to the completer, completions back, payload out. Everything is checked when it leaves.

use std::collections::{BTreeMap, VecDeque};

use hdl_pcie::read::records::ReadEvents;
use hdl_pcie::read::{DmaRead1024, DmaRead512};
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::read::{ReadBeat, ReadCommand};

use crate::read::completer::{answer, Fault, Outcome, Packet};
use crate::read::completions::{Outstanding, BEFORE_REUSE};
use crate::read::load::{Load, Report};
use crate::read::reference::{command, header, payload, requests, Request, Segment};

/// Bytes that the engine with 1,024 bits (`wide`), or with 512 bits, has space for.
pub const fn space(wide: bool) -> usize {
    if wide {
        256 << 10
    } else {
        128 << 10
    }
}

/// Commands that the engine has numbers for.
pub const fn numbers(wide: bool) -> usize {
    if wide {
        256
    } else {
        128
    }
}

/// Cycles from reset to the first command.
const SWEEP: u64 = 256;

struct Expected {
    user: u32,
    data: Vec<u8>,
    failed: bool,
}

pub struct Bench {
    pub(crate) dut: Dut,
    pub(crate) bytes: usize,
    pub(crate) load: Load,
    pub(crate) rng: ChaCha8Rng,
    commands: VecDeque<ReadCommand>,
    /// Expected requests, and the number of their command.
    requests: VecDeque<(Request, usize)>,
    expected: VecDeque<Expected>,
    queued: usize,
    returned: usize,
    received: Vec<u8>,
    pub(crate) outstanding: BTreeMap<u8, Outstanding>,
    /// Tags in the order of their requests.
    pub(crate) order: VecDeque<u8>,
    /// Tags that became free, last one last.
    pub(crate) freed: Vec<u8>,
    pub(crate) sending: Option<(Packet, usize)>,
    pub(crate) unexpected: u64,
    pub(crate) bad: u64,
    pub(crate) timeouts: u64,
    /// What the engine has reported: unexpected, bad or damaged, timed out.
    pub counted: [u64; 3],
    pub clock: u64,
    pub report: Report,
}

fn dut(wide: bool) -> Dut {
    if wide {
        Dut::new::<DmaRead1024>()
    } else {
        Dut::new::<DmaRead512>()
    }
}

impl Bench {
    pub fn new(wide: bool, load: Load) -> Self {
        let mut bench = Self {
            dut: dut(wide),
            bytes: if wide { 128 } else { 64 },
            rng: ChaCha8Rng::seed_from_u64(load.seed),
            commands: VecDeque::new(),
            requests: VecDeque::new(),
            expected: VecDeque::new(),
            queued: 0,
            returned: 0,
            received: vec![],
            outstanding: BTreeMap::new(),
            order: VecDeque::new(),
            freed: vec![],
            sending: None,
            unexpected: 0,
            bad: 0,
            timeouts: 0,
            counted: [0; 3],
            clock: 0,
            report: Report::default(),
            load,
        };
        bench.reset();
        bench
    }

    /// Resets, and waits until tags are available.
    pub fn reset(&mut self) {
        self.pulse_reset();
        for _ in 0..SWEEP + 4 {
            self.dut.clock();
        }
    }

    /// Runs one cycle of reset. Commands may follow at once, completions after the sweep.
    pub fn pulse_reset(&mut self) {
        self.dut.set("reset", 1);
        self.dut.set("command_valid", 0);
        self.dut.set("completion_valid", 0);
        self.dut.clock();
        self.dut.set("reset", 0);
        self.commands.clear();
        self.requests.clear();
        self.expected.clear();
        self.outstanding.clear();
        self.order.clear();
        self.freed.clear();
        self.received.clear();
        self.sending = None;
        (self.unexpected, self.bad, self.timeouts) = (0, 0, 0);
        self.counted = [0; 3];
        (self.queued, self.returned) = (0, 0);
    }

    pub fn random(&mut self) -> &mut ChaCha8Rng {
        &mut self.rng
    }

    pub fn set_out_ready(&mut self, eighths: u32) {
        self.load.out = eighths;
    }

    /// Queues a command and its expected result.
    pub fn read(&mut self, segments: &[Segment]) {
        let user = self.rng.random();
        let mrrs = 128 << self.load.mrrs_code.min(5);
        let asks = requests(segments, mrrs);
        self.requests
            .extend(asks.into_iter().map(|r| (r, self.queued)));
        self.queue(command(segments, user), payload(segments), false);
    }

    /// Queues a command without requests.
    pub fn read_nothing(&mut self, command: ReadCommand, failed: bool) {
        self.queue(command, vec![], failed);
    }

    fn queue(&mut self, command: ReadCommand, data: Vec<u8>, failed: bool) {
        let user = command.user.to_u64() as u32;
        self.commands.push_back(command);
        self.expected.push_back(Expected { user, data, failed });
        self.queued += 1;
    }

    /// Runs until everything has arrived or has timed out, and checks the counters.
    pub fn finish(&mut self) -> &Report {
        let (mut idle, mut seen) = (0, 0);
        while !self.is_done() {
            self.step();
            let progress = self.report.out_beats.len() + self.report.completion_beats.len();
            idle = if progress == seen { idle + 1 } else { 0 };
            seen = progress;
            assert!(
                idle < 4_000 + 2 * self.load.timeout,
                "hung in clock {}: {} commands not taken, {} requests to come, {} commands to return, {} tags out",
                self.clock,
                self.commands.len(),
                self.requests.len(),
                self.expected.len(),
                self.outstanding.len()
            );
        }
        // No further output may follow.
        for _ in 0..60 {
            self.step();
        }
        assert!(self.requests.is_empty(), "requests are missing");
        let counted = self.counted;
        let wanted = [self.unexpected, self.bad, self.timeouts];
        assert!(
            self.load.races || counted == wanted,
            "unexpected, bad, timed out: counted {counted:?}, were {wanted:?}"
        );
        &self.report
    }

    fn is_done(&self) -> bool {
        let silent = self.outstanding.values().all(|o| o.packets.is_empty());
        self.expected.is_empty() && silent && self.sending.is_none()
    }

    /// Runs one cycle.
    pub fn step(&mut self) {
        let chance = |rng: &mut ChaCha8Rng, eighths| rng.random_ratio(eighths, 8);
        let (mrrs, timeout) = (self.load.mrrs_code, self.load.timeout);
        self.dut.set("mrrs_code", mrrs);
        self.dut.set("timeout", timeout);
        let offered = chance(&mut self.rng, self.load.command);
        let offered = self.commands.front().copied().filter(|_| offered);
        self.dut.set("command_valid", offered.is_some().into());
        if let Some(command) = offered {
            self.dut.set_record("command", command);
        }
        let takes_request = chance(&mut self.rng, self.load.request);
        self.dut.set("request_ready", takes_request.into());
        let takes_beat = chance(&mut self.rng, self.load.out);
        self.dut.set("out_ready", takes_beat.into());
        let completes = chance(&mut self.rng, self.load.completion) && self.drive_completion();
        self.dut.set("completion_valid", completes.into());
        self.dut.eval();

        let words = self.dut.words("events");
        let events = Record::<ReadEvents>::new(&words);
        let of = |names: &[&str]| names.iter().map(|name| events.u64(name)).sum::<u64>();
        self.counted[0] += of(&["unexpected"]);
        self.counted[1] += of(&["bad", "damaged"]);
        self.counted[2] += of(&["timed_out"]);
        if offered.is_some() && self.dut.get("command_ready") == 1 {
            self.commands.pop_front();
            self.report.commands.push(self.clock);
        }
        if takes_request && self.dut.get("request_valid") == 1 {
            self.take_request();
        }
        if takes_beat && self.dut.get("out_valid") == 1 {
            self.take_beat();
        }
        self.dut.clock();
        self.clock += 1;
    }

    fn take_request(&mut self) {
        self.report.requests.push(self.clock);
        let (request, command) = self
            .requests
            .pop_front()
            .expect("a request that no command asked for");
        let words = self.dut.words("request");
        let tag = Record::<stellar_wire::hw::read::ReadTlpHeader>::new(&words).u64("tag") as u8;
        assert_eq!(words, to_words(header(&request, tag)), "{request:?}");
        let in_use = |o: &Outstanding| self.clock + BEFORE_REUSE < o.reused_from;
        assert!(
            !self.outstanding.get(&tag).is_some_and(in_use),
            "tag {tag} is in use"
        );
        let fault = (!self.load.faults.is_empty() && self.rng.random_ratio(1, self.load.one_in))
            .then(|| self.load.faults[self.rng.random_range(0..self.load.faults.len())]);
        let packets = answer(
            &request,
            tag,
            self.load.cut,
            fault,
            self.bytes,
            &mut self.rng,
        );
        if packets.iter().any(|p| p.outcome != Outcome::Good) || packets.is_empty() {
            self.expected[command - self.returned].failed = true;
        }
        let timeout = self.load.timeout;
        let unanswered = matches!(fault, Some(Fault::Late | Fault::Never));
        self.timeouts += u64::from(unanswered);
        let (least, most) = self.load.latency;
        let latency = self.rng.random_range(least..=most);
        self.order.push_back(tag);
        self.outstanding.insert(
            tag,
            Outstanding {
                packets,
                ready_at: match fault {
                    Some(Fault::Late) => self.clock + timeout + timeout / 2,
                    _ => self.clock + latency,
                },
                reused_from: match timeout {
                    0 => u64::MAX,
                    _ => self.clock + 2 * timeout,
                },
            },
        );
    }

    fn take_beat(&mut self) {
        self.report.out_beats.push(self.clock);
        let words = self.dut.words("out_beat");
        let beat = Record::<ReadBeat>::new(&words);
        let lanes: Vec<u8> = self
            .dut
            .words("out_data")
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        let expected = self
            .expected
            .front_mut()
            .expect("payload that no command asked for");
        if self.load.races {
            expected.failed |= beat.bool("error") && self.received.is_empty();
        }
        let expected = &*expected;
        assert_eq!(
            beat.u64("user"),
            u64::from(expected.user),
            "order of commands"
        );
        assert_eq!(beat.bool("error"), expected.failed);
        let bytes = beat.u64("bytes") as usize;
        assert!(
            lanes[bytes..].iter().all(|b| *b == 0),
            "lanes without a valid byte are zero"
        );
        let wanted: &[u8] = if expected.failed { &[] } else { &expected.data };
        let left = &wanted[self.received.len()..];
        assert_eq!(bytes, left.len().min(self.bytes));
        assert_eq!(
            lanes[..bytes],
            left[..bytes],
            "after {} bytes",
            self.received.len()
        );
        let last = bytes == left.len();
        assert_eq!(beat.bool("last"), last);
        self.received.extend(&lanes[..bytes]);
        if last {
            self.received.clear();
            self.expected.pop_front();
            self.returned += 1;
        }
    }
}
