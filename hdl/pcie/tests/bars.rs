//! Requests of the host through the completer, compared with the descriptor codecs and with memory behind each BAR.

use std::collections::{HashMap, VecDeque};

use hdl_pcie::bars::answer_beats::AnswerBeats512;
use hdl_pcie::bars::request_executor::RequestExecutor;
use hdl_pcie::bars::request_words::RequestWords512;
use hdl_pcie::bars::{Completer1024, Completer512};
use hdl_testkit::equivalence::Random;
use hdl_testkit::{equivalence, library, tools, Dut};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use sim_verilated::{Model, PortId};
use stellar_wire::hw::completer::{
    BarAccess, CcDescriptor, CompleterAnswer, CompleterWork, CqDescriptor,
};
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::pcie::descriptor::{CompleterCompletion, CompleterRequest, RequestType};
use stellar_wire::pcie::{AddressType, Attributes, CompletionStatus};
use stellar_wire::Header;

/// A BAR that cannot be read.
const WRITE_ONLY: u8 = 2;
/// Where the BARs lie on the bus.
const BASE: u64 = 0x38_0000_0000;
const APERTURE: u8 = 16;

/// Bytes by BAR and offset; those that were never written are zero.
type Memory = HashMap<(u8, u64), u8>;

/// A request, as AMD's block passes it on.
#[derive(Clone, Debug)]
struct Request {
    descriptor: CompleterRequest,
    first_be: u8,
    last_be: u8,
    payload: Vec<u8>,
    damaged: bool,
}

impl Request {
    /// Offset in the BAR.
    fn offset(&self) -> u64 {
        self.descriptor.address - BASE
    }

    /// Whether byte `at` of the double words is enabled.
    fn enables(&self, at: usize) -> bool {
        let count = usize::from(self.descriptor.dword_count);
        let enables = match at / 4 {
            0 => self.first_be,
            dword if dword + 1 == count => self.last_be,
            _ => 0xf,
        };
        enables >> (at % 4) & 1 == 1
    }

    fn enabled(&self) -> Vec<usize> {
        let bytes = 4 * usize::from(self.descriptor.dword_count);
        (0..bytes).filter(|&at| self.enables(at)).collect()
    }
}

/// Byte enables as the PCIe base specification, section 2.2.5, allows them: of one double word any, of two any at the ends, of more without a gap.
fn byte_enables(rng: &mut StdRng, dwords: usize) -> (u8, u8) {
    match dwords {
        1 => (rng.random_range(0..16), 0),
        2 => (rng.random_range(1..16), rng.random_range(1..16)),
        _ => (
            0xf << rng.random_range(0..4) & 0xf,
            0xf >> rng.random_range(0..4),
        ),
    }
}

fn request(rng: &mut StdRng, tag: u8) -> Request {
    let kinds = [
        RequestType::MemWrite,
        RequestType::MemWrite,
        RequestType::MemRead,
        RequestType::MemRead,
        RequestType::IoRead,
        RequestType::IoWrite,
        RequestType::FetchAdd,
    ];
    let request_type = kinds[rng.random_range(0..kinds.len())];
    let dwords = match request_type {
        RequestType::IoRead | RequestType::IoWrite => 1,
        RequestType::FetchAdd => 2,
        _ if rng.random_ratio(1, 2) => rng.random_range(1..=4),
        _ => rng.random_range(1..=90),
    };
    let (first_be, last_be) = byte_enables(rng, dwords);
    let has_payload = !matches!(request_type, RequestType::MemRead | RequestType::IoRead);
    let count = if has_payload { 4 * dwords } else { 0 };
    Request {
        descriptor: CompleterRequest {
            address_type: AddressType::Untranslated,
            address: BASE + 4 * rng.random_range(0..64),
            dword_count: dwords as u16,
            request_type,
            requester: rng.random(),
            tag,
            target_function: rng.random_range(0..4),
            bar_id: [0, WRITE_ONLY, 4][rng.random_range(0..3)],
            bar_aperture: APERTURE,
            traffic_class: rng.random_range(0..8),
            attributes: Attributes::from_bits(rng.random_range(0..8)),
        },
        first_be,
        last_be,
        payload: (0..count).map(|_| rng.random()).collect(),
        damaged: request_type == RequestType::MemWrite && rng.random_ratio(1, 12),
    }
}

