//! Many outstanding messages, PSN wrap-around, several queue pairs.

use super::Case;
use crate::bed::{Bed, PairOptions, Writer};
use crate::message::Layout;

/// Number of work requests outstanding at once.
const OUTSTANDING: usize = 64;
const QUEUE_PAIRS: usize = 4;

fn outstanding(bed: &mut Bed, writer: Writer) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions::default())?;
    let mut layout = Layout::new(1);
    let messages = (0..OUTSTANDING as u32).map(|n| {
        let immediate = (n % 4 == 3).then_some(n);
        layout.message(1 + 97 * n, immediate)
    });
    bed.exchange(writer, &pair, &messages.collect::<Vec<_>>())?;
    Ok(())
}

/// Both ends write at once. The PSNs of each direction wrap in the middle of a message.
fn psn_wrap(bed: &mut Bed) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions {
        card_psn: 0xff_fff0,
        peer_psn: 0xff_ffe0,
        ..PairOptions::default()
    })?;
    let mut layout = Layout::new(1);
    let lengths = [3, 65_537, 1000];
    let mut messages = layout.writes(&lengths);
    messages.extend(layout.writes_with_immediate(&lengths));
    bed.post_receives(&pair, &messages)?;
    for writer in Writer::BOTH {
        bed.post(writer, &pair, &messages)?;
    }
    bed.complete_both(&pair, &messages)?;
    Ok(())
}

fn queue_pairs(bed: &mut Bed, writer: Writer) -> anyhow::Result<()> {
    let mut layout = Layout::new(1);
    let mut all = Vec::new();
    for number in 0..QUEUE_PAIRS as u32 {
        let pair = bed.pair(PairOptions {
            mtu: if number % 2 == 0 { 1024 } else { 4096 },
            card_psn: 1000 * number,
            peer_psn: 2000 * number,
            ..PairOptions::default()
        })?;
        let lengths = [65_536, 4097, 7 + number, 20_000];
        let mut messages = layout.writes(&lengths);
        messages.extend(layout.writes_with_immediate(&lengths));
        all.push((pair, messages));
    }
    for (pair, messages) in &all {
        if writer == Writer::Card {
            bed.post_receives(pair, messages)?;
        }
        bed.post(writer, pair, messages)?;
    }
    for (pair, messages) in &all {
        bed.complete(writer, pair, messages)?;
    }
    Ok(())
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for writer in Writer::BOTH {
        cases.push(Case::new(format!("outstanding-{writer}"), move |bed| {
            outstanding(bed, writer)
        }));
    }
    cases.push(Case::new("psn-wrap", psn_wrap).short());
    for writer in Writer::BOTH {
        let run = move |bed: &mut Bed| queue_pairs(bed, writer);
        cases.push(Case::new(format!("queue-pairs-{writer}"), run).short());
    }
    cases
}
