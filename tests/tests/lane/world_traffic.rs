//! Traffic of a multi-path sender over a fabric that loses and reorders, through the Verilated lane. Verdicts, acknowledgement requests and memory
//! equal those of the reference, and every byte is placed once.

use std::time::Duration;

use pcap_file::pcapng::{Block, PcapNgReader};
use sim_cosim::{Capture, LaneWidth, RegionSpec, Session, CAPTURE_PD};
use sim_net::Topology;
use sim_world::transfer::{self, Transfer};
use sim_world::Plan;
use stellar_transport::rx::{DropReason, Owner, PageSize, Psn};
use stellar_wire::RoceFrame;

const MESSAGE: u32 = 200_001;
const MESSAGES: u32 = 2;
const QPS: u32 = 2;

/// MRC data frames that reach the receiver in a run over the uneven fabric, in order of arrival at either port.
fn arrivals(seed: u64) -> (Plan, Vec<Vec<u8>>) {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../sim/world/topologies/uneven.toml"
    );
    let topology = Topology::from_file(file).unwrap();
    let mut plan = Plan::new(topology, seed).unwrap();
    plan.qps = QPS;
    plan.first_psn = 0xff_ffe0; // wraps on the way
    plan.capture = true;
    let transfer = Transfer {
        bytes: MESSAGE,
        messages: MESSAGES,
        immediates: false,
        interval: 0,
        limit: 100_000_000_000,
    };
    let run = transfer::run::<sim_world::ReferenceNic>(&plan, transfer).unwrap();
    let receiver = plan.host_name(plan.receiver);
    let mut arrived: Vec<(Duration, Vec<u8>)> = vec![];
    for (interface, file) in run.world.captures().unwrap().files().unwrap() {
        if !interface.starts_with(&receiver) {
            continue;
        }
        let mut reader = PcapNgReader::new(file.as_slice()).unwrap();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.unwrap() {
                arrived.push((packet.timestamp, packet.data.into_owned()));
            }
        }
    }
    arrived.sort_by_key(|(time, _)| *time);
    let is_data =
        |frame: &Vec<u8>| RoceFrame::parse(frame).is_ok_and(|frame| frame.bth.opcode.is_mrc_data());
    let frames = arrived.into_iter().map(|(_, frame)| frame);
    (plan, frames.filter(is_data).collect())
}

fn count(session: &Session, reason: DropReason) -> usize {
    let verdicts = session.world.verdicts.iter();
    verdicts.filter(|&&v| v == reason.index()).count()
}

#[test]
fn sprayed_traffic_of_a_lossy_fabric_is_placed_once_and_whole() {
    let (mut overtaken, mut duplicates) = (0, 0);
    for seed in 1..=3 {
        let (plan, frames) = arrivals(seed);
        let psn_of = |frame: &Vec<u8>| RoceFrame::parse(frame).unwrap().bth;
        overtaken += frames
            .windows(2)
            .filter(|pair| {
                let (a, b) = (psn_of(&pair[0]), psn_of(&pair[1]));
                a.dest_qp == b.dest_qp && Psn::new(b.psn).is_behind(Psn::new(a.psn))
            })
            .count();
        let capture = Capture::learn(frames);
        let mut session = super::session(LaneWidth::Bits1024);
        for (&qp, context) in &capture.qps {
            let mut context = *context;
            context.initial_psn = Psn::new(plan.first_psn);
            session.write_qp(qp, context).unwrap();
        }
        for buffer in &capture.buffers {
            let region = RegionSpec {
                rkey: buffer.rkey,
                pd: CAPTURE_PD,
                va: buffer.va,
                length: buffer.length,
                page: PageSize::Size64K,
            };
            let fabric = &mut session.world.fabric;
            for write in session.map.add_region(fabric, region, |_| Owner::Gpu) {
                session.write_table(&write).unwrap();
            }
        }
        session.world.settle().unwrap();
        for frame in &capture.frames {
            session.receive(frame.clone(), false);
        }
        session.settle_and_compare().unwrap();
        session.expect_packets(&capture.frames, 0);
        let placed = session.verify_memory().unwrap();
        assert_eq!(placed.gpu, u64::from(MESSAGE * MESSAGES * QPS));
        assert_eq!(placed.host, 0);
        let packets = MESSAGE.div_ceil(1 << plan.mtu_log2) * MESSAGES * QPS;
        assert_eq!(count(&session, DropReason::None), packets as usize);
        let duplicate = count(&session, DropReason::Duplicate);
        assert_eq!(packets as usize + duplicate, capture.frames.len());
        duplicates += duplicate;
    }
    // Without reordered packets this test would be void.
    assert!(overtaken > 20, "{overtaken} overtaken, {duplicates} twice");
}
