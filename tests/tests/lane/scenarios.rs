//! Scenarios of the lane. Each compares every byte of memory, and the lane with the reference.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_cosim::traffic::{reorder, Message, Wrapping};
use sim_cosim::{LaneWidth, RegionSpec, Session, SessionConfig};
use stellar_transport::rx::{
    DropReason, EmttRow, MaxPayload, Owner, PageSize, QpMode, QpRow, TableWrite, RECEIVE_WINDOW,
};
use stellar_wire::{Ethernet, Header, Ipv4};

const QP: u32 = 33;
const RKEY: u32 = 0x0a_11;
const VA: u64 = 0x5555_0000_0800;
const LENGTH: u64 = 2 << 20;

struct Bench {
    session: Session,
    rng: ChaCha8Rng,
    region: Vec<TableWrite>,
    frames: Vec<Vec<u8>>,
    mtu: usize,
}

impl Bench {
    fn new(mode: QpMode, psn: u32) -> Self {
        Self::of(super::session(LaneWidth::Bits1024), mode, psn)
    }

    fn of(mut session: Session, mode: QpMode, psn: u32) -> Self {
        session.write_qp(QP, super::ready(mode, psn)).unwrap();
        let owner = |page| {
            if page % 3 == 0 {
                Owner::Host
            } else {
                Owner::Gpu
            }
        };
        let region = session.map.add_region(
            &mut session.world.fabric,
            RegionSpec {
                rkey: RKEY,
                pd: super::PD,
                va: VA,
                length: LENGTH,
                page: PageSize::Size4K,
            },
            owner,
        );
        for write in &region {
            session.write_table(write).unwrap();
        }
        session.world.settle().unwrap();
        Self {
            session,
            rng: ChaCha8Rng::seed_from_u64(77),
            region,
            frames: vec![],
            mtu: 1024,
        }
    }

    /// Starts the queue pair anew with a path MTU of 256 bytes.
    fn with_small_packets(mut self, mode: QpMode, psn: u32) -> Self {
        self.mtu = 256;
        let context = QpRow {
            mtu_log2: 8,
            ..super::ready(mode, psn)
        };
        self.session.write_qp(QP, context).unwrap();
        self
    }

    fn message(&mut self, mrc: bool, psn: u32, offset: u64, length: usize) -> Vec<Vec<u8>> {
        let data: Vec<u8> = (0..length).map(|_| self.rng.random()).collect();
        let message = Message {
            mrc,
            qp: QP,
            psn: psn & 0xff_ffff,
            msn: 0,
            va: VA + offset,
            rkey: RKEY,
            data: &data,
            mtu: self.mtu,
            immediate: None,
            wrapping: Wrapping::default(),
        };
        message
            .frames(&mut self.rng)
            .iter()
            .map(|f| f.emit().unwrap())
            .collect()
    }

    fn receive(&mut self, frames: Vec<Vec<u8>>) {
        for frame in frames {
            self.session.receive(frame.clone(), false);
            self.frames.push(frame);
        }
    }

    fn finish(&mut self) -> Vec<u8> {
        self.session.settle_and_compare().unwrap();
        self.session.expect_packets(&self.frames, 0);
        self.session.verify_memory().unwrap();
        self.session.world.verdicts.clone()
    }
}

fn count(verdicts: &[u8], reason: DropReason) -> usize {
    verdicts.iter().filter(|v| **v == reason.index()).count()
}

#[test]
fn any_order_inside_the_window_with_the_psn_wrapping_is_placed_once() {
    let first = 0xff_fe80;
    let mut bench = Bench::new(QpMode::Mrc, first).with_small_packets(QpMode::Mrc, first);
    let window = RECEIVE_WINDOW as usize;
    // Full packets and an unaligned end: the whole window, shuffled.
    let mut frames = bench.message(true, first, 3, (window - 1) * 256 + 5);
    assert_eq!(frames.len(), window);
    reorder(&mut frames, window, &mut bench.rng);
    bench.receive(frames);
    let verdicts = bench.finish();
    assert_eq!(count(&verdicts, DropReason::None), window);
}

#[test]
fn duplicates_are_acknowledged_again_and_not_placed_again() {
    let mut bench = Bench::new(QpMode::Mrc, 50);
    let frames = bench.message(true, 50, 0, 40_000);
    let mut twice: Vec<_> = frames.iter().flat_map(|f| [f.clone(), f.clone()]).collect();
    reorder(&mut twice, 30, &mut bench.rng);
    bench.receive(twice);
    let sent = frames.len();
    assert_eq!(
        bench
            .session
            .outcomes
            .iter()
            .filter(|o| o.ack.is_some())
            .count(),
        2 * sent
    );
    let verdicts = bench.finish();
    assert_eq!(count(&verdicts, DropReason::Duplicate), sent);
}

#[test]
fn a_packet_one_past_the_window_is_refused_and_the_last_inside_accepted() {
    let mut bench = Bench::new(QpMode::Mrc, 10);
    let inside = bench.message(true, 10 + RECEIVE_WINDOW - 1, 0, 100);
    let outside = bench.message(true, 10 + RECEIVE_WINDOW, 5000, 100);
    bench.receive(outside);
    bench.receive(inside);
    let verdicts = bench.finish();
    assert_eq!(
        verdicts,
        [
            DropReason::PsnOutsideWindow.index(),
            DropReason::None.index()
        ]
    );
}

