//! Proof that the checks can fail: one wrong header bit in the card's packets must be detected.

use anyhow::{ensure, Context};
use sim_bridge::BitFlip;

use super::{Case, IpVersion};
use crate::bed::{Bed, PairOptions, Writer};
use crate::message::Layout;

/// Bits of the card's requests: opcode, queue pair, PSN; virtual address, key and length of RETH.
const IN_REQUESTS: [(&str, BitFlip); 6] = [
    ("opcode", BitFlip { byte: 0, bit: 0 }),
    ("destination queue pair", BitFlip { byte: 7, bit: 0 }),
    ("PSN", BitFlip { byte: 11, bit: 0 }),
    ("virtual address", BitFlip { byte: 19, bit: 0 }),
    ("R_Key", BitFlip { byte: 23, bit: 0 }),
    ("DMA length", BitFlip { byte: 27, bit: 0 }),
];

/// Bits of the card's acknowledgements: opcode, queue pair, PSN, syndrome.
const IN_ACKNOWLEDGEMENTS: [(&str, BitFlip); 4] = [
    ("opcode", BitFlip { byte: 0, bit: 4 }),
    ("destination queue pair", BitFlip { byte: 7, bit: 0 }),
    ("PSN", BitFlip { byte: 11, bit: 0 }),
    ("AETH syndrome", BitFlip { byte: 12, bit: 6 }),
];

/// Runs a short exchange with all its checks. `flip` corrupts one bit of the card's packets.
fn exchange(
    bed: &mut Bed,
    writer: Writer,
    layout: &mut Layout,
    flip: Option<BitFlip>,
) -> anyhow::Result<()> {
    let pair = bed.pair(PairOptions::default().impatient().retries(1))?;
    let messages = [layout.message(1500, None), layout.message(7, Some(3))];
    bed.bridge.set_flip(flip);
    let result = bed.exchange(writer, &pair, &messages);
    bed.bridge.set_flip(None);
    result?;
    bed.check_memory()?;
    // A busy machine may cause retransmissions, which prove nothing about the bit.
    bed.check_traffic(true)
}

fn run(bed: &mut Bed, writer: Writer, flips: &[(&str, BitFlip)]) -> anyhow::Result<()> {
    let mut layout = Layout::new(1);
    exchange(bed, writer, &mut layout, None).context("without a wrong bit")?;
    for &(field, flip) in flips {
        let noticed = exchange(bed, writer, &mut layout, Some(flip)).is_err();
        ensure!(
            noticed,
            "nobody notices that bit {flip} of the card's packets is wrong ({field})"
        );
    }
    Ok(())
}

pub fn cases() -> Vec<Case> {
    let flips = [
        (Writer::Peer, &IN_ACKNOWLEDGEMENTS[..]),
        (Writer::Card, &IN_REQUESTS[..]),
    ];
    flips
        .into_iter()
        .map(|(writer, flips)| {
            let run = move |bed: &mut Bed| run(bed, writer, flips);
            Case::new(format!("wrong-bit-{writer}"), run)
                .over(IpVersion::V6)
                .wrong_on_purpose()
                .short()
        })
        .collect()
}
