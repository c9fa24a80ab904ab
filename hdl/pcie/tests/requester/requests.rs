//! Write TLPs and reads through the requester request stream, compared with what went in.

use std::collections::VecDeque;

use hdl_pcie::requester::{RequestStream1024, RequestStream512};
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::{library, Dut};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use sim_bfm::{Request, RequestReader};
use stellar_transport::rx::{write_tlps, MaxPayload, Piece, WriteTlp};
use stellar_wire::hw::ats::Invalidated;
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::read::ReadTlpHeader;
use stellar_wire::hw::rq::RqDescriptor;
use stellar_wire::pcie::descriptor::{InvalidateCompletion, RequestType, RequesterRequest};
use stellar_wire::pcie::{AddressType, Attributes};
use stellar_wire::Header;

#[derive(Clone, Debug)]
struct Read {
    address: u64,
    translated: bool,
    dwords: u16,
    first_be: u8,
    last_be: u8,
    tag: u8,
}

impl Read {
    fn random(rng: &mut StdRng) -> Self {
        let dwords = rng.random_range(1..=1024);
        Self {
            address: rng.random::<u64>() & !3,
            translated: rng.random(),
            dwords,
            first_be: rng.random_range(0..16),
            last_be: if dwords == 1 {
                0
            } else {
                rng.random_range(1..16)
            },
            tag: rng.random(),
        }
    }

    fn header(&self) -> ReadTlpHeader {
        ReadTlpHeader {
            address_dw: (self.address >> 2).to_bits(),
            at: (u64::from(self.translated) << 1).to_bits(),
            length_dw: u64::from(self.dwords).to_bits(),
            first_be: u64::from(self.first_be).to_bits(),
            last_be: u64::from(self.last_be).to_bits(),
            tag: u64::from(self.tag).to_bits(),
        }
    }

    fn request(&self) -> Request {
        let at = u8::from(self.translated) << 1;
        Request {
            descriptor: descriptor(
                RequestType::MemRead,
                at,
                self.address,
                self.dwords,
                self.tag,
            ),
            first_be: self.first_be,
            last_be: self.last_be,
            payload: vec![],
        }
    }
}

fn descriptor(
    request_type: RequestType,
    at: u8,
    address: u64,
    dword_count: u16,
    tag: u8,
) -> RequesterRequest {
    RequesterRequest {
        address_type: AddressType::from_bits(at),
        address,
        dword_count,
        request_type,
        poisoned: false,
        requester: 0,
        tag,
        completer: 0,
        requester_id_enable: false,
        traffic_class: 0,
        attributes: Attributes::default(),
        force_ecrc: false,
    }
}

fn write_request(tlp: &WriteTlp) -> Request {
    let dwords = tlp.length_dw as u16;
    Request {
        descriptor: descriptor(RequestType::MemWrite, tlp.at, tlp.address, dwords, 0),
        first_be: tlp.first_be,
        last_be: tlp.last_be,
        payload: tlp.data.clone(),
    }
}

/// A beat of a write: the write, its bytes in the beat, whether it is the first and the last one.
type WriteBeat = (WriteTlp, Vec<u8>, bool, bool);

fn beats_of(writes: &[WriteTlp], bytes: usize) -> VecDeque<WriteBeat> {
    let beats = writes.iter().flat_map(|tlp| {
        let count = tlp.data.len().div_ceil(bytes);
        let chunks = tlp.data.chunks(bytes).enumerate();
        chunks.map(move |(n, chunk)| (tlp.clone(), chunk.to_vec(), n == 0, n + 1 == count))
    });
    beats.collect()
}

struct Bench {
    dut: Dut,
    bytes: usize,
    reader: RequestReader,
    beats: VecDeque<WriteBeat>,
    reads: VecDeque<Read>,
    /// Writes that were taken and have not left.
    due: VecDeque<Request>,
    /// The same of reads, each with the writes that were taken before it.
    asked: VecDeque<(Request, usize)>,
    messages: VecDeque<InvalidateCompletion>,
    /// The same of messages.
    told: VecDeque<(InvalidateCompletion, usize)>,
    /// A message is on offer, and stays.
    offers_message: bool,
    writes_taken: usize,
    writes_left: usize,
    came: usize,
    /// Cycles in which a beat left.
    left: Vec<usize>,
}

