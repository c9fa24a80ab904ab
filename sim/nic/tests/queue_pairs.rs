//! Cards with 16,384 queue pairs: the last ones of them, whose low ten bits are those of queue pairs that a smaller card has. These tests build the model of that card, so
//! they are a campaign: `./stellar test --long profiles`.

use sim_nic::{host_ports, with_shape, CardReceives, CardSends, MixedNic, RtlNic, Shape};
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use sim_world::{NicKind, Plan, TransportPlan};
use stellar_wire::host::QpCounter;

const SHAPE: Shape = Shape::TwoPorts1024Qp16k;
/// Queue pairs, of both requester engines.
const QPS: u32 = 4;
/// Packets of each of them.
const PACKETS: u32 = 20;

/// Sends on the last queue pairs, and compares every byte. Each queue pair has counted its own packets at both ends.
fn the_last_queue_pairs_carry<N: NicKind>(transport: TransportPlan) {
    with_shape(SHAPE, || {
        let ports = host_ports(SHAPE);
        let topology = ports.topology(LEAF_SPINE_FILE, LEAF_SPINE).unwrap();
        let mut plan = Plan::new(topology, 1).unwrap();
        plan.transport = transport;
        plan.qps = QPS;
        plan.first_qp = (1 << SHAPE.queue_pair_bits()) - QPS;
        let transfer = Transfer {
            immediates: matches!(transport, TransportPlan::Mrc(_)),
            limit: 2_000_000_000,
            ..Transfer::whole(PACKETS << plan.mtu_log2)
        };
        let mut run = run::<N>(&plan, transfer).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(run.report.requester.packets, u64::from(QPS * PACKETS));
        assert_eq!(run.report.requester.retransmissions, 0);
        for qp in plan.numbers() {
            let sent = run.world.qp_counters(SENDER, qp).unwrap();
            assert_eq!(sent.get(QpCounter::PacketsSent), u64::from(PACKETS), "{qp}");
            let received = run.world.qp_counters(RECEIVER, qp).unwrap();
            let accepted = received.get(QpCounter::PacketsReceived);
            assert_eq!(accepted, u64::from(PACKETS), "{qp}");
        }
    });
}

#[test]
#[ignore = "builds the model of another card"]
fn the_last_queue_pairs_of_two_cards_carry_messages() {
    the_last_queue_pairs_carry::<RtlNic>(TransportPlan::Mrc(Default::default()));
    the_last_queue_pairs_carry::<RtlNic>(TransportPlan::Rc);
}

#[test]
#[ignore = "builds the model of another card"]
fn the_last_queue_pairs_of_a_card_and_of_the_reference_carry_messages() {
    let mrc = TransportPlan::Mrc(Default::default());
    the_last_queue_pairs_carry::<MixedNic<CardSends>>(mrc);
    the_last_queue_pairs_carry::<MixedNic<CardReceives>>(mrc);
}