/// What the host receives for a request, in order: descriptor, and everything behind it.
type Answer = (CompleterCompletion, Vec<u8>);

struct Bench {
    model: Model,
    rng: StdRng,
    /// Bytes of a beat, and the lowest bits of `last_be` and `discontinue` in `tuser`.
    bytes: usize,
    last_be: usize,
    discontinue: usize,
    memory: Memory,
    answers: Vec<Answer>,
    stream: Vec<u8>,
    /// Words on their way from a BAR, with the cycles that are left.
    words: VecDeque<(u32, Option<u64>)>,
    /// Accesses and beats of completions so far.
    moved: usize,
    damaged: usize,
    refused: usize,
}

impl Bench {
    fn new(wide: bool, seed: u64) -> Self {
        let (library, bytes, last_be, discontinue) = if wide {
            (library::<Completer1024>(), 128, 16, 196)
        } else {
            (library::<Completer512>(), 64, 8, 96)
        };
        let mut bench = Self {
            model: library.instantiate(),
            rng: StdRng::seed_from_u64(seed),
            bytes,
            last_be,
            discontinue,
            memory: Memory::new(),
            answers: vec![],
            stream: vec![],
            words: VecDeque::new(),
            moved: 0,
            damaged: 0,
            refused: 0,
        };
        bench.set("reset", 1);
        bench.model.clock(bench.port("clock"));
        bench.set("reset", 0);
        bench
    }

    fn port(&self, name: &str) -> PortId {
        self.model.port(name).expect("a port of the completer")
    }

    fn set(&mut self, name: &str, value: u64) {
        let port = self.port(name);
        self.model.set_u64(port, value);
    }

    fn get(&self, name: &str) -> u64 {
        self.model.get_u64(self.port(name))
    }

    /// Beats of a request, each with whether it is the last one.
    fn beats(&self, request: &Request) -> VecDeque<(Request, Vec<u8>, bool)> {
        let mut stream = vec![];
        request.descriptor.emit(&mut stream);
        stream.extend(&request.payload);
        let count = stream.len().div_ceil(self.bytes);
        let chunks = stream.chunks(self.bytes).enumerate();
        chunks
            .map(|(n, chunk)| (request.clone(), chunk.to_vec(), n + 1 == count))
            .collect()
    }

