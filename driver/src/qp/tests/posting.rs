//! Tests which work requests are posted, which are refused, and how they complete.

use std::time::Duration;

use stellar_wire::host::config_space::PAGE_BYTES;
use stellar_wire::host::{ConsumerIndex, Cqe, CqeOpcode, Doorbell, Wqe, WqeSize};

use super::*;

proptest! {
    /// The card completes in order, and sometimes one completion stands for several entries. Every posted entry must be in the right place and name
    /// the right slot, and every completion must free the entries up to its own. The test covers many rounds of the ring and of its 16-bit index.
    #[test]
    fn the_send_queue_wraps(
        log2_entries in 1u32..5,
        before in prop::sample::select(vec![0u32, 65_530]),
        steps in prop::collection::vec((1u32..6, 0u32..6), 1..40),
    ) {
        let entries = 1 << log2_entries;
        let mut work = Work::new(entries);
        let bench = bench();
        let size = WqeSize::Bytes64;
        let ready = |slot| WorkRequest::nop(0).ready(&bench.pd.0, slot, size).unwrap();
        for _ in 0..before {
            work.push(ready(work.producer()));
            work.free(2, work.producer()).unwrap();
        }
        let (mut posted, mut freed) = (before, before);
        for (posts, completes) in steps {
            for _ in 0..posts {
                let room = work.check_room().is_ok();
                prop_assert_eq!(room, posted - freed < entries);
                if room {
                    prop_assert_eq!(work.producer(), posted as u16);
                    prop_assert_eq!(work.place(), (posted % entries) as usize);
                    let ready = ready(work.producer());
                    prop_assert_eq!(ready.wqe.slot, posted as u16);
                    work.push(ready);
                    posted += 1;
                }
            }
            let head = freed + completes;
            let possible = head <= posted;
            prop_assert_eq!(work.free(2, head as u16).is_ok(), possible);
            if possible {
                freed = head;
            }
            prop_assert_eq!(work.len() as u32, posted - freed);
        }
    }
}

#[test]
fn what_the_card_cannot_do_is_refused_by_name() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    to_rts(&qp);
    bench.function.take_doorbells();
    let post = |request: &WorkRequest<'_>| qp.post_send(request).unwrap_err();
    for opcode in [
        WrOpcode::Send,
        WrOpcode::RdmaRead,
        WrOpcode::AtomicFetchAndAdd,
    ] {
        let request = WorkRequest {
            opcode,
            ..WorkRequest::nop(1)
        };
        assert!(matches!(post(&request), PostError::Opcode(named) if named == opcode));
    }
    let long = WorkRequest::write(1, Source::Inline(&[0; 33]), 0, 0);
    assert_eq!(
        post(&long).to_string(),
        "33 bytes inline; an entry of this queue pair holds at most 32 (`QueuePairConfig::inline_bytes`, up to 64)"
    );
    let region = bench.region();
    let beyond = Source::Region {
        region: &region,
        offset: 4000,
        length: 97,
    };
    assert!(region.slice(4000, 97).is_err());
    let beyond = WorkRequest::write(1, beyond, 0, 0);
    assert!(matches!(
        post(&beyond),
        PostError::Bounds { have: 4096, .. }
    ));
    let other = bench.context.alloc_pd().unwrap();
    let memory = bench.context.alloc(64).unwrap();
    let foreign = other.register(memory, AccessFlags::default()).unwrap();
    let foreign = WorkRequest::write(1, foreign.slice(0, 1).unwrap(), 0, 0);
    assert!(matches!(post(&foreign), PostError::Domain));
    assert_eq!(qp.outstanding(), 0);
    assert!(bench.function.take_doorbells().is_empty());

    qp.post_send(&WorkRequest::nop(1)).unwrap();
    let doorbell = Doorbell {
        qp: qp.number(),
        producer: 1,
    };
    let word = u64::from_le_bytes(doorbell.to_bytes());
    let slot = Doorbell::slot(0).into();
    assert_eq!(bench.function.take_doorbells(), [(slot, word)]);
}

/// Each queue pair has a slot. A queue pair for which no slot is left uses the first words of the page.
#[test]
fn queue_pairs_of_a_page_ring_apart() {
    let bench = bench();
    let cq = bench.context.create_cq(4, true).unwrap();
    let create = || bench.pd.create_qp(&cq, config(2)).unwrap();
    let mut qps: Vec<_> = (0..=Doorbell::SLOT_COUNT).map(|_| create()).collect();
    qps.iter().for_each(to_rts);
    let page = u64::from(bench.context.page()) * PAGE_BYTES;
    let places = |act: &dyn Fn()| -> Vec<u64> {
        bench.function.take_doorbells();
        act();
        let rung = bench.function.take_doorbells();
        rung.iter().map(|(at, _)| at - page).collect()
    };
    let posts = |qp: &QueuePair| qp.post_send(&WorkRequest::nop(1)).unwrap();
    let expected = |slot: fn(u16) -> u16, last: u16| -> Vec<u64> {
        let slots = (0..Doorbell::SLOT_COUNT).map(slot);
        slots.chain([last]).map(u64::from).collect()
    };
    assert_eq!(
        places(&|| qps.iter().for_each(posts)),
        expected(Doorbell::slot, Doorbell::OFFSET)
    );
    let arms = || assert_eq!(cq.wait(1, Duration::ZERO).unwrap(), []);
    assert_eq!(
        places(&arms),
        expected(ConsumerIndex::slot, ConsumerIndex::OFFSET)
    );
    // A slot that came back is the next one's.
    drop(qps.remove(77));
    let next = create();
    to_rts(&next);
    let slot = u64::from(Doorbell::slot(77));
    assert_eq!(places(&|| posts(&next)), [slot]);
}