impl Bench {
    fn new(wide: bool, writes: &[WriteTlp], reads: &[Read]) -> Self {
        let (library, bytes) = if wide {
            (library::<RequestStream1024>(), 128)
        } else {
            (library::<RequestStream512>(), 64)
        };
        let mut dut = Dut::of(library);
        dut.reset(2);
        Self {
            dut,
            bytes,
            reader: RequestReader::new(8 * bytes),
            beats: beats_of(writes, bytes),
            reads: reads.iter().cloned().collect(),
            due: VecDeque::new(),
            asked: VecDeque::new(),
            messages: VecDeque::new(),
            told: VecDeque::new(),
            offers_message: false,
            writes_taken: 0,
            writes_left: 0,
            came: 0,
            left: vec![],
        }
    }

    /// Begins anew with these requests; those that were taken are forgotten.
    fn restart(&mut self, writes: &[WriteTlp], reads: &[Read]) {
        self.beats = beats_of(writes, self.bytes);
        self.reads = reads.iter().cloned().collect();
        self.due.clear();
        self.asked.clear();
        (self.writes_taken, self.writes_left, self.came) = (0, 0, 0);
    }

    fn cycle(&mut self, now: usize, writes: bool, reads: bool, ready: bool) {
        let dut = &mut self.dut;
        let write = self.beats.front().filter(|_| writes);
        dut.set("write_valid", write.is_some().into());
        if let Some((tlp, chunk, first, last)) = write {
            let mut lanes = chunk.clone();
            lanes.resize(self.bytes, 0);
            dut.set_bytes("write_data", &lanes);
            dut.set_words("write_header", &to_words(tlp.to_hw()));
            dut.set("write_first", (*first).into());
            dut.set("write_last", (*last).into());
        }
        let read = self.reads.front().filter(|_| reads);
        dut.set("read_valid", read.is_some().into());
        if let Some(read) = read {
            dut.set_record("read", read.header());
        }
        let offers = self.offers_message || reads;
        let message = self.messages.front().filter(|_| offers);
        self.offers_message = message.is_some();
        dut.set("message_valid", message.is_some().into());
        if let Some(message) = message {
            let record = Invalidated {
                target: u64::from(message.target).to_bits(),
                itags: u64::from(message.tags).to_bits(),
            };
            dut.set_record("message", record);
        }
        dut.set("rq_tready", ready.into());
        dut.settle();
        if dut.moves("message_valid", "message_ready") {
            let message = self.messages.pop_front().unwrap();
            self.told.push_back((message, self.writes_taken));
            self.offers_message = false;
        }
        if dut.moves("read_valid", "read_ready") {
            let read = self.reads.pop_front().unwrap();
            self.asked.push_back((read.request(), self.writes_taken));
        }
        if dut.moves("write_valid", "write_ready") {
            let (tlp, _, first, _) = self.beats.pop_front().unwrap();
            if first {
                self.due.push_back(write_request(&tlp));
                self.writes_taken += 1;
            }
        }
        if dut.moves("rq_tvalid", "rq_tready") {
            self.left.push(now);
            let (data, user) = (dut.words("rq_tdata"), dut.words("rq_tuser"));
            let requests = self.reader.push(&data, &user).unwrap();
            let mut messages = requests.messages.into_iter().peekable();
            for n in 0..=requests.complete.len() {
                while let Some((_, message)) = messages.next_if(|&(before, _)| before == n) {
                    let (expected, writes) = self.told.pop_front().expect("a message was taken");
                    assert_eq!(message, expected);
                    assert!(self.writes_left >= writes, "a message passes a write");
                    self.came += 1;
                }
                let Some(request) = requests.complete.get(n).cloned() else {
                    break;
                };
                self.came += 1;
                if request.descriptor.request_type == RequestType::MemWrite {
                    assert_eq!(Some(request), self.due.pop_front());
                    self.writes_left += 1;
                } else {
                    let (expected, writes) = self.asked.pop_front().expect("a read was taken");
                    assert_eq!(request, expected);
                    assert!(self.writes_left >= writes, "a read passes a write");
                }
            }
        }
        dut.clock();
    }
}

