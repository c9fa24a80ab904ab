//! Round trips of messages, and bytes that are not messages.

use std::net::IpAddr;

use proptest::prelude::*;

use super::*;

fn port() -> impl Strategy<Value = Port> {
    (any::<[u8; 6]>(), any::<IpAddr>()).prop_map(|(mac, ip)| Port { mac, ip })
}

fn path() -> impl Strategy<Value = Path> {
    let codes = (
        prop::sample::select(&PathPolicy::ALL[..]),
        prop::sample::select(SkipMarked::ALL),
    );
    let numbers = any::<(u8, u64, u32, bool, u8, u64)>();
    (codes, numbers).prop_map(|((policy, skip), numbers)| {
        let (mtu_log2, base_rtt, gbps, trimming, paths, probe_interval) = numbers;
        Path {
            mtu_log2,
            base_rtt,
            gbps,
            trimming,
            policy,
            paths,
            skip,
            probe_interval,
        }
    })
}

fn step() -> impl Strategy<Value = Step> {
    let ready = (any::<(u32, u32, u16, bool, u8)>(), [port(), port()], path());
    let ready = ready.prop_map(
        |((qp, psn, max_write_imm, imm_completions, sack_every), ports, path)| {
            Step::Rtr(ReadyToReceive {
                qp,
                psn,
                ports,
                path,
                max_write_imm,
                imm_completions,
                sack_every,
            })
        },
    );
    let backoff = prop::sample::select(RetryBackoff::ALL);
    let send = (any::<(u32, u64, u8, u16, u16)>(), backoff);
    let send = send.prop_map(
        |((psn, timeout, retry_count, window, early_loss), backoff)| Step::Rts {
            psn,
            timeout,
            backoff,
            retry_count,
            window,
            early_loss,
        },
    );
    let init = any::<(u16, bool)>();
    let init = init.prop_map(|(pkey, remote_write)| Step::Init { pkey, remote_write });
    prop_oneof![Just(Step::Reset), Just(Step::Error), init, ready, send]
}

fn request() -> impl Strategy<Value = Request> {
    let region = any::<(u32, bool, bool, bool, u64, u32, u64)>();
    let region = region.prop_map(
        |(pd, huge, remote_write, remote_read, address, pages, list)| {
            Request::RegisterMr(RegisterMr {
                pd,
                page_log2: if huge { 21 } else { 12 },
                remote_write,
                remote_read,
                address,
                pages,
                list,
            })
        },
    );
    let qp = any::<(u32, u32, u64, u32, u64)>();
    let qp = qp.prop_map(|(pd, cq, send_ring, send_entries, completion_ring)| {
        Request::CreateQp(CreateQp {
            pd,
            cq,
            send_ring,
            send_entries,
            completion_ring,
        })
    });
    let plain = (any::<u32>(), 0usize..10).prop_map(|(handle, which)| {
        [
            Request::QueryDevice,
            Request::AllocPd,
            Request::QueryCounters,
            Request::NextEvent,
            Request::DeallocPd { pd: handle },
            Request::DeregisterMr { key: handle },
            Request::CreateCq { entries: handle },
            Request::DestroyCq { cq: handle },
            Request::QueryQp { qp: handle },
            Request::DestroyQp { qp: handle },
        ][which]
    });
    let modify = (any::<u32>(), step()).prop_map(|(qp, step)| Request::ModifyQp { qp, step });
    let path = any::<(u32, u8, bool)>();
    let path = path.prop_map(|(qp, index, denied)| Request::UsePath { qp, index, denied });
    let counts = any::<(u32, u8)>();
    let counts = counts.prop_map(|(qp, first)| Request::QueryPaths { qp, first });
    prop_oneof![plain, region, qp, modify, path, counts]
}

