//! Figure 14: writes into GPU memory, directly (STELLAR) and through the root complex (HyV, MasQ).

use std::num::NonZeroUsize;
use std::path::Path;

use sim_nic::PcieSettings;
use sim_pcie::PeerWrites;
use stellar_driver::PageSize;

use super::cards::{Cards, Place, Setup};
use super::transfer::{Landed, WINDOW};
use super::{Effort, Found, Row};
use crate::figures::plot::{self, Labels};
use crate::progress;

const FIGURE: u8 = 14;
/// Queue pairs that write at the same time.
const QUEUE_PAIRS: u32 = 16;
/// Writes that the root complex has under way between root ports, and the time of each. With payloads of 256 bytes it moves 142 Gb/s: the number that the
/// paper measured (141), which says nothing of its causes.
const PEER_WRITES: PeerWrites = PeerWrites {
    in_flight: NonZeroUsize::new(16).expect("16 is not 0"),
    latency_ps: 230_000,
};

/// Measures goodput into the GPU of the receiver by both routes.
pub fn measure(effort: Effort, out: &Path, found: &mut Found) -> anyhow::Result<()> {
    let bytes = if effort.quick { 128 << 10 } else { 512 << 10 };
    let transfer = |target, name: &str| -> anyhow::Result<Landed> {
        let mut cards = Cards::new(Setup {
            seed: effort.seed,
            queue_pairs: QUEUE_PAIRS,
            bytes,
            page: PageSize::Size64K,
            source: Place::Gpu,
            target,
            pcie: PcieSettings {
                peer_writes: Some(PEER_WRITES),
                ..PcieSettings::default()
            },
        })?;
        progress::measuring(&format!("goodput {name}"), || cards.transfer())
    };
    let directly = transfer(Place::Gpu, "into the GPU directly")?;
    let through_root = transfer(Place::GpuThroughRoot, "through the root complex")?;
    let (direct, detour) = (directly.highest, through_root.highest);
    found.parameters.push(format!(
        "figure 14: {QUEUE_PAIRS} queue pairs with messages of {} KiB, on Verilated cards, path MTU 4,096, payload of a TLP 256 bytes; highest \
         goodput over {WINDOW:?}; the root complex has {} writes under way between root ports, {} ns each",
        bytes >> 10,
        PEER_WRITES.in_flight,
        PEER_WRITES.latency_ps / 1000,
    ));
    found.rows.extend([
        Row::new(FIGURE, "directly, AT = 10", direct, "Gb/s")
            .of_paper("393")
            .within(385.0..=400.0),
        Row::new(FIGURE, "through the root complex, AT = 00", detour, "Gb/s").of_paper("141"),
        Row::new(
            FIGURE,
            "through the root complex, of directly",
            100.0 * detour / direct,
            "%",
        )
        .of_paper("36")
        .within(33.0..=39.0),
        Row::new(FIGURE, "directly, whole transfer", directly.average, "Gb/s"),
        Row::new(
            FIGURE,
            format!(
                "through the root complex, whole transfer, with {} packets that the full card dropped",
                through_root.overflows
            ),
            through_root.average,
            "Gb/s",
        ),
    ]);
    let file = found.plot(out, "figure14.svg");
    let labels = Labels {
        title: "Figure 14: writes into GPU memory",
        x: "route",
        y: "Gb/s",
    };
    let values = [("directly", direct), ("through the root complex", detour)];
    plot::bars(&file, labels, &values)
}
