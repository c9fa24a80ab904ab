//! A queue pair that is connected again with the same number does not hear what the card had received for it before.

use std::time::Duration;

use sim_nic::LoneCard;
use stellar_driver::*;
use stellar_wire::mrc::{CcState, Seth};
use stellar_wire::receive::DropReason;
use stellar_wire::{Aeth, Bth, ExtHeaders, Opcode};

use crate::verbs::hosts::*;

/// Initial PSN, of both lives of the queue pair.
pub const PSN: u32 = 77;
/// Queue pair numbers of the peer.
pub const PEER: u32 = 9;
pub const BUSY_PEER: u32 = 10;
/// Control packets that a lane keeps for the requester.
const LANE_CONTROLS: usize = 500;
/// Longer than a timeout, in cycles: what is sent would be answered or sent again.
const LONG: u64 = 100_000;

/// A control packet of the peer.
fn control(port: usize, opcode: Opcode, qp: u32, psn: u32, ext: ExtHeaders) -> Vec<u8> {
    let bth = Bth {
        opcode,
        dest_qp: qp,
        psn,
        ..Bth::default()
    };
    from_peer(port, bth, ext).emit().unwrap()
}

/// An acknowledgement of everything up to `psn`.
fn ack(qp: u32, psn: u32) -> Vec<u8> {
    let ext = ExtHeaders {
        aeth: Some(Aeth::default()),
        ..ExtHeaders::default()
    };
    control(0, Opcode::RcAck, qp, psn, ext)
}

/// A SACK that tells nothing new. It costs the requester about 12 cycles, and a port more than one comes in two.
pub fn stale_sack(port: usize, qp: u32) -> Vec<u8> {
    let ext = ExtHeaders {
        seth: Some(Seth {
            src_context: BUSY_PEER as u16,
            dst_context: qp as u16,
            cack_psn: PSN - 1,
            ..Seth::default()
        }),
        cc_state: Some(CcState::default()),
        ..ExtHeaders::default()
    };
    control(port, Opcode::MrcSack, qp, PSN - 1, ext)
}

pub fn peer(qp: u32, transport: Transport) -> Connection {
    Connection {
        qp,
        psn: PSN,
        transport,
        ports: ports(1),
    }
}

fn count(device: &Device, reason: DropReason) -> u64 {
    count_of(&device.counters().unwrap(), reason)
}

#[test]
fn an_acknowledgement_of_its_last_life_is_not_one_of_this_life() {
    let cards = LoneCard::new().unwrap();
    let probe = Probe::new(cards.function(0)).unwrap();
    let device = probe.bring_up(DeviceConfig::new(ports(0), 0)).unwrap();
    let host = Host::open(&device, false);
    let qp = host.qp_over(Transport::Rc);
    // Numbers are of both engines in turn: the third one is of the first one's engine.
    let _other = host.qp();
    let busy = host.qp();
    assert_eq!(busy.number() % 2, qp.number() % 2, "engines");
    ready(&busy, peer(BUSY_PEER, Transport::Mrc));
    busy.modify(Modify::Rts(RtsAttributes::new(PSN))).unwrap();
    let connect = || {
        ready(&qp, peer(PEER, Transport::Rc));
        let mut attributes = RcRtsAttributes::new(PSN);
        attributes.timeout = Duration::from_millis(8);
        qp.modify(Modify::RcRts(attributes)).unwrap();
    };
    let write = |wr_id| {
        let source = Source::Inline(&[3; 8]);
        qp.post_send(&WorkRequest::write(wr_id, source, 0x1000, 1).pushed())
            .unwrap();
    };
    connect();

    // The first life sends a packet. Its acknowledgement comes behind as many others as the card keeps.
    write(1);
    cards.run(2_000);
    assert_eq!(cards.take_sent().len(), 1);
    for _ in 0..LANE_CONTROLS {
        for port in 0..2 {
            cards.receive(port, stale_sack(port, busy.number()));
        }
    }
    cards.receive(0, ack(qp.number(), PSN));
    let settled = || count(&device, DropReason::Control) as usize > 2 * LANE_CONTROLS;
    while !settled() {
        cards.run(10);
    }
    assert_eq!(count(&device, DropReason::ControlLost), 0);

    // The second life sends a packet that nobody acknowledges.
    qp.modify(Modify::Reset).unwrap();
    connect();
    write(2);
    cards.run(LONG);
    assert!(!cards.take_sent().is_empty(), "nothing was sent");
    assert_eq!(ends(&host.cq.poll(8).unwrap()), []);

    // It hears its own.
    cards.receive(0, ack(qp.number(), PSN));
    assert_eq!(ends(&host.completions(1)), [(2, WcStatus::Success)]);
    drop(busy);
}
