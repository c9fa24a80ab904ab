//! Queue pairs destroyed in the middle of a message, and a peer that stops responding.

use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use stellar_driver::{Modify, WcStatus};

use super::Case;
use crate::bed::{Bed, Pair, PairOptions, Writer, PATIENCE};
use crate::message::{Layout, Message};

/// A message of 1,024 packets.
const LONG: u32 = 1 << 20;
/// The case interferes after this many packets of the message.
const MIDDLE: u64 = 100;
/// How long QEMU stops the guest, in wall time. The card's retries last for 2.4 s or more, so it must not give up.
const SILENCE: Duration = Duration::from_millis(1200);

/// Starts a long message, and returns when it is in progress.
fn begin(bed: &mut Bed, writer: Writer, layout: &mut Layout) -> anyhow::Result<(Pair, Message)> {
    let pair = bed.pair(PairOptions::default().impatient().retries(2))?;
    let message = layout.message(LONG, None);
    bed.post(writer, &pair, &[message])?;
    reach_the_middle(bed, writer)?;
    Ok((pair, message))
}

fn reach_the_middle(bed: &Bed, writer: Writer) -> anyhow::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        let sent = match writer {
            Writer::Peer => bed.traffic().to_card.packets,
            Writer::Card => bed.traffic().to_peer.packets,
        };
        if sent >= MIDDLE {
            break;
        }
        if Instant::now() > until {
            bail!("only {sent} packets of the message have come");
        }
        bed.clock();
    }
    Ok(())
}

/// Checks that a new queue pair works afterwards.
fn go_on(bed: &mut Bed, writer: Writer, layout: &mut Layout) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions::default())?;
    let messages = layout.writes(&[5000, 1]);
    bed.exchange(writer, &pair, &messages)?;
    Ok(())
}

fn peer_goes(bed: &mut Bed, writer: Writer) -> anyhow::Result<()> {
    let mut layout = Layout::new(1);
    let (pair, message) = begin(bed, writer, &mut layout)?;
    bed.destroy_at_peer(&pair)?;
    bed.arrived_in_part(writer, &message);
    if writer == Writer::Card {
        let done = bed.card_completions(&pair, 1, PATIENCE)?;
        let found: Vec<_> = done.iter().map(|wc| wc.status).collect();
        ensure!(
            found == [WcStatus::RetryExcErr],
            "the card's work request ended in {found:?}"
        );
    }
    go_on(bed, writer, &mut layout)
}

fn card_goes(bed: &mut Bed, writer: Writer) -> anyhow::Result<()> {
    let mut layout = Layout::new(1);
    let (pair, message) = begin(bed, writer, &mut layout)?;
    pair.card.modify(Modify::Error)?;
    bed.arrived_in_part(writer, &message);
    match writer {
        Writer::Card => {
            let done = bed.card_completions(&pair, 1, PATIENCE)?;
            let found: Vec<_> = done.iter().map(|wc| wc.status).collect();
            ensure!(
                found == [WcStatus::WrFlushErr],
                "the card's work request ended in {found:?}"
            );
        }
        Writer::Peer => {
            let done = bed.peer_completions(&pair, 1, PATIENCE)?;
            let found: Vec<_> = done.iter().map(|wc| wc.status.as_str()).collect();
            ensure!(
                found == ["RETRY_EXC_ERR"],
                "the peer's work request ended in {found:?}"
            );
        }
    }
    drop(pair);
    go_on(bed, writer, &mut layout)
}

fn silence(bed: &mut Bed, writer: Writer) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions::default().impatient())?;
    let message = Layout::new(1).message(LONG, None);
    bed.post(writer, &pair, &[message])?;
    reach_the_middle(bed, writer)?;
    bed.silence_peer(SILENCE)?;
    bed.complete(writer, &pair, &[message])?;
    Ok(())
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for writer in Writer::BOTH {
        cases.push(
            Case::new(format!("peer-destroys-{writer}"), move |bed| {
                peer_goes(bed, writer)
            })
            .may_retransmit(),
        );
        cases.push(
            Case::new(format!("card-destroys-{writer}"), move |bed| {
                card_goes(bed, writer)
            })
            .may_retransmit(),
        );
        cases.push(
            Case::new(format!("peer-silent-{writer}"), move |bed| {
                silence(bed, writer)
            })
            .may_retransmit(),
        );
    }
    cases
}