fn tlps(lengths: &[(u64, u16, bool)], mps: usize) -> Vec<WriteTlp> {
    let mps = MaxPayload::new(mps).unwrap();
    let one = |&(address, length, translated): &(u64, u16, bool)| {
        let payload: Vec<u8> = (0..length)
            .map(|i| (i as u8) ^ (address as u8) | 1)
            .collect();
        let segment = Piece {
            address: address >> 1,
            length: length.into(),
            translated,
        };
        write_tlps(&[segment], &payload, mps)
    };
    lengths.iter().flat_map(one).collect()
}

/// Address, length, and whether the address is translated. Writes of one slot are frequent, so beats have as many starts and ends as they can.
fn any_write() -> impl Strategy<Value = (u64, u16, bool)> {
    let length = prop_oneof![1u16..=16, 1u16..=1500];
    (any::<u64>(), length, any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing that was accepted waits for more: once the stream is ready, it leaves.
    #[test]
    fn requests_leave_as_they_were_accepted(
        wide: bool,
        writes in prop::collection::vec(any_write(), 0..12),
        reads in 0usize..40, messages in 0usize..12, mps_code in 0u32..4, seed: u64, pauses in 0u32..8,
    ) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let writes = tlps(&writes, 128 << mps_code);
        let reads: Vec<Read> = (0..reads).map(|_| Read::random(rng)).collect();
        let mut bench = Bench::new(wide, &writes, &reads);
        bench.messages = (0..messages)
            .map(|_| InvalidateCompletion { target: rng.random(), tags: rng.random(), count: 1 })
            .collect();
        let mut now = 0;
        while !bench.beats.is_empty() || !bench.reads.is_empty() || !bench.messages.is_empty() {
            now += 1;
            prop_assert!(now < 100_000, "hung");
            let mut go = || rng.random_range(0..8) >= pauses;
            let (writes, reads, ready) = (go(), go(), go());
            bench.cycle(now, writes, reads, ready);
        }
        for _ in 0..6 {
            now += 1;
            bench.cycle(now, false, false, true);
        }
        prop_assert_eq!(bench.came, writes.len() + reads.len() + messages);
        prop_assert!(bench.reader.between_requests() && !bench.dut.is("rq_tvalid"));
    }

    #[test]
    fn the_descriptor_record_has_the_codecs_layout(
        at in 0u8..4, address_dw in 0u64..1 << 62, dword_count in 0u16..=1024, request_type in 0u64..=6, flags in 0u8..8,
        requester: u16, tag: u8, completer: u16, traffic_class in 0u8..8, attributes in 0u8..8,
    ) {
        let record = RqDescriptor {
            at: u64::from(at).to_bits(),
            address_dw: address_dw.to_bits(),
            dword_count: u64::from(dword_count).to_bits(),
            request_type: request_type.to_bits(),
            poisoned: flags & 1 != 0,
            requester: u64::from(requester).to_bits(),
            tag: u64::from(tag).to_bits(),
            completer: u64::from(completer).to_bits(),
            requester_id_enable: flags & 2 != 0,
            traffic_class: u64::from(traffic_class).to_bits(),
            attributes: u64::from(attributes).to_bits(),
            force_ecrc: flags & 4 != 0,
        };
        let bytes: Vec<u8> = to_words(record).iter().flat_map(|w| w.to_le_bytes()).collect();
        let (parsed, rest) = RequesterRequest::parse(&bytes).unwrap();
        prop_assert!(rest.is_empty());
        prop_assert_eq!(parsed, RequesterRequest {
            address_type: AddressType::from_bits(at),
            address: address_dw << 2,
            dword_count,
            request_type: RequestType::from_code(request_type as u8).unwrap(),
            poisoned: flags & 1 != 0,
            requester,
            tag,
            completer,
            requester_id_enable: flags & 2 != 0,
            traffic_class,
            attributes: Attributes::from_bits(attributes),
            force_ecrc: flags & 4 != 0,
        });
    }
}

