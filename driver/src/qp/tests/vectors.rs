//! Address vectors, which queue pairs share.

use stellar_wire::rows::{AddressRow, PeerRow};

use super::*;
use crate::card::lock;
use crate::vectors::AddressVectors;

/// A queue pair of a host whose addresses end with `host`.
fn peer_of(host: u8) -> Connection {
    let mut peer = peer(Transport::Mrc);
    for port in &mut peer.ports {
        port.mac[0] = host & !3;
        port.ip = [10, host, 0, port.mac[5]].into();
    }
    peer
}

fn connect(qp: &QueuePair, host: u8) -> Result<(), Error> {
    qp.modify(step(QpState::Init))?;
    qp.modify(Modify::Rtr(RtrAttributes::new(peer_of(host))))
}

#[test]
fn queue_pairs_to_one_host_share_its_addresses() {
    let bench = bench();
    let qps = [(); 3].map(|()| bench.pd.create_qp(&bench.cq, config(4)).unwrap());
    let rows = |select: ConfigSelect| bench.function.last_rows(select.index());
    let vector = |qp: &QueuePair| {
        let peer: PeerRow = bench.row(ConfigSelect::Peer, qp.number());
        assert!(peer.valid);
        peer.vector
    };
    for (qp, host) in qps.iter().zip([1, 2, 1]) {
        connect(qp, host).unwrap();
    }
    assert_eq!([0, 1, 2].map(|n| vector(&qps[n])), [0, 1, 0]);
    for table in [ConfigSelect::Address0, ConfigSelect::Address1] {
        let numbers: Vec<_> = rows(table).into_keys().collect();
        assert_eq!(numbers, [0, 1], "{table:?}");
    }
    let second: AddressRow = bench.row(ConfigSelect::Address1, 1);
    assert_eq!(second.peer_ip, u32::from_be_bytes([10, 2, 0, 2]).into());

    // A host's vector is free when its last queue pair is gone, and is given again last.
    qps[0].modify(Modify::Reset).unwrap();
    connect(&qps[0], 1).unwrap();
    assert_eq!(vector(&qps[0]), 0);
    for qp in [&qps[0], &qps[2]] {
        qp.modify(Modify::Reset).unwrap();
    }
    connect(&qps[0], 1).unwrap();
    assert_eq!(vector(&qps[0]), 2);
}

#[test]
fn one_host_too_many_is_refused_and_takes_nothing() {
    let bench = bench();
    let device = bench.context.device();
    assert_eq!(device.limits().peer_hosts, 4096);
    *lock(&device.0.vectors) = AddressVectors::new(2);
    let qps = [(); 3].map(|()| bench.pd.create_qp(&bench.cq, config(4)).unwrap());
    connect(&qps[0], 1).unwrap();
    connect(&qps[1], 2).unwrap();
    let written = bench.function.rows_written();
    for _ in 0..3 {
        let error = connect(&qps[2], 3).unwrap_err().to_string();
        assert_eq!(error, "no address vectors left; the card has 2: free some");
        assert_eq!(qps[2].state(), QpState::Init);
    }
    // Rows of its completion ring are all that was written.
    let rings = bench
        .function
        .last_rows(ConfigSelect::CompletionQueue.index());
    assert!(rings.contains_key(&qps[2].number()));
    assert_eq!(bench.function.rows_written(), written + 1);
    // Its entries of the stash were given back: it gets the first ones, which the first queue pair had.
    qps[0].modify(Modify::Reset).unwrap();
    connect(&qps[2], 3).unwrap();
    let stash = |qp: &QueuePair| {
        let row: ResponderRow = bench.row(ConfigSelect::Responder, qp.number());
        row.stash
    };
    assert_eq!((stash(&qps[1]), stash(&qps[2])), (16, 0));
}