    fn offer(&mut self, (request, beat, last): &(Request, Vec<u8>, bool)) {
        let mut lanes = beat.clone();
        lanes.resize(self.bytes, 0xa5);
        let words: Vec<u32> = lanes
            .chunks(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        let data = self.port("cq_tdata");
        self.model.set(data, &words);
        self.set("cq_tkeep", u64::MAX >> (64 - beat.len() / 4));
        self.set("cq_tlast", (*last).into());
        let mut user = vec![0u32; 15];
        user.truncate(if self.bytes == 128 { 15 } else { 6 });
        user[0] = u32::from(request.first_be) | u32::from(request.last_be) << self.last_be;
        if request.damaged {
            user[self.discontinue / 32] |= 1 << (self.discontinue % 32);
        }
        let port = self.port("cq_tuser");
        self.model.set(port, &user);
    }

    /// One cycle. Returns whether the beat on offer was taken.
    fn cycle(&mut self, offered: Option<&(Request, Vec<u8>, bool)>, stalls: u32) -> bool {
        self.set("cq_tvalid", offered.is_some().into());
        if let Some(beat) = offered {
            self.offer(beat);
        }
        let access_ready = self.rng.random_range(0..8) >= stalls;
        let cc_ready = self.rng.random_range(0..8) >= stalls;
        self.set("access_ready", access_ready.into());
        self.set("cc_tready", cc_ready.into());
        let word = match self.words.front_mut() {
            Some((0, word)) => Some(*word),
            Some((wait, _)) => {
                *wait -= 1;
                None
            }
            None => None,
        };
        self.set("word_valid", word.is_some().into());
        if let Some(word) = word {
            self.words.pop_front();
            self.set("word_data", word.unwrap_or(0x5555));
            self.set("word_unsupported", word.is_none().into());
        }
        self.model.eval();
        let taken = offered.is_some() && self.get("cq_tready") == 1;
        if access_ready && self.get("access_valid") == 1 {
            self.access();
            self.moved += 1;
        }
        if cc_ready && self.get("cc_tvalid") == 1 {
            self.completion_beat();
            self.moved += 1;
        }
        self.damaged += self.get("damaged") as usize;
        self.refused += self.get("refused") as usize;
        self.model.clock(self.port("clock"));
        taken
    }

    fn access(&mut self) {
        let words = self.model.get_words(self.port("access")).to_vec();
        let access = Record::<BarAccess>::new(&words);
        let (bar, address) = (access.u64("bar") as u8, access.u64("address") & 0xffff);
        assert_eq!(address % 8, 0);
        if access.bool("write") {
            let data = access.u64("data").to_le_bytes();
            for (lane, byte) in (0..8).zip(data) {
                if access.u64("enable") >> lane & 1 == 1 {
                    self.memory.insert((bar, address + lane), byte);
                }
            }
            return;
        }
        let read = |lane| {
            self.memory
                .get(&(bar, address + lane))
                .copied()
                .unwrap_or(0)
        };
        let bytes: Vec<u8> = (0..8).map(read).collect();
        let word = u64::from_le_bytes(bytes.try_into().unwrap());
        let wait = self.rng.random_range(0..6);
        self.words
            .push_back((wait, (bar != WRITE_ONLY).then_some(word)));
    }

    fn completion_beat(&mut self) {
        let keep = self.get("cc_tkeep");
        let count = keep.count_ones() as usize;
        assert_eq!(keep, u64::MAX >> (64 - count), "gaps in tkeep");
        let words = self.model.get_words(self.port("cc_tdata")).to_vec();
        self.stream
            .extend(words[..count].iter().flat_map(|w| w.to_le_bytes()));
        if self.get("cc_tlast") == 1 {
            let (descriptor, rest) =
                CompleterCompletion::parse(&self.stream).expect("a descriptor");
            self.answers.push((descriptor, rest.to_vec()));
            self.stream.clear();
        } else {
            assert_eq!(count, self.bytes / 4, "a beat that is not the last is full");
        }
    }

    fn run(&mut self, requests: &[Request], stalls: u32) {
        for request in requests {
            let mut beats = self.beats(request);
            let mut waits = 0;
            while let Some(beat) = beats.front().cloned() {
                let pauses = self.rng.random_range(0..8) < stalls;
                if self.cycle((!pauses).then_some(&beat), stalls) {
                    beats.pop_front();
                }
                waits += 1;
                assert!(waits < 20_000, "the completer takes no beat of {request:?}");
            }
        }
        // An access or a completion leaves at least every few cycles until everything is done.
        let mut quiet = 0;
        while quiet < 200 {
            let before = self.moved;
            self.cycle(None, stalls);
            quiet = if self.moved == before { quiet + 1 } else { 0 };
        }
    }
}

/// Checks the completions of `request`, and removes them from the front of `answers`.
fn check_answers(request: &Request, memory: &Memory, answers: &mut VecDeque<Answer>) {
    let d = &request.descriptor;
    let reads = d.request_type == RequestType::MemRead;
    let enabled = request.enabled();
    let (begin, end) = match (enabled.first(), enabled.last()) {
        (Some(&first), Some(&last)) => (first, last + 1),
        _ => (0, 1),
    };
    let mut at = begin;
    loop {
        let (c, rest) = answers.pop_front().expect("a completion");
        assert_eq!(
            (c.requester, c.tag, c.attributes),
            (d.requester, d.tag, d.attributes)
        );
        assert_eq!(
            (c.completer, c.traffic_class),
            (d.target_function.into(), d.traffic_class)
        );
        let lower = (request.offset() as usize + at) % 128;
        if !reads || d.bar_id == WRITE_ONLY {
            assert_eq!(
                (c.status, c.dword_count),
                (CompletionStatus::UnsupportedRequest, 0)
            );
            let count = if reads { end - begin } else { 4 };
            assert_eq!(usize::from(c.byte_count), count);
            assert_eq!(usize::from(c.lower_address), if reads { lower } else { 0 });
            let (enables, description) = rest.split_at(4);
            assert_eq!(enables, [request.first_be | request.last_be << 4, 0, 0, 0]);
            assert_eq!(CompleterRequest::parse(description).unwrap(), (*d, &[][..]));
            return;
        }
        assert_eq!(c.status, CompletionStatus::Successful);
        assert_eq!(rest.len(), 4 * usize::from(c.dword_count));
        assert_eq!(
            (usize::from(c.byte_count), usize::from(c.lower_address)),
            (end - at, lower)
        );
        let from = at / 4 * 4;
        for (byte, value) in (from..).zip(&rest) {
            if request.enables(byte) {
                let key = (d.bar_id, request.offset() + byte as u64);
                assert_eq!(
                    *value,
                    memory.get(&key).copied().unwrap_or(0),
                    "byte {byte} of {request:?}"
                );
            }
        }
        at = from + rest.len();
        if at >= end {
            return;
        }
        assert_eq!(
            (request.offset() as usize + at) % 128,
            0,
            "a completion ends at no boundary"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_is_executed_in_order_and_answered(wide: bool, seed: u64, count in 1..60usize, stalls in 0..7u32) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let requests: Vec<Request> = (0..count).map(|n| request(rng, n as u8)).collect();
        let mut bench = Bench::new(wide, seed);
        bench.run(&requests, stalls);
        let mut answers: VecDeque<Answer> = bench.answers.drain(..).collect();
        let mut memory = Memory::new();
        for request in &requests {
            if request.descriptor.request_type != RequestType::MemWrite {
                check_answers(request, &memory, &mut answers);
            } else if !request.damaged {
                for at in request.enabled() {
                    memory.insert((request.descriptor.bar_id, request.offset() + at as u64), request.payload[at]);
                }
            }
        }
        prop_assert!(answers.is_empty());
        prop_assert_eq!(&bench.memory, &memory);
        let refused = |r: &&Request| match r.descriptor.request_type {
            RequestType::MemRead => r.descriptor.bar_id == WRITE_ONLY,
            kind => kind != RequestType::MemWrite,
        };
        prop_assert_eq!(bench.refused, requests.iter().filter(refused).count());
        prop_assert_eq!(bench.damaged > 0, requests.iter().any(|r| r.damaged));
    }
}

/// Doorbells come as writes of one word: none of them waits for another.
#[test]
fn a_write_of_one_word_passes_in_every_cycle() {
    for wide in [true, false] {
        let mut bench = Bench::new(wide, 1);
        let mut write = request(&mut bench.rng.clone(), 0);
        write.descriptor.request_type = RequestType::MemWrite;
        write.descriptor.address = BASE + 8;
        write.descriptor.dword_count = 2;
        (write.first_be, write.last_be, write.damaged) = (15, 15, false);
        write.payload = (1..=8).collect();
        let beat = bench.beats(&write).remove(0).unwrap();
        for cycle in 0..50 {
            assert!(bench.cycle(Some(&beat), 0), "cycle {cycle}");
        }
    }
}

/// The rest of a write whose beginning came before a reset is no request of its own.
#[test]
fn a_reset_in_the_middle_of_a_write_drops_the_rest_of_it() {
    for wide in [true, false] {
        let mut bench = Bench::new(wide, 1);
        let mut write = request(&mut bench.rng.clone(), 0);
        write.descriptor.request_type = RequestType::MemWrite;
        (write.descriptor.address, write.descriptor.dword_count) = (BASE, 40);
        (write.first_be, write.last_be, write.damaged) = (15, 15, false);
        write.payload = vec![0x11; 160];
        let mut beats = bench.beats(&write);
        assert!(bench.cycle(beats.pop_front().as_ref(), 0));
        bench.set("reset", 1);
        bench.cycle(None, 0);
        bench.set("reset", 0);
        bench.memory.clear();
        for beat in &beats {
            assert!(bench.cycle(Some(beat), 0));
        }
        write.payload = vec![0x22; 160];
        bench.run(std::slice::from_ref(&write), 0);
        assert_eq!(bench.memory.len(), 160);
        assert!(bench.memory.values().all(|byte| *byte == 0x22));
    }
}

#[test]
fn the_descriptor_records_have_the_codecs_layout() {
    let rng = &mut StdRng::seed_from_u64(7);
    for _ in 0..200 {
        let mut d = request(rng, 0x5a).descriptor;
        d.address = rng.random::<u64>() & !3;
        d.address_type = AddressType::from_bits(rng.random_range(0..4));
        let record = CqDescriptor {
            at: u64::from(d.address_type.code()).to_bits(),
            address_dw: (d.address >> 2).to_bits(),
            dword_count: u64::from(d.dword_count).to_bits(),
            request_type: u64::from(d.request_type.code()).to_bits(),
            requester: u64::from(d.requester).to_bits(),
            tag: u64::from(d.tag).to_bits(),
            target_function: u64::from(d.target_function).to_bits(),
            bar_id: u64::from(d.bar_id).to_bits(),
            bar_aperture: u64::from(d.bar_aperture).to_bits(),
            traffic_class: u64::from(d.traffic_class).to_bits(),
            attributes: u64::from(d.attributes.bits()).to_bits(),
            ..CqDescriptor::default()
        };
        let bytes: Vec<u8> = to_words(record)
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        assert_eq!(CompleterRequest::parse(&bytes).unwrap(), (d, &[][..]));
        let c = CcDescriptor {
            lower_address: u64::from(d.tag & 0x7f).to_bits(),
            at: record.at,
            byte_count: u64::from(d.dword_count).to_bits(),
            dword_count: record.dword_count,
            status: 4u64.to_bits(),
            requester: record.requester,
            tag: record.tag,
            completer: 0x1234u64.to_bits(),
            completer_id_enable: true,
            traffic_class: record.traffic_class,
            attributes: record.attributes,
            ..CcDescriptor::default()
        };
        let bytes: Vec<u8> = to_words(c).iter().flat_map(|w| w.to_le_bytes()).collect();
        let (c, rest) = CompleterCompletion::parse(&bytes).unwrap();
        assert!(rest.is_empty());
        let expected = CompleterCompletion {
            lower_address: d.tag & 0x7f,
            address_type: d.address_type,
            byte_count: d.dword_count,
            locked: false,
            dword_count: d.dword_count,
            status: CompletionStatus::CompleterAbort,
            poisoned: false,
            requester: d.requester,
            tag: d.tag,
            completer: 0x1234,
            completer_id_enable: true,
            traffic_class: d.traffic_class,
            attributes: d.attributes,
            force_ecrc: false,
        };
        assert_eq!(c, expected);
    }
}

#[test]
fn the_tools_take_both_widths() {
    tools::assert_clean::<Completer1024>();
    tools::assert_clean::<Completer512>();
}

fn descriptor(rng: &mut equivalence::TestRng) -> CqDescriptor {
    CqDescriptor {
        address_dw: Bits::random(rng),
        dword_count: rng.random_range(1..=80u64).to_bits(),
        request_type: rng.random_range(0..3u64).to_bits(),
        requester: Bits::random(rng),
        bar_id: Bits::random(rng),
        ..CqDescriptor::default()
    }
}

#[test]
fn request_words_is_its_verilog() {
    equivalence::check(
        RequestWords512::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 60);
            uut.cq.tvalid.next = rng.random_ratio(3, 4);
            let words = Bits::<512>::random(rng);
            uut.cq.tdata.next =
                (words << 128) | bit_cast::<512, 128>(Bits::<128>::from(descriptor(rng)));
            uut.cq.tkeep.next = Bits::random(rng);
            uut.cq.tlast.next = rng.random_ratio(1, 3);
            uut.cq.tuser.next =
                Bits::random(rng) & !(bits::<183>(u64::from(rng.random_ratio(7, 8))) << 96);
            uut.work.ready.next = rng.random_ratio(2, 3);
        },
        300,
        3,
    )
    .unwrap();
}

