//! Interrupt messages that are taken back in front of the request stream.

use std::collections::VecDeque;

use hdl_pcie::requester::{MessageGate, RequestStream1024};
use hdl_testkit::equivalence::{check, Random};
use hdl_testkit::{tools, Dut};
use proptest::prelude::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use sim_bfm::RequestReader;
use stellar_wire::hw::dma::WriteTlpHeader;

/// A vector that may send at first.
const VECTOR: u64 = 37;
/// Most messages in the stream: see `INSIDE_BITS`.
const MOST: u64 = 13;

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    /// Messages and other writes of one beat, through a gate and a stream that stalls. What was taken back does not leave, everything else does, in its order,
    /// and the number of messages in the stream is known.
    #[test]
    fn what_is_taken_back_does_not_leave(seed: u64, ready in 1u32..8, masks in 2u32..40) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut stream = Dut::new::<RequestStream1024>();
        let mut gate = Dut::new::<MessageGate>();
        stream.reset(2);
        gate.reset(2);
        let mut reader = RequestReader::new(1024);
        let mut due = VecDeque::new();
        let (mut offered, mut inside, mut taken_back) = (None, 0, 0);
        let (mut permits, mut permitted, mut returned) = (true, false, false);
        for n in 1..1_500_u64 {
            permits ^= rng.random_ratio(1, masks);
            gate.set("permits", u64::from(permits) << VECTOR);
            let idle = n > 1_400;
            let (address_dw, message) = *offered.get_or_insert((n, !idle && rng.random_ratio(1, 3)));
            let header = WriteTlpHeader {
                address_dw: address_dw.to_bits(),
                length_dw: 1_u64.to_bits(),
                first_be: 15_u64.to_bits(),
                message,
                vector: if message { VECTOR } else { 0 }.to_bits(),
                ..WriteTlpHeader::default()
            };
            let valid = !idle;
            for (dut, port) in [(&mut stream, "write_header"), (&mut gate, "header")] {
                dut.set_record(port, header);
            }
            for port in ["write_valid", "write_first", "write_last"] {
                stream.set(port, valid.into());
            }
            gate.set("valid", valid.into());
            gate.settle();
            let revoked = gate.is("revoked");
            prop_assert_eq!(revoked, message && !permitted);
            prop_assert_eq!(gate.is("returned_valid"), returned);
            stream.set("revoked", revoked.into());
            stream.set("rq_tready", (idle || rng.random_ratio(ready, 8)).into());
            stream.settle();
            let left = stream.get("messages_left");
            prop_assert!(gate.get("waiting") == inside && inside <= MOST && left <= inside);
            gate.set("ready", stream.get("write_ready"));
            gate.set("left", left);
            inside -= left;
            if valid && stream.is("write_ready") {
                offered = None;
                if revoked {
                    taken_back += 1;
                } else {
                    due.push_back(4 * address_dw);
                    inside += u64::from(message);
                }
            }
            prop_assert!(!(valid && revoked) || offered.is_none(), "a masked message waits");
            if stream.moves("rq_tvalid", "rq_tready") {
                let requests = reader.push(&stream.words("rq_tdata"), &stream.words("rq_tuser"));
                for request in requests.unwrap().complete {
                    prop_assert_eq!(Some(request.descriptor.address), due.pop_front());
                }
            }
            returned = valid && revoked;
            permitted = permits;
            stream.clock();
            gate.clock();
        }
        prop_assert!(due.is_empty() && inside == 0 && taken_back > 0);
    }
}

#[test]
fn its_simulations_agree() {
    check(
        MessageGate::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.reset.next = rng.random_ratio(1, 100);
            uut.permits.next = Bits::random(rng);
            uut.valid.next = Bit::random(rng);
            uut.header.next.message = Bit::random(rng);
            uut.header.next.vector = Bits::random(rng);
            uut.ready.next = Bit::random(rng);
            uut.left.next = rng.random_range(0..2_u64).to_bits();
        },
        500,
        12,
    )
    .unwrap();
}

#[test]
fn the_tools_take_it() {
    tools::assert_clean::<MessageGate>();
}