#[test]
fn rc_messages_follow_the_running_address_and_a_gap_is_not_placed() {
    let mut bench = Bench::new(QpMode::Rc, 0xff_fffe);
    let first = bench.message(false, 0xff_fffe, 7, 5000);
    let after_gap = bench.message(false, 0xff_fffe + 6, 9000, 2000);
    let next = bench.message(false, 0xff_fffe + 5, 20_001, 3);
    bench.receive(first);
    bench.receive(after_gap);
    bench.receive(next);
    let verdicts = bench.finish();
    assert_eq!(count(&verdicts, DropReason::PsnGap), 2);
    assert_eq!(count(&verdicts, DropReason::None), 6);
}

#[test]
fn unaligned_lengths_and_addresses_are_placed_exactly_at_every_maximum_payload() {
    let width = LaneWidth::Bits1024;
    let mut tlps = vec![];
    for bytes in [128, 256, 512, 1024] {
        let mut config = SessionConfig::new(width);
        config.max_payload = MaxPayload::new(bytes).unwrap();
        let session = Session::new(super::library(width), &config).unwrap();
        let mut bench = Bench::of(session, QpMode::Mrc, 0);
        let mut psn = 0;
        for length in [
            0, 1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 255, 257, 1023, 1024,
        ] {
            for shift in [0, 1, 2, 3, 125, 4095] {
                let offset = u64::from(psn) * 2048 + shift;
                let frames = bench.message(true, psn, offset, length);
                psn += frames.len() as u32;
                bench.receive(frames);
            }
        }
        let sent = bench.frames.len();
        let verdicts = bench.finish();
        tlps.push(bench.session.world.stats.tlps);
        assert_eq!(count(&verdicts, DropReason::None), sent);
    }
    assert!(tlps.is_sorted_by(|a, b| a > b), "{tlps:?} TLPs");
}

#[test]
fn after_a_deregistration_fence_no_write_uses_the_old_page() {
    let mut bench = Bench::new(QpMode::Mrc, 0);
    let frames = bench.message(true, 0, 0, 60 * 1024);
    for frame in &frames {
        bench.session.world.receive(frame.clone(), false);
    }
    for _ in 0..150 {
        bench.session.world.clock().unwrap();
    }
    // Deregisters a region while packets are in flight, and waits only for the fence.
    for write in &bench.region {
        if let TableWrite::Emtt { index, .. } = *write {
            let entry = EmttRow::default();
            bench
                .session
                .world
                .write_table(&TableWrite::Emtt { index, entry });
        }
    }
    bench.session.world.fence();
    let before = bench.session.world.fences_done();
    while bench.session.world.fences_done() == before {
        bench.session.world.clock().unwrap();
    }
    let sent_at_fence = bench.session.world.stats.tlps;
    assert!(sent_at_fence > 0, "packets were in flight");
    bench.session.world.settle().unwrap();
    assert_eq!(
        bench.session.world.stats.tlps, sent_at_fence,
        "a write left after the fence"
    );
    let refused = count(&bench.session.world.verdicts, DropReason::InvalidPage);
    assert_eq!(
        refused, 1,
        "the first packet after the fence ends the queue pair"
    );
}

#[test]
fn counters_say_what_happened_by_reason() {
    let mut bench = Bench::new(QpMode::Mrc, 0);
    let mut frames = bench.message(true, 0, 0, 3000);
    let mut broken = frames[1].clone();
    *broken.last_mut().unwrap() ^= 1;
    frames.push(broken);
    frames.push(vec![0xff; 64]);
    bench.receive(frames);
    bench.session.settle_and_compare().unwrap();
    let mut counter = |reason: DropReason| bench.session.world.lane.counter(reason.index());
    assert_eq!(counter(DropReason::None), 3);
    assert_eq!(counter(DropReason::BadIcrc), 1);
    assert_eq!(counter(DropReason::NotRoce), 1);
    assert_eq!(counter(DropReason::UnknownQp), 0);
}

/// Cuts a frame behind the IPv4 header in two, as a router with a small MTU does (RFC 791): `first` bytes of the datagram, and the rest.
fn fragments(frame: &[u8], first: usize) -> [Vec<u8>; 2] {
    let (ethernet, packet) = frame.split_at(Ethernet::LEN);
    let (ip, datagram) = Ipv4::parse(packet).unwrap();
    let piece = |offset: usize, data: &[u8], more_fragments: bool| {
        let mut bytes = ethernet.to_vec();
        let ip = Ipv4 {
            total_len: (Ipv4::LEN + data.len()) as u16,
            dont_fragment: false,
            more_fragments,
            fragment_offset: (offset / 8) as u16,
            ..ip
        };
        ip.emit(&mut bytes);
        bytes.extend_from_slice(data);
        bytes
    };
    let (head, tail) = datagram.split_at(first);
    [piece(0, head, true), piece(first, tail, false)]
}

#[test]
fn pieces_of_a_fragmented_packet_are_counted_and_its_retransmission_is_placed() {
    let mut bench = Bench::new(QpMode::Mrc, 7);
    let frames = bench.message(true, 7, 0, 3000);
    bench.receive(fragments(&frames[1], 576).into());
    bench.receive(frames);
    let verdicts = bench.finish();
    assert_eq!(count(&verdicts, DropReason::None), 3);
    let lane = &mut bench.session.world.lane;
    assert_eq!(lane.counter(DropReason::IpFragment.index()), 2);
    assert_eq!(lane.counter(DropReason::NotRoce.index()), 0);
}
