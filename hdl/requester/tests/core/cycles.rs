//! Measures the cycles of operations when all neighbouring blocks are always ready.

use stellar_transport::rx::Psn;
use stellar_transport::time::Ticks;
use stellar_wire::host::{Wqe, WqeOpcode};

use crate::core::rc::{acknowledgement, ACK, SEQUENCE_NAK};
use crate::core::rig::{Observed, Rig};
use crate::core::setup::{tables, Kinds, Pair, LKEY, QPS};

/// An RC queue pair, and one that uses MRC.
const QP: u32 = QPS - 1;
const MRC_QP: u32 = 0;
/// First PSN of both.
const FIRST: Psn = Psn::new(0xff_ffe0);
/// Window of 1,024 packets, path MTU 1,024, port 0.
const REGISTERS: u64 = 3 << 17 | 3 << 20 | 3 << 22 | 1 << 30;

/// Window of 1,024 packets, path MTU 256, OBS.
const MRC_REGISTERS: u64 = 1 | 1 << 17;

/// Cycles of a burst in addition to one per packet, one of them because the engine is idle before it: of new packets of one message, of two messages, and of retransmissions with two outstanding messages.
const NEW: u32 = 14;
const NEW_OF_TWO: u32 = 21;
const AGAIN: u32 = 20;
/// And if the burst begins inside of a message: the message table begins with the next one, and corrects itself.
const INSIDE: u32 = 1;

/// Returns the RC queue pair with `messages` of 20 packets posted.
fn posted(messages: u16) -> Rig {
    posted_to(QP, REGISTERS, messages)
}

/// Returns a queue pair with `messages` of 20 KiB posted.
fn posted_to(qp: u32, registers: u64, messages: u16) -> Rig {
    let mut rig = Rig::new(tables());
    rig.steady = true;
    let pair = Pair::new(qp, registers, Ticks(0), &mut rig, Kinds::Mixed);
    for slot in 0..messages {
        let wqe = Wqe {
            opcode: WqeOpcode::Write,
            signaled: true,
            slot,
            length: 20 << 10,
            local_va: 0x10_0000,
            lkey: LKEY,
            ..Wqe::default()
        };
        rig.entries
            .0
            .insert(pair.ring.address_of(slot), wqe.to_bytes());
    }
    rig.doorbell(qp, messages, None);
    rig.settle();
    rig
}

fn answer(rig: &mut Rig, ahead: u32, syndrome: u8) -> Observed {
    let control = acknowledgement(QP as usize, FIRST.plus(ahead), syndrome);
    rig.control(control, 0)
}

/// Sends a burst of `packets`. It must take at most one cycle per packet, and `beside` further cycles.
fn sends(rig: &mut Rig, packets: usize, beside: u32) {
    let observed = rig.transmit(QP, 0, 0);
    rig.settle();
    println!(
        "{} packets in {} cycles",
        observed.tx.len(),
        observed.cycles
    );
    assert_eq!(observed.tx.len(), packets);
    let most = packets as u32 + beside;
    assert!(
        observed.cycles <= most,
        "{} cycles instead of {most}",
        observed.cycles
    );
}

#[test]
fn a_burst_takes_a_clock_for_each_packet_and_a_few_for_all() {
    let mut rig = posted(2);
    sends(&mut rig, 16, NEW);
    // The rest of the first message, and 12 packets of the second one.
    sends(&mut rig, 16, NEW_OF_TWO + INSIDE);
    sends(&mut rig, 8, NEW + INSIDE);
    // Two messages are outstanding, and the first one has to be found.
    answer(&mut rig, 3, SEQUENCE_NAK);
    sends(&mut rig, 16, AGAIN);
}

#[test]
fn an_acknowledgement_takes_a_few_cycles() {
    let mut rig = posted(1);
    sends(&mut rig, 16, NEW);
    sends(&mut rig, 4, NEW + INSIDE);
    let cycles = [(3, ACK), (5, SEQUENCE_NAK), (19, ACK)].map(|(ahead, syndrome)| {
        let observed = answer(&mut rig, ahead, syndrome);
        (observed.cycles, observed.cqes.len())
    });
    assert_eq!(cycles, [(11, 0), (11, 0), (11, 1)]);
}

/// The engine is idle before each operation, and has served, and would serve, another queue pair. So the rows of the operation are read after it was chosen.
#[test]
fn an_operation_of_another_queue_pair_takes_no_longer() {
    let mut rig = posted(1);
    sends(&mut rig, 16, NEW);
    rig.transmit(MRC_QP, 0, 0);
    assert_eq!(answer(&mut rig, 3, ACK).cycles, 11);
    rig.transmit(MRC_QP, 0, 0);
    assert_eq!(rig.doorbell(QP, 1, None).cycles, 6);
    rig.transmit(MRC_QP, 0, 0);
    sends(&mut rig, 4, NEW + INSIDE);
}

/// Most timers expire in a queue pair that loses nothing: its deadline is that of a packet which has been acknowledged since.
#[test]
fn a_timer_with_nothing_late_does_not_take_longer_the_more_is_in_flight() {
    let cycles = [1, 4].map(|bursts| {
        let mut rig = posted_to(MRC_QP, MRC_REGISTERS, 4);
        let mut packets = 0;
        for burst in 0..bursts {
            packets += rig.transmit(MRC_QP, burst % 2, 0).tx.len();
            rig.settle();
        }
        let observed = rig.timer(MRC_QP, 1);
        println!("{packets} packets in flight: {} cycles", observed.cycles);
        assert!(packets >= 32 * usize::from(bursts) / 2);
        observed.cycles
    });
    assert_eq!(cycles[0], cycles[1]);
    assert!(cycles[0] <= 15, "{cycles:?}");
}
