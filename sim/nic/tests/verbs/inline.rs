//! Inline data: send queue entries of 64 and 128 bytes.

use super::*;

/// Work requests of a round: all entries of a send queue of 8.
const LIST: usize = 8;

/// Every length in random order, in lists that fill the send queue. `pushed`: with their doorbells, as far as these carry them.
fn every_length_arrives(transport: Transport, inline_bytes: u32, pushed: bool) {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let config = QueuePairConfig {
        send_entries: LIST as u32,
        inline_bytes,
        transport,
    };
    let (qa, qb) = (a.pd.create_qp(&a.cq, config).unwrap(), b.qp_over(transport));
    match transport {
        Transport::Mrc => connect([&qa, &qb], 0xff_ffe0),
        Transport::Rc => connect_by(1, [&qa, &qb], 0xff_ffe0),
    }
    let lengths = inline_bytes as usize + 1;
    // What is written to a place has 64 bytes at most.
    let target = b.region(64 * lengths, true);
    let to = target.remote();
    let mut expected = vec![0; 64 * lengths];
    let order: Vec<usize> = (0..lengths).map(|i| i * 29 % lengths).collect();
    for list in order.chunks(LIST) {
        for &length in list {
            let data = pattern(length, length as u8);
            let at = 64 * length;
            expected[at..at + length].copy_from_slice(&data);
            let address = to.address + at as u64;
            let write = WorkRequest::write(at as u64, Source::Inline(&data), address, to.rkey);
            let write = if pushed { write.pushed() } else { write };
            qa.post_send(&write).unwrap();
        }
        let done = list.iter().map(|&at| (64 * at as u64, WcStatus::Success));
        assert_eq!(ends(&a.completions(list.len())), Vec::from_iter(done));
    }
    assert!(bytes(&target) == expected, "other bytes arrived");
}

#[test]
fn entries_of_64_bytes_carry_32_inline() {
    every_length_arrives(Transport::Mrc, 32, false);
    every_length_arrives(Transport::Mrc, 32, true);
}

#[test]
fn entries_of_128_bytes_carry_64_inline() {
    every_length_arrives(Transport::Mrc, 64, false);
    every_length_arrives(Transport::Rc, 64, false);
}

#[test]
fn entries_of_128_bytes_are_pushed_if_the_doorbell_carries_all_of_them() {
    every_length_arrives(Transport::Mrc, 64, true);
}

/// A queue pair number may come back with entries of another size.
#[test]
fn a_queue_pair_in_reset_can_be_followed_by_one_with_other_entries() {
    for (inline_bytes, pushed) in [(64, true), (32, false), (64, false), (32, true)] {
        every_length_arrives(Transport::Mrc, inline_bytes, pushed);
    }
}

/// Entries of both sizes, and payload from memory, in the same card at the same time.
#[test]
fn queue_pairs_with_entries_of_both_sizes_do_not_disturb_each_other() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let source = a.region(4096, false);
    let sent = pattern(4096, 0x33);
    source.memory().unwrap().write(0, &sent).unwrap();
    let qps: Vec<_> = (0..6)
        .map(|i| {
            let config = QueuePairConfig {
                send_entries: 8,
                inline_bytes: if i % 3 == 0 { 32 } else { 64 },
                ..QueuePairConfig::default()
            };
            let qps = (a.pd.create_qp(&a.cq, config).unwrap(), b.qp());
            connect([&qps.0, &qps.1], 100 * i);
            qps
        })
        .collect();
    let target = b.region(6 * 8 * 256, true);
    let to = target.remote();
    let mut expected = vec![0; 6 * 8 * 256];
    for entry in 0..8 {
        for (i, (qa, _)) in qps.iter().enumerate() {
            let at = 256 * (8 * i + entry);
            let most = if i % 3 == 0 { 32 } else { 64 };
            let inline = &sent[at % 1000..][..most - entry];
            let (from, data) = match entry % 2 {
                0 => (Source::Inline(inline), inline),
                _ => {
                    let memory = source.slice(at as u64 % 1000, 200).unwrap();
                    (memory, &sent[at % 1000..][..200])
                }
            };
            expected[at..at + data.len()].copy_from_slice(data);
            let write = WorkRequest::write(at as u64, from, to.address + at as u64, to.rkey);
            qa.post_send(&write).unwrap();
        }
    }
    let done = a.completions(48);
    assert!(done.iter().all(|one| one.status == WcStatus::Success));
    assert!(bytes(&target) == expected, "other bytes arrived");
}