#[test]
fn request_executor_is_its_verilog() {
    equivalence::check(
        RequestExecutor::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 200);
            uut.work.valid.next = rng.random_ratio(3, 4);
            uut.work.record.next = CompleterWork {
                completes: rng.random_ratio(3, 4),
                descriptor: descriptor(rng),
                first_be: Bits::random(rng),
                last_be: Bits::random(rng),
                word: BarAccess {
                    write: true,
                    data: Bits::random(rng),
                    enable: Bits::random(rng),
                    ..BarAccess::default()
                },
            };
            uut.access.ready.next = rng.random_ratio(3, 4);
            uut.word.valid.next = rng.random_ratio(1, 2);
            uut.word.data.next = Bits::random(rng);
            uut.word.unsupported.next = rng.random_ratio(1, 12);
            uut.answer.ready.next = rng.random_ratio(1, 2);
        },
        300,
        4,
    )
    .unwrap();
}

#[test]
fn answer_beats_is_its_verilog() {
    equivalence::check(
        AnswerBeats512::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.answer.valid.next = rng.random_ratio(1, 2);
            uut.answer.record.next = CompleterAnswer {
                descriptor: CcDescriptor {
                    byte_count: Bits::random(rng),
                    requester: Bits::random(rng),
                    ..CcDescriptor::default()
                },
                dwords: rng.random_range(3..=35u64).to_bits(),
                payload: Bits::random(rng),
                after_messages: Bit::random(rng),
            };
            uut.messages.next = rng.random_range(0..4u64).to_bits();
            uut.messages_left.next = rng.random_range(0..2u64).to_bits();
            uut.cc.tready.next = rng.random_ratio(2, 3);
        },
        300,
        5,
    )
    .unwrap();
}