proptest! {
    /// A request is decoded unchanged, also with space behind it. Every truncated request is refused as too short.
    #[test]
    fn a_request_comes_back_and_no_part_of_it_is_one(request in request(), cut in any::<prop::sample::Index>()) {
        let mut bytes = request.to_bytes();
        prop_assert!(bytes.len() <= MOST_REQUEST);
        let cut = cut.index(bytes.len());
        let refused = Request::from_bytes(&bytes[..cut]);
        let is_short = matches!(refused, Err(Malformed::Short { have, need }) if have == cut && need > cut);
        prop_assert!(is_short, "{refused:?}");
        bytes.push(0xff);
        prop_assert_eq!(Request::from_bytes(&bytes), Ok(request));
    }

    /// Whatever a guest writes, reading it does not panic.
    #[test]
    fn any_bytes_are_a_request_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..160), code in 0u8..18) {
        let mut bytes = bytes;
        if let [low, high, ..] = &mut bytes[..] {
            (*low, *high) = (code, 0);
        }
        if let Ok(request) = Request::from_bytes(&bytes) {
            prop_assert_eq!(Request::from_bytes(&request.to_bytes()), Ok(request));
        }
    }

    #[test]
    fn an_answer_comes_back(ports in [port(), port()], fields in any::<[u32; 6]>(), doorbell_offset: u64, counters in any::<[u64; 5]>()) {
        let [device, domains, regions, pages, completion_queues, queue_pairs] = fields;
        let quota = GuestQuota { domains, regions, pages, completion_queues, queue_pairs };
        let [done, refused, unanswerable, doorbells_refused, window_faults] = counters;
        let counters = GuestCounters { done, refused, unanswerable, doorbells_refused, window_faults };
        let event = GuestEvent { kind: Event::CompletionLost, qp: device, data: done };
        let path = |index| GuestPathCounts { index, sent: done, marked: refused, lost: u64::from(index) };
        let paths = |most: usize| GuestPaths { all: 144, paths: (0..144).map(path).take(most).collect() };
        let longest = Answer::to_bytes(Ok(&Answer::Paths(paths(144))));
        prop_assert_eq!(longest.len(), LONGEST_ANSWER);
        prop_assert_eq!(Answer::from_bytes(&longest, Opcode::QueryPaths), Ok(Ok(Answer::Paths(paths(144)))));
        let cut = Answer::from_bytes(&longest[..LONGEST_ANSWER - 1], Opcode::QueryPaths);
        prop_assert!(matches!(cut, Err(Malformed::Short { .. })), "{cut:?}");
        for (asked, answer) in [
            (Opcode::DestroyQp, Answer::Done),
            (Opcode::CreateQp, Answer::Handle(device)),
            (Opcode::QueryDevice, Answer::Device(DeviceInfo { device, quota, doorbell_offset, ports })),
            (Opcode::QueryQp, Answer::State(GuestQpState::Rts)),
            (Opcode::QueryCounters, Answer::Counters(counters)),
            (Opcode::QueryPaths, Answer::Paths(paths(GuestPaths::most(MOST_ANSWER)))),
            (Opcode::NextEvent, Answer::Event(None)),
            (Opcode::NextEvent, Answer::Event(Some(event))),
        ] {
            let bytes = Answer::to_bytes(Ok(&answer));
            prop_assert!(bytes.len() <= MOST_ANSWER);
            prop_assert_eq!(Answer::from_bytes(&bytes, asked), Ok(Ok(answer)));
        }
    }
}

#[test]
fn fields_that_cannot_be_are_named() {
    let said = |bytes: &[u8]| Request::from_bytes(bytes).unwrap_err().to_string();
    assert_eq!(
        said(&[0x0d, 1, 0, 0, 0, 0, 0, 0]),
        "opcode 0x010d is not defined"
    );
    assert_eq!(said(&[8, 0]), "the message has 2 bytes; its fields need 8");
    let step = Step::Init {
        pkey: 1,
        remote_write: true,
    };
    let mut bytes = Request::ModifyQp { qp: 2, step }.to_bytes();
    let last = bytes.len() - 1;
    bytes[last] = 2;
    assert_eq!(said(&bytes), "step.remote_write: value 0x2 is not defined");
    bytes[HEADER + 4] = 9;
    assert_eq!(said(&bytes), "step.state: value 0x9 is not defined");
    let status = Answer::from_bytes(&[0xff; 8], Opcode::AllocPd).unwrap_err();
    assert_eq!(status.to_string(), "status: value 0xffff is not defined");
    for &status in &Status::ALL[1..] {
        let bytes = Answer::to_bytes(Err(status));
        assert_eq!(
            Answer::from_bytes(&bytes, Opcode::QueryDevice),
            Ok(Err(status))
        );
    }
}

/// The places that the tables of this module's documentation promise.
#[test]
fn fields_are_at_their_documented_places() {
    let qp = CreateQp {
        pd: 1,
        cq: 2,
        send_ring: 3,
        send_entries: 4,
        completion_ring: 5,
    };
    let bytes = Request::CreateQp(qp).to_bytes();
    let words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect();
    assert_eq!(words, [8, 2 << 32 | 1, 3, 4, 5]);
    let path = GuestPathCounts {
        index: 6,
        sent: 7,
        marked: 8,
        lost: 9,
    };
    let paths = vec![path];
    let bytes = Answer::to_bytes(Ok(&Answer::Paths(GuestPaths { all: 12, paths })));
    let words = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    assert_eq!(words.collect::<Vec<_>>(), [0, 1 << 8 | 12, 6, 7, 8, 9]);
    assert_eq!(
        Answer::to_bytes(Err(Status::Quota)),
        [5, 0, 0, 0, 0, 0, 0, 0]
    );
}