/// A slot is 32 bytes. At 256 bytes, 9 slots for each TLP; at 128 bytes, 5. No slot stays empty.
#[test]
fn back_to_back_writes_fill_every_slot() {
    for (wide, mps, slots) in [
        (true, 256, 9),
        (true, 128, 5),
        (false, 256, 9),
        (false, 128, 5),
    ] {
        let writes = tlps(&[(0x4000, 4096, true), (0x8000, 4096, true)], mps);
        let mut bench = Bench::new(wide, &writes, &[]);
        let mut now = 0;
        while bench.came < writes.len() {
            bench.cycle(now, true, true, true);
            now += 1;
            assert!(now < 1000, "hung");
        }
        let beats = (slots * writes.len()).div_ceil(if wide { 4 } else { 2 });
        assert_eq!(bench.left.len(), beats);
        assert_eq!(
            bench.left[beats - 1] - bench.left[0] + 1,
            beats,
            "no beat is late"
        );
    }
}

#[test]
fn a_lone_request_leaves_two_cycles_after_it_was_taken() {
    let read = Read::random(&mut StdRng::seed_from_u64(1));
    let mut bench = Bench::new(true, &[], &[read]);
    for now in 0..4 {
        bench.cycle(now, true, true, true);
    }
    assert_eq!(bench.left, [2]);
    let mut bench = Bench::new(true, &tlps(&[(0x4000, 64, true)], 256), &[]);
    for now in 0..4 {
        bench.cycle(now, true, true, true);
    }
    assert_eq!(bench.left, [2]);
}

/// A read costs a slot, and no cycle beside it. Neither kind waits for the other.
#[test]
fn reads_fill_slots_between_writes() {
    let rng = &mut StdRng::seed_from_u64(2);
    let reads: Vec<Read> = (0..40).map(|_| Read::random(rng)).collect();
    let mut bench = Bench::new(true, &tlps(&[(0x4000, 4096, true)], 256), &reads);
    // 16 writes of 9 slots and 16 reads are 40 beats.
    for now in 0..41 {
        bench.cycle(now, true, true, true);
    }
    assert!(bench.beats.is_empty(), "writes wait for reads");
    assert!(bench.reads.len() <= 24, "reads wait for writes");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// The reader checks every beat: after a reset, what has begun is discontinued, and what follows is whole.
    #[test]
    fn a_reset_at_any_moment_leaves_no_part_of_a_request(
        wide: bool, lengths in prop::collection::vec(any_write(), 1..6), at in 0usize..60, held in 1usize..4, seed: u64,
    ) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let reads: Vec<Read> = (0..4).map(|_| Read::random(rng)).collect();
        let writes = tlps(&lengths, 256);
        let mut bench = Bench::new(wide, &writes, &reads);
        for now in 0..at {
            bench.cycle(now, true, true, rng.random());
        }
        bench.dut.set("reset", 1);
        for now in 0..held {
            bench.cycle(now, false, false, rng.random());
        }
        bench.dut.set("reset", 0);
        // The beat on offer leaves, and the end of what has begun.
        for now in 0..3 {
            bench.cycle(now, false, false, true);
        }
        prop_assert!(bench.reader.between_requests() && !bench.dut.is("rq_tvalid"));
        bench.restart(&writes, &reads);
        let mut now = 0;
        while bench.came < writes.len() + reads.len() {
            bench.cycle(now, true, true, rng.random());
            now += 1;
            prop_assert!(now < 10_000, "hung");
        }
        prop_assert!(bench.reader.between_requests());
    }
}

#[test]
fn its_simulations_agree() {
    let mut left = 0u64;
    let mut length = 0u64;
    check(
        RequestStream512::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 80);
            uut.write.valid.next = rng.random_ratio(3, 4);
            uut.write.data.next = Bits::random(rng);
            let first = left == 0;
            if first {
                length = rng.random_range(1..64);
                left = length.div_ceil(16);
            }
            left -= 1;
            uut.write.header.next.length_dw = length.to_bits();
            uut.write.header.next.address_dw = Bits::random(rng);
            uut.write.header.next.first_be = Bits::random(rng);
            uut.write.first.next = first;
            uut.write.last.next = left == 0;
            uut.read.valid.next = rng.random_ratio(1, 2);
            uut.read.record.next.address_dw = Bits::random(rng);
            uut.read.record.next.tag = Bits::random(rng);
            uut.message.valid.next = rng.random_ratio(1, 8);
            uut.message.record.next.target = Bits::random(rng);
            uut.message.record.next.itags = Bits::random(rng);
            uut.rq.tready.next = rng.random_ratio(3, 4);
        },
        300,
        7,
    )
    .unwrap();
}
