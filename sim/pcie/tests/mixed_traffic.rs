//! Random reads and writes through small queues, with random delays: all of them finish, and looking at the fabric in between changes nothing.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sim_pcie::*;

use crate::common::{submit_when_ready, write};
use crate::traffic::{config, map_memories, IOVA, NICS};

/// A request of a NIC to host memory (0) or a GPU (1 and 2), in a page that only this request uses.
#[derive(Clone, Debug)]
struct Request {
    nic: usize,
    target: u64,
    is_read: bool,
    bytes: usize,
}

fn request() -> impl Strategy<Value = Request> {
    (0usize..2, 0u64..3, any::<bool>(), 1usize..=4096).prop_map(|(nic, target, is_read, bytes)| {
        let bytes = if is_read { bytes } else { 1 + bytes % 256 };
        Request {
            nic,
            target,
            is_read,
            bytes,
        }
    })
}

/// A fabric with queues of `buffers` TLPs, and delays of up to 2 us everywhere.
fn slow_fabric(buffers: usize, seed: u64) -> Fabric {
    let late = DelayConfig::between(0, 2_000_000);
    let completer = CompleterConfig {
        posted_delay: late,
        read_delay: late,
        interleave: true,
        outstanding_reads: buffers,
        ..CompleterConfig::default()
    };
    let mut config = config(buffers);
    config.seed = seed;
    config.root_complex.completer = completer.clone();
    for nic in &mut config.nics {
        nic.posted_delay = late;
    }
    for gpu in &mut config.gpus {
        gpu.completer = completer.clone();
    }
    map_memories(Fabric::new(config).unwrap())
}

/// Submits everything and waits until it is done, with a look every `look` picoseconds; returns the fabric and what each read got.
fn run(
    requests: &[Request],
    buffers: usize,
    seed: u64,
    look: Picoseconds,
) -> (Fabric, BTreeMap<(usize, u16), usize>) {
    let mut fabric = slow_fabric(buffers, seed);
    let mut now = 0;
    for (n, request) in requests.iter().enumerate() {
        let address = IOVA + request.target * (1 << 24) + n as u64 * 4096;
        let at = AddressType::Untranslated;
        let requester = NICS[request.nic];
        let tlp = if request.is_read {
            let read = MemRead::of_bytes(requester, n as u16, address, at, request.bytes);
            Tlp::Read(read.unwrap())
        } else {
            write(requester, address, at, &vec![1; request.bytes])
        };
        now = submit_when_ready(&mut fabric, now, PortId(request.nic), tlp);
        fabric.advance(now + look % 1000).unwrap();
        now += 1000;
    }
    while fabric.next_event().is_some() {
        now += look;
        fabric.advance(now).unwrap();
    }
    let mut got = BTreeMap::new();
    for nic in 0..2 {
        while let Some(received) = fabric.take_received(PortId(nic)).unwrap() {
            let Tlp::Completion(completion) = received.tlp else {
                panic!("a NIC got {received:?}");
            };
            *got.entry((nic, completion.tag)).or_default() += completion.data.len();
        }
    }
    (fabric, got)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn everything_finishes(
        requests in proptest::collection::vec(request(), 1..60), buffers in 1usize..4, seed: u64,
    ) {
        let (fabric, got) = run(&requests, buffers, seed, 100_000);
        let reads = requests.iter().enumerate().filter(|(_, request)| request.is_read);
        let expected = reads.map(|(n, request)| ((request.nic, n as u16), request.bytes.next_multiple_of(4)));
        prop_assert_eq!(got, expected.collect::<BTreeMap<_, _>>());
        let written: u64 = (0..3).map(|target| match target {
            0 => fabric.host().touched_bytes(),
            gpu => fabric.gpu(gpu - 1).touched_bytes(),
        }).sum();
        let writes = requests.iter().filter(|request| !request.is_read);
        prop_assert_eq!(written, writes.map(|request| request.bytes as u64).sum::<u64>());
        prop_assert_eq!(fabric.counters().refusals().count(), 0);
    }

    #[test]
    fn looking_more_often_changes_nothing(
        requests in proptest::collection::vec(request(), 1..40), buffers in 1usize..4, seed: u64, look in 1000u64..9999,
    ) {
        let (one, got_one) = run(&requests, buffers, seed, 1_000_000);
        let (two, got_two) = run(&requests, buffers, seed, look);
        prop_assert_eq!(got_one, got_two);
        prop_assert_eq!(one.writes_log(), two.writes_log());
    }
}
