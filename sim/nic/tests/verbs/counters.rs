//! Counters of queue pairs, read by the driver.

use sim_net::Topology;
use sim_nic::FabricPair;
use sim_world::Plan;
use stellar_driver::*;
use stellar_transport::requester::RequesterCounters;

use super::hosts::*;

const CABLES: &str = "[defaults]\nrate_gbps = 200\ndelay_ns = 15\nloss = 0.02\njitter_ns = 500\n[back_to_back]\nplanes = 2\n";

#[test]
fn the_driver_reads_what_the_card_counts() {
    let topology = Topology::from_toml("counters", CABLES).unwrap();
    let pair = FabricPair::new(&Plan::new(topology, 5).unwrap()).unwrap();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    let qps = [Transport::Mrc, Transport::Rc, Transport::Mrc]
        .map(|transport| [a.qp_over(transport), b.qp_over(transport)]);
    let (source, target) = (a.region(1 << 18, false), b.region(1 << 18, true));
    let to = target.remote();
    for [qa, qb] in &qps {
        connect([qa, qb], 0xff_fff0);
    }
    // The last one stays idle.
    for [qa, _] in &qps[..2] {
        let slice = source.slice(0, 1 << 18).unwrap();
        let write = WorkRequest::write(1, slice, to.address, to.rkey);
        qa.post_send(&write).unwrap();
        assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    }
    pair.run(10_000);
    for [qa, qb] in &qps {
        for (host, qp) in [(0, qa), (1, qb)] {
            let counters = qp.counters().unwrap();
            let pulses = pair.pulses(host, qp.number());
            let found = RequesterCounters::from(&counters);
            assert_eq!(found, pulses, "queue pair {} of host {host}", qp.number());
        }
    }
    let [[mrc, mrc_peer], [rc, rc_peer], [idle, _]] = &qps;
    for (qp, peer) in [(mrc, mrc_peer), (rc, rc_peer)] {
        let (sent, received) = (qp.counters().unwrap(), peer.counters().unwrap());
        assert!(sent.get(QpCounter::Retransmissions) > 0, "{sent:?}");
        assert_eq!(received.get(QpCounter::BytesReceived), 1 << 18);
        let again = sent.get(QpCounter::PacketsSent) - received.get(QpCounter::PacketsReceived);
        assert!(again > 0 && again <= sent.get(QpCounter::Retransmissions));
    }
    assert!(mrc_peer.counters().unwrap().get(QpCounter::OutOfOrder) > 0);
    assert!(rc_peer.counters().unwrap().get(QpCounter::NaksSequence) > 0);
    assert!(idle.counters().unwrap().is_zero());

    // The same by number, from a probe that did not bring the card up.
    let probe = Probe::new(pair.function(0)).unwrap();
    let found = probe.qp_counters(mrc.number()).unwrap();
    assert_eq!(found, mrc.counters().unwrap());
    let active = probe.active_qp_counters().unwrap();
    let numbers: Vec<u32> = active.iter().map(|(qp, _)| *qp).collect();
    assert_eq!(numbers, [mrc.number(), rc.number()]);
    assert!(matches!(
        probe.qp_counters(1024),
        Err(Error::NoQueuePair {
            qp: 1024,
            queue_pairs: 1024
        })
    ));

    // An error keeps the counters; the next connection begins at zero.
    for qp in [mrc, mrc_peer] {
        let before = qp.counters().unwrap();
        qp.modify(Modify::Error).unwrap();
        assert_eq!(qp.counters().unwrap(), before);
        qp.modify(Modify::Reset).unwrap();
    }
    connect([mrc, mrc_peer], 9);
    for qp in [mrc, mrc_peer] {
        assert!(qp.counters().unwrap().is_zero());
    }
    assert!(!rc.counters().unwrap().is_zero());
}
