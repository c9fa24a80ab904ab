//! Figure 8: goodput into GPU memory against the size of messages, with ATS and with an eMTT.

use std::path::Path;

use sim_nic::PcieSettings;
use sim_pcie::ats::{measure as run, AtcConfig, Experiment, Goodput, Translation};
use sim_pcie::IommuConfig;
use stellar_driver::PageSize;

use super::cards::{Cards, Place, Setup};
use super::{Effort, Found, Row};
use crate::figures::plot::{self, Labels, Line};
use crate::progress;

const FIGURE: u8 = 8;
/// Connections of the paper.
const CONNECTIONS: u64 = 16;
/// Sizes of messages in MB (2^20 bytes).
const SIZES: [u64; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
const QUICK_SIZES: [u64; 3] = [2, 4, 64];
/// The ATC: 12,288 entries. The paper says tens of thousands of pages; 16 x 2 MB of 4 KiB pages are 8,192 and fit, 16 x 4 MB are 16,384 and do not.
/// Four translation requests under way at a time give 4 x 4 KiB for each round trip to the IOMMU (784 ns), which is the paper's second level.
const ATC: AtcConfig = AtcConfig {
    sets: 1024,
    ways: 12,
    outstanding: 4,
};
/// The IOTLB with the page table entries that the root complex caches: 131,072 translations, 1 MiB of page table, which 16 x 32 MB fill.
const IOTLB_SETS: usize = 16_384;
const IOTLB_WAYS: usize = 8;
/// A miss there is one access to memory: the levels above the last one are cached.
const WALK_PS: u64 = 100_000;
/// Messages of the Verilated cards in MB: those that take seconds. With 4 MB, ATS has lost its first tenth.
const CARD_SIZES: [u32; 3] = [1, 2, 4];

/// Runs the model with both translations, and the card with short messages.
pub fn measure(effort: Effort, out: &Path, found: &mut Found) -> anyhow::Result<()> {
    let sizes = if effort.quick {
        &QUICK_SIZES[..]
    } else {
        &SIZES[..]
    };
    let (mut ats, mut emtt) = (vec![], vec![]);
    for &megabytes in sizes {
        let with_ats = goodput(effort, Translation::Ats(ATC), megabytes);
        let (paper, band) = match megabytes {
            ..=2 => ("190", 187.0..=192.0),
            3..=32 => ("170", 165.0..=175.0),
            _ => ("150", 145.0..=158.0),
        };
        let what = format!(
            "ATS, {megabytes} MB ({:.2} ATC and {:.2} IOTLB misses a page)",
            with_ats.atc_misses, with_ats.iotlb_misses
        );
        let row = Row::new(FIGURE, what, with_ats.gbps, "Gb/s");
        found.rows.push(row.of_paper(paper).within(band));
        ats.push((megabytes as f64, with_ats.gbps));
        let with_emtt = goodput(effort, Translation::Emtt, megabytes);
        let what = format!("eMTT, {megabytes} MB");
        found
            .rows
            .push(Row::new(FIGURE, what, with_emtt.gbps, "Gb/s"));
        emtt.push((megabytes as f64, with_emtt.gbps));
    }
    let what = "eMTT: variation over the sizes";
    found.rows.push(flatness(what, emtt.iter().map(|p| p.1)));
    found.parameters.extend([
        format!(
            "figure 8: a model. {CONNECTIONS} connections in turns, pages of 4 KiB, a line of 200 Gb/s with packets of 2,048 + 102 bytes, Gen4 x16, TLPs of 256 bytes"
        ),
        format!(
            "figure 8: ATC of {} entries with {} requests under way; IOTLB of {} entries (with cached page tables), a miss takes {} ns; links 75 ns, switch 100 ns, \
             root complex 150 ns",
            ATC.entries(),
            ATC.outstanding,
            IOTLB_SETS * IOTLB_WAYS,
            WALK_PS / 1000
        ),
    ]);
    if !effort.quick {
        on_cards(effort, found)?;
    }
    let file = found.plot(out, "figure8.svg");
    let labels = Labels {
        title: "Figure 8: writes into GPU memory, 16 connections, pages of 4 KiB",
        x: "message size in MB",
        y: "Gb/s",
    };
    let line = |name: &str, points| Line {
        name: name.to_owned(),
        points,
    };
    let lines = [line("ATS with an ATC", ats), line("eMTT", emtt)];
    plot::lines(&file, labels, &lines, |megabytes| format!("{megabytes:.0}"))
}

fn goodput(effort: Effort, translation: Translation, megabytes: u64) -> Goodput {
    let experiment = Experiment {
        translation,
        iommu: IommuConfig {
            iotlb_sets: IOTLB_SETS,
            iotlb_ways: IOTLB_WAYS,
            walk_latency_ps: WALK_PS,
            ..IommuConfig::default()
        },
        connections: CONNECTIONS,
        message: megabytes << 20,
        seed: effort.seed,
    };
    let name = match translation {
        Translation::Ats(_) => "ATS",
        Translation::Emtt => "eMTT",
    };
    let what = format!("{CONNECTIONS} x {megabytes} MB with {name}");
    progress::measuring(&what, || run(&experiment, &mut |_, _| {}))
}

/// The variation of values: largest less smallest, of the largest.
fn flatness(what: &str, values: impl Iterator<Item = f64> + Clone) -> Row {
    let largest = values.clone().fold(0.0, f64::max);
    let smallest = values.fold(f64::MAX, f64::min);
    let percent = 100.0 * (largest - smallest) / largest;
    Row::new(FIGURE, what, percent, "%")
        .of_paper("constant")
        .within(0.0..=1.0)
}

/// The eMTT of the Verilated card itself, with messages that it moves in seconds.
fn on_cards(effort: Effort, found: &mut Found) -> anyhow::Result<()> {
    let mut values = vec![];
    for megabytes in CARD_SIZES {
        let mut cards = Cards::new(Setup {
            seed: effort.seed,
            queue_pairs: CONNECTIONS as u32,
            bytes: megabytes << 20,
            page: PageSize::Size4K,
            source: Place::Gpu,
            target: Place::Gpu,
            pcie: PcieSettings::default(),
        })?;
        let what = format!("eMTT of the Verilated card, {megabytes} MB");
        let landed = progress::measuring(&what, || cards.transfer())?;
        found
            .rows
            .push(Row::new(FIGURE, what, landed.average, "Gb/s"));
        values.push(landed.average);
    }
    let what = "eMTT of the Verilated card: variation";
    found.rows.push(flatness(what, values.into_iter()));
    Ok(())
}
