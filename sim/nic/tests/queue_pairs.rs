//! Cards with 16,384 and 65,536 queue pairs: the last ones of them, whose low ten bits are those of queue pairs that a smaller card has. These tests build the models of
//! those cards, so they are a campaign: `./stellar test --long profiles`.

use sim_nic::{host_ports, with_shape, CardReceives, CardSends, MixedNic, RtlNic, Shape};
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{NicKind, Plan, TransportPlan};
use stellar_wire::config::counted_bits;
use stellar_wire::host::QpCounter;

/// Queue pairs, of both requester engines.
const QPS: u32 = 4;
/// Packets of each of them.
const PACKETS: u32 = 20;

/// Sends on the last queue pairs.
fn the_last_queue_pairs_carry<N: NicKind>(
    shape: Shape,
    transport: TransportPlan,
    counted: [u32; 2],
) {
    queue_pairs_carry::<N>(
        shape,
        (1 << shape.queue_pair_bits()) - QPS,
        transport,
        counted,
    );
}

/// Sends on the queue pairs from `first` on, and compares every byte. The sender keeps counters for the first `counted[0]` queue pairs, the receiver for the first `counted[1]`:
/// those of others read as zero.
fn queue_pairs_carry<N: NicKind>(
    shape: Shape,
    first: u32,
    transport: TransportPlan,
    counted: [u32; 2],
) {
    with_shape(shape, || {
        let ports = host_ports(shape);
        let topology = ports.topology(LEAF_SPINE_FILE, LEAF_SPINE).unwrap();
        let mut plan = Plan::new(topology, 1).unwrap();
        plan.transport = transport;
        plan.qps = QPS;
        plan.first_qp = first;
        let transfer = Transfer {
            immediates: matches!(transport, TransportPlan::Mrc(_)),
            limit: 2_000_000_000,
            ..Transfer::whole(PACKETS << plan.mtu_log2)
        };
        let mut run = run::<N>(&plan, transfer).unwrap_or_else(|error| panic!("{error}"));
        let packets = |qp: u32, end: usize| u64::from(if qp < counted[end] { PACKETS } else { 0 });
        let all: u64 = plan.numbers().map(|qp| packets(qp, 0)).sum();
        assert_eq!(run.report.requester.packets, all);
        assert_eq!(run.report.requester.retransmissions, 0);
        for qp in plan.numbers() {
            let sent = run.world.qp_counters(SENDER, qp).unwrap();
            assert_eq!(sent.get(QpCounter::PacketsSent), packets(qp, 0), "{qp}");
            let received = run.world.qp_counters(RECEIVER, qp).unwrap();
            let accepted = received.get(QpCounter::PacketsReceived);
            assert_eq!(accepted, packets(qp, 1), "{qp}");
        }
    });
}

const QP_16K: Shape = Shape::TwoPorts1024Qp16k;
const QP_64K: Shape = Shape::TwoPorts1024Qp64k;
/// Queue pairs that have counters: all, as in the reference, and those of a card with 65,536.
const ALL: u32 = u32::MAX;
const OF_64K: u32 = 1 << counted_bits(QP_64K.queue_pair_bits());

fn mrc() -> TransportPlan {
    TransportPlan::Mrc(Default::default())
}

#[test]
#[ignore = "builds the model of another card"]
fn the_last_queue_pairs_of_two_cards_carry_messages() {
    for transport in [mrc(), TransportPlan::Rc] {
        the_last_queue_pairs_carry::<RtlNic>(QP_16K, transport, [ALL, ALL]);
    }
}

#[test]
#[ignore = "builds the model of another card"]
fn the_last_queue_pairs_of_a_card_and_of_the_reference_carry_messages() {
    the_last_queue_pairs_carry::<MixedNic<CardSends>>(QP_16K, mrc(), [ALL, ALL]);
    the_last_queue_pairs_carry::<MixedNic<CardReceives>>(QP_16K, mrc(), [ALL, ALL]);
}

#[test]
#[ignore = "builds the model of another card"]
fn the_last_of_65_536_queue_pairs_carry_messages() {
    for transport in [mrc(), TransportPlan::Rc] {
        the_last_queue_pairs_carry::<RtlNic>(QP_64K, transport, [OF_64K, OF_64K]);
    }
    the_last_queue_pairs_carry::<MixedNic<CardSends>>(QP_64K, mrc(), [OF_64K, ALL]);
    the_last_queue_pairs_carry::<MixedNic<CardReceives>>(QP_64K, mrc(), [ALL, OF_64K]);
}

#[test]
#[ignore = "builds the model of another card"]
fn some_of_65_536_queue_pairs_have_counters() {
    queue_pairs_carry::<RtlNic>(QP_64K, OF_64K - QPS / 2, mrc(), [OF_64K, OF_64K]);
}
