//! Requests that the receiver must refuse, and the status that the sender must report.

use std::time::Duration;

use anyhow::ensure;
use stellar_driver::{AsyncEvent, WcStatus};

use super::Case;
use crate::bed::{Bed, Pair, PairOptions, Writer, PATIENCE};
use crate::card_end::Remote;
use crate::memory::REGION;
use crate::message::{Layout, Message};

/// A message that begins inside a region and ends beyond it. Its first packet alone would fit.
const BEYOND_THE_END: Message = Message {
    wr_id: 2,
    length: 4000,
    from: 1,
    to: REGION as u64 - 1501,
    immediate: None,
};

/// The fault of a WRITE.
#[derive(Clone, Copy)]
enum Wrong {
    Key,
    Bounds,
    Right,
}

/// A good WRITE, the bad WRITE, and a good WRITE that must be flushed.
fn three(wrong: Wrong, good: Remote, read_only: Remote) -> [(Message, Remote); 3] {
    let mut layout = Layout::new(1);
    let [first, mut second, third] = [100, 300, 500].map(|length| layout.message(length, None));
    let mut remote = good;
    match wrong {
        Wrong::Key => remote.rkey ^= 1,
        Wrong::Bounds => second = BEYOND_THE_END,
        Wrong::Right => remote = read_only,
    }
    [(first, good), (second, remote), (third, good)]
}

/// Checks that the card reports the queue pair's failure by an event.
fn expect_fatal_event(bed: &Bed, pair: &Pair) -> anyhow::Result<()> {
    let event = bed.end().context.wait_event(Duration::from_millis(1))?;
    let is_it =
        matches!(event, Some(AsyncEvent::QueuePairFatal { qp, .. }) if qp == pair.card.number());
    ensure!(
        is_it,
        "the card's event is {event:?} instead of a failed queue pair"
    );
    Ok(())
}

/// Checks that the peer's work requests 1, 2 and 3 end in success, in `status` and flushed, and that the card's queue pair has failed.
fn expect_refusal_of_card(bed: &Bed, pair: &Pair, status: &str) -> anyhow::Result<()> {
    let done = bed.peer_completions(pair, 3, PATIENCE)?;
    let found: Vec<_> = done
        .iter()
        .map(|wc| (wc.wr_id, wc.status.as_str()))
        .collect();
    let expected = [(1, "SUCCESS"), (2, status), (3, "WR_FLUSH_ERR")];
    ensure!(
        found == expected,
        "the peer's work requests ended in {found:?} instead of {expected:?}"
    );
    expect_fatal_event(bed, pair)
}

fn bad_write_to_card(bed: &mut Bed, wrong: Wrong) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions::default())?;
    let read_only = bed.end().read_only.remote();
    let read_only = Remote {
        address: read_only.address,
        rkey: read_only.rkey,
    };
    let requests = three(wrong, bed.card_target(), read_only);
    for (message, remote) in &requests {
        bed.post_at_peer("write", &pair, message, *remote)?;
    }
    expect_refusal_of_card(bed, &pair, "REM_ACCESS_ERR")?;
    bed.arrived(Writer::Peer, &[requests[0].0]);
    Ok(())
}

/// The peer posts an operation that the card does not support between two WRITEs.
fn operation_to_card(bed: &mut Bed, operation: &str, length: u32) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions::default())?;
    let mut layout = Layout::new(1);
    let [first, mut second, third] = [100, length, 500].map(|length| layout.message(length, None));
    // Atomic operations need aligned addresses.
    (second.from, second.to) = (REGION as u64 / 2, REGION as u64 / 2);
    for (operation, message) in [("write", first), (operation, second), ("write", third)] {
        bed.post_at_peer(operation, &pair, &message, bed.card_target())?;
    }
    expect_refusal_of_card(bed, &pair, "REM_INV_REQ_ERR")?;
    bed.arrived(Writer::Peer, &[first]);
    Ok(())
}

fn bad_write_to_peer(bed: &mut Bed, wrong: Wrong) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions::default())?;
    let requests = three(wrong, bed.peer_target(), bed.peer_read_only());
    for (message, remote) in &requests {
        bed.end().post(&pair.card, message, *remote)?;
    }
    let done = bed.card_completions(&pair, 3, PATIENCE)?;
    let found: Vec<_> = done.iter().map(|wc| (wc.wr_id, wc.status)).collect();
    let expected = [
        (1, WcStatus::Success),
        (2, WcStatus::RemAccessErr),
        (3, WcStatus::WrFlushErr),
    ];
    ensure!(
        found == expected,
        "the card's work requests ended in {found:?} instead of {expected:?}"
    );
    expect_fatal_event(bed, &pair)?;
    bed.arrived(Writer::Card, &[requests[0].0]);
    Ok(())
}

/// The peer has no receive posted for a WRITE with immediate and sends RNR NAKs. The receive is posted later.
fn late_receive(bed: &mut Bed) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions::default().impatient())?;
    let message = Layout::new(1).message(3000, Some(0x1234));
    bed.post(Writer::Card, &pair, &[message])?;
    bed.rest(Duration::from_millis(500));
    bed.post_receives(&pair, &[message])?;
    bed.complete(Writer::Card, &pair, &[message])?;
    Ok(())
}

/// The peer has no receive posted for a WRITE with immediate, and none is ever posted.
fn no_receive(bed: &mut Bed) -> anyhow::Result<()> {
    let options = PairOptions {
        card_rnr_retries: 2,
        ..PairOptions::default().impatient()
    };
    let pair = bed.pair(options)?;
    let message = Layout::new(1).message(3000, Some(0x1234));
    bed.post(Writer::Card, &pair, &[message])?;
    let done = bed.card_completions(&pair, 1, PATIENCE)?;
    let found: Vec<_> = done.iter().map(|wc| (wc.wr_id, wc.status)).collect();
    ensure!(
        found == [(1, WcStatus::RnrRetryExcErr)],
        "the card's work request ended in {found:?}"
    );
    // Only the last packet needs the receive. The packets before it have been written.
    let arrived = Message {
        length: 2048,
        ..message
    };
    bed.arrived(Writer::Card, &[arrived]);
    Ok(())
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, wrong) in [
        ("wrong-key", Wrong::Key),
        ("out-of-bounds", Wrong::Bounds),
        ("no-write-right", Wrong::Right),
    ] {
        cases.push(
            Case::new(format!("{name}-to-card"), move |bed| {
                bad_write_to_card(bed, wrong)
            })
            .short(),
        );
        cases.push(
            Case::new(format!("{name}-to-peer"), move |bed| {
                bad_write_to_peer(bed, wrong)
            })
            .short(),
        );
    }
    for (operation, length) in [
        ("send", 100),
        ("read", 100),
        ("fetch_add", 8),
        ("cmp_swap", 8),
    ] {
        let name = format!("{}-to-card", operation.replace('_', "-"));
        cases.push(Case::new(name, move |bed| {
            operation_to_card(bed, operation, length)
        }));
    }
    cases.push(Case::new("late-receive-to-peer", late_receive).may_retransmit());
    cases.push(Case::new("no-receive-to-peer", no_receive).may_retransmit());
    cases
}