#[test]
fn a_pushed_entry_goes_along_with_its_doorbell() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    to_rts(&qp);
    bench.function.take_doorbells();
    qp.post_send(&WorkRequest::nop(0x77).pushed()).unwrap();
    let written = bench.function.take_doorbells();
    let places: Vec<u64> = written.iter().map(|write| write.0).collect();
    assert_eq!(places, [64, 72, 80, 88, 96, 104, 112, 120, 128]);
    let entry: Vec<u8> = written[..8]
        .iter()
        .flat_map(|write| write.1.to_le_bytes())
        .collect();
    let entry = Wqe::from_bytes(&entry.try_into().unwrap()).unwrap();
    assert_eq!((entry.wr_id, entry.slot), (0x77, 0));
    let doorbell = Doorbell::from_bytes(&written[8].1.to_le_bytes());
    assert_eq!((doorbell.qp, doorbell.producer), (qp.number(), 1));
}

#[test]
fn a_queue_pair_has_entries_that_are_long_enough_for_its_inline_data() {
    let bench = bench();
    let create = |inline_bytes| {
        let config = QueuePairConfig {
            inline_bytes,
            ..config(2)
        };
        bench.pd.create_qp(&bench.cq, config)
    };
    let refused = create(65).map(|_| ()).unwrap_err().to_string();
    assert!(
        refused.contains("inline_bytes") && refused.contains("64"),
        "{refused}"
    );
    for (inline_bytes, long) in [(0, false), (32, false), (33, true), (64, true)] {
        let qp = create(inline_bytes).unwrap();
        to_rts(&qp);
        let row = bench.row::<SendQueueRow>(ConfigSelect::SendQueue, qp.number());
        assert_eq!(row.long_entries, long, "{inline_bytes} bytes");
        let most = if long { 64 } else { 32 };
        let posts = |bytes| {
            let request = WorkRequest::write(1, Source::Inline(&[7; 65][..bytes]), 0, 0);
            qp.post_send(&request.pushed())
        };
        assert!(matches!(posts(most + 1), Err(PostError::Inline { .. })));
        // A doorbell carries 64 bytes of an entry, so one with more is only rung for.
        bench.function.take_doorbells();
        posts(32).unwrap();
        assert_eq!(bench.function.take_doorbells().len(), 9);
        posts(most).unwrap();
        let writes = if long { 1 } else { 9 };
        assert_eq!(bench.function.take_doorbells().len(), writes);
    }
}

#[test]
fn a_posted_region_outlives_its_handle_and_is_released_by_the_completion() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    to_rts(&qp);
    let region = bench.region();
    let write = WorkRequest::write(1, region.slice(0, 64).unwrap(), 0, 0);
    qp.post_send(&write).unwrap();
    let index = region.rkey() >> 8;
    let valid = || bench.row::<MrRow>(ConfigSelect::Mr, index).valid;
    let refused = region.deregister().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "1 posted work requests use the region: poll their completions first"
    );
    drop(refused);
    assert!(valid());
    let cqe = Cqe {
        status: WcStatus::Success,
        opcode: CqeOpcode::Write,
        phase: true,
        qp: qp.number(),
        wr_id: 1,
        byte_len: 64,
        immediate: 0,
        msn: 0,
        sq_head: 1,
    };
    qp.core.shared.completed(&cqe).unwrap();
    assert!(!valid());
    let late = Cqe { sq_head: 3, ..cqe };
    assert!(matches!(
        qp.core.shared.completed(&late),
        Err(Error::BadHead { head: 3, .. })
    ));
}

#[test]
fn flushed_work_says_what_it_was() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(2)).unwrap();
    to_rts(&qp);
    let write = WorkRequest::write(9, Source::Inline(b"abc"), 0, 0).unsignaled();
    qp.post_send(&write).unwrap();
    qp.modify(Modify::Error).unwrap();
    let expected = Completion {
        wr_id: 9,
        status: WcStatus::WrFlushErr,
        opcode: CqeOpcode::Write,
        qp: qp.number(),
        byte_len: 3,
        immediate: None,
    };
    assert_eq!(bench.cq.poll(9).unwrap(), [expected]);
}
