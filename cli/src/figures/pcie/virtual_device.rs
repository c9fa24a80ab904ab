//! Figure 13: the bare card against a virtual device, latency and goodput of WRITEs between memories of hosts or guests.

use std::path::Path;

use sim_nic::{PcieSettings, CLOCK_PS};
use sim_pcie::Counters;
use stellar_driver::PageSize;

use super::cards::{Cards, Place, Setup};
use super::guests::Guests;
use super::writer::Writer;
use super::{Effort, Found, Row};
use crate::figures::plot::{self, Labels, Line};
use crate::progress;

const FIGURE: u8 = 13;
/// log2 of the sizes of messages: 2 B to 8 MB, and those of a quick run.
const SIZES: [u32; 23] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
];
const QUICK_SIZES: [u32; 4] = [1, 6, 12, 18];
/// Entries of the rings, and most messages under way: perftest's default.
const ENTRIES: u32 = 128;
/// Bytes that a goodput is measured with, if they are not more than [`MESSAGES`] messages.
const TOTAL: u32 = 1 << 23;
const MESSAGES: u32 = 2048;
/// Messages whose latency is averaged, and those of them that are longer than [`LONG`].
const ROUNDS: u32 = 32;
const LONG_ROUNDS: u32 = 4;
const LONG: u32 = 1 << 20;
/// Cycles between two looks at a goodput run.
const PAUSE: u64 = 8;
/// Cycles between two measurements.
const REST: u64 = 500;
/// Bytes from which on goodputs are compared. That of shorter messages depends on how many share a burst, and so on nanoseconds of the reads of their entries.
const COMPARED: u32 = 1 << 12;
/// Largest part by which a virtual device may differ, in percent.
const TOLERANCE: f64 = 1.0;

/// Latency and goodput of a size.
#[derive(Clone, Copy)]
struct Point {
    bytes: u32,
    /// From the post of a lone message to its last byte in the receiver's memory, in microseconds.
    latency_us: f64,
    /// Of messages that are posted one behind the other, from the first post to the last byte in memory, in Gb/s.
    gbps: f64,
}

/// Measures both, and compares them.
pub fn measure(effort: Effort, out: &Path, found: &mut Found) -> anyhow::Result<()> {
    let sizes = if effort.quick {
        &QUICK_SIZES[..]
    } else {
        &SIZES[..]
    };
    let sizes: Vec<u32> = sizes.iter().map(|log2| 1 << log2).collect();
    let largest = sizes.iter().copied().max().unwrap_or(1);
    let pcie = PcieSettings::default();
    let mut bare = Cards::new(Setup {
        seed: effort.seed,
        queue_pairs: 1,
        bytes: largest,
        page: PageSize::Size4K,
        source: Place::Host,
        target: Place::Host,
        pcie,
    })?;
    let bare = points(&mut bare, &sizes, "the bare card")?;
    let mut guests = Guests::new(effort.seed, largest, ENTRIES, &pcie)?;
    let guests = points(&mut guests, &sizes, "the virtual device")?;
    for (of, name, unit, least) in [
        (latency as fn(&Point) -> f64, "latency", "us", 1),
        (goodput, "goodput", "Gb/s", COMPARED),
    ] {
        let difference = |(a, b): (&Point, &Point)| 100.0 * (of(b) - of(a)).abs() / of(a);
        let compared = bare.iter().zip(&guests).filter(|(a, _)| a.bytes >= least);
        let largest = compared.map(difference).fold(0.0, f64::max);
        for (bare, guest) in bare.iter().zip(&guests) {
            let what = format!(
                "{name} of {} B, virtual device (bare card: {:.2})",
                guest.bytes,
                of(bare)
            );
            found.rows.push(Row::new(FIGURE, what, of(guest), unit));
        }
        let what = format!("{name}: largest difference of the virtual device from {least} B on");
        found.rows.push(
            Row::new(FIGURE, what, largest, "%")
                .of_paper("almost none")
                .within(0.0..=TOLERANCE),
        );
        let file = found.plot(out, &format!("figure13_{name}.svg"));
        let labels = Labels {
            title: &format!("Figure 13: {name} of WRITEs"),
            x: "message size in bytes",
            y: unit,
        };
        let line = |name: &str, points: &[Point]| Line {
            name: name.to_owned(),
            points: points.iter().map(|p| (p.bytes.into(), of(p))).collect(),
        };
        let lines = [line("bare card", &bare), line("virtual device", &guests)];
        plot::lines(&file, labels, &lines, |bytes| format!("{bytes:.0}"))?;
    }
    found.parameters.push(format!(
        "figure 13: one queue pair, memory of hosts and of guests, on Verilated cards; goodput of 8 MiB or of {MESSAGES} messages, {ENTRIES} under way"
    ));
    Ok(())
}

fn latency(point: &Point) -> f64 {
    point.latency_us
}

fn goodput(point: &Point) -> f64 {
    point.gbps
}

/// Measures every size, and compares the bytes of the largest.
fn points(writer: &mut impl Writer, sizes: &[u32], who: &str) -> anyhow::Result<Vec<Point>> {
    let mut points = vec![];
    for &bytes in sizes {
        let what = format!("{bytes} bytes by {who}");
        points.push(progress::measuring(&what, || point(writer, bytes))?);
    }
    writer.compare()?;
    Ok(points)
}

/// Bytes that the receiving card has written.
fn written(writer: &impl Writer) -> u64 {
    let counters: Counters = writer.pair().pcie_counters(1);
    let flows = counters.write_flows();
    flows.map(|(_, traffic)| traffic.bytes).sum()
}

fn point(writer: &mut impl Writer, bytes: u32) -> anyhow::Result<Point> {
    let rounds = if bytes > LONG { LONG_ROUNDS } else { ROUNDS };
    // A first message that is not counted brings the translations into the IOTLB.
    transfer(writer, bytes, 1, PAUSE)?;
    let mut clocks = 0;
    for _ in 0..rounds {
        clocks += transfer(writer, bytes, 1, 1)?;
    }
    let latency_us = (clocks * CLOCK_PS) as f64 / 1e6 / f64::from(rounds);
    let count = (TOTAL / bytes).clamp(2, MESSAGES);
    let clocks = transfer(writer, bytes, count, PAUSE)?;
    let total = f64::from(bytes) * f64::from(count);
    let gbps = total * 8e3 / (clocks * CLOCK_PS) as f64;
    Ok(Point {
        bytes,
        latency_us,
        gbps,
    })
}

/// Posts `count` messages and waits for them. Returns the cycles from the first post to the last byte in the receiver's memory, which it looks at every
/// `pause` cycles.
fn transfer(writer: &mut impl Writer, bytes: u32, count: u32, pause: u64) -> anyhow::Result<u64> {
    let end = written(writer) + u64::from(bytes) * u64::from(count);
    let began = writer.pair().clocks();
    let (mut posted, mut completed, mut landed) = (0, 0, None);
    while completed < count || landed.is_none() {
        while posted < count && posted - completed < ENTRIES {
            writer.post(bytes)?;
            posted += 1;
        }
        if landed.is_none() && written(writer) >= end {
            landed = Some(writer.pair().clocks() - began);
        }
        completed += writer.poll()? as u32;
        writer.check_patience(began)?;
        writer.pair().run(pause);
    }
    writer.pair().run(REST);
    Ok(landed.unwrap_or(0))
}