/// A completion of the MSI-X table leaves behind the messages that were in the request stream, and not behind those that come later. Others do not wait.
#[test]
fn completions_of_the_vector_table_leave_behind_earlier_messages() {
    let mut rng = StdRng::seed_from_u64(1);
    for round in 0..200 {
        let mut dut = Dut::new::<AnswerBeats512>();
        let after_messages = round % 4 != 0;
        let answer = CompleterAnswer {
            dwords: 5_u64.to_bits(),
            after_messages,
            ..CompleterAnswer::default()
        };
        let mut inside = rng.random_range(0..6_u64);
        let mut leaving = rng.random_range(0..=inside.min(4));
        dut.set("answer_valid", 1);
        dut.set_record("answer", answer);
        dut.set("messages", inside);
        dut.set("messages_left", leaving);
        dut.clock();
        inside -= leaving;
        let mut before = if after_messages { inside } else { 0 };
        dut.set("answer_valid", 0);
        for _ in 0..40 {
            // Others enter the stream behind it.
            inside += rng.random_range(0..2);
            leaving = rng
                .random_range(0..=inside.min(4))
                .min(rng.random_range(0..5));
            dut.set("messages", inside);
            dut.set("messages_left", leaving);
            dut.settle();
            assert_eq!(dut.is("cc_tvalid"), before == 0, "{before} before");
            dut.clock();
            inside -= leaving;
            before = before.saturating_sub(leaving);
        }
        assert_eq!(before, 0);
    }
}
