//! `./stellar demo rx`: captures and multi-path traffic through the Verilated lane, checked byte for byte.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use sim_cosim::{Capture, LaneModel, Placed, SessionConfig};
use sim_pcie::Route;
use stellar_transport::rx::DropReason;
use tabled::settings::{object::Columns, Alignment, Style};
use tabled::{Table, Tabled};

use crate::pcapng::{self, Noted};
use crate::progress;
use crate::scenarios::{self, Scenario};
use crate::verilog::Width;

#[derive(clap::Args)]
pub struct Arguments {
    /// Directory for waves and captures
    #[arg(long, value_name = "DIR", default_value = "out/demo_rx")]
    out: PathBuf,
    /// Lane width in bits
    #[arg(long, default_value = "1024")]
    width: Width,
    /// Messages per queue pair of the generated traffic
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=40))]
    messages: u32,
    /// Seed of the generated traffic
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Replay these captures (pcap or pcapng, Ethernet) instead; may be given more than once
    #[arg(long, value_name = "FILE")]
    capture: Vec<PathBuf>,
}

/// Captures of Linux rxe that come with the project.
const RXE: [(&str, &str); 4] = [
    (
        "rxe_write_bw_mtu1024.pcap",
        "Linux rxe, ib_write_bw 4 KiB, MTU 1024",
    ),
    (
        "rxe_write_bw_mtu4096.pcap",
        "Linux rxe, ib_write_bw 64 KiB, MTU 4096",
    ),
    (
        "rxe_rping_cm.pcap",
        "Linux rxe, rping with connection manager",
    ),
    (
        "rxe_atomic_fetch_add.pcap",
        "Linux rxe, atomics: nothing to place",
    ),
];

#[derive(Tabled)]
struct Row {
    capture: String,
    packets: usize,
    accepted: usize,
    #[tabled(rename = "GPU bytes (AT=10)")]
    gpu: u64,
    #[tabled(rename = "host bytes (AT=00)")]
    host: u64,
    #[tabled(rename = "TLPs AT=10 / 00")]
    tlps: String,
    #[tabled(rename = "acks")]
    acks: usize,
    #[tabled(rename = "not placed, by reason")]
    rejected: String,
    memory: &'static str,
}

/// Runs every scenario and prints the table.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    std::fs::create_dir_all(&arguments.out)
        .with_context(|| format!("cannot create {}", arguments.out.display()))?;
    let captures = captures(&arguments.capture)?;
    let started = Instant::now();
    let width = arguments.width.lane();
    let library = progress::building("the receive lane", || LaneModel::build(width, false))?;
    println!(
        "Receive lane, {} bits at 250 MHz, Verilated from Rust-HDL ({:.1} s to build or load)",
        width.bytes() * 8,
        started.elapsed().as_secs_f64()
    );

    let config = SessionConfig::new(width);
    let mut rows = vec![];
    let mut clocks = 0;
    let simulating = Instant::now();
    for (name, what, frames) in &captures {
        let scenario = scenarios::capture(&library, &config, name, what, frames.clone())?;
        rows.push(show(scenario, &arguments.out, &mut clocks)?);
    }
    if arguments.capture.is_empty() {
        let multipath =
            scenarios::multipath(&library, &config, arguments.messages, arguments.seed)?;
        rows.push(show(multipath, &arguments.out, &mut clocks)?);
    }
    let simulated = simulating.elapsed();
    let mut table = Table::new(&rows);
    table
        .with(Style::sharp())
        .modify(Columns::new(1..=6), Alignment::right());
    println!("{table}");
    println!("Every byte of memory was compared with what the accepted packets carried, and nothing else was written.");
    println!(
        "Simulated {clocks} clocks ({:.1} us at 250 MHz) in {:.1} s of wall time.",
        clocks as f64 * 0.004,
        simulated.as_secs_f64()
    );

    if arguments.capture.is_empty() {
        let waves = arguments.out.join("mrc_multipath.fst");
        let traced = LaneModel::build(width, true)?;
        let mut scenario = scenarios::multipath(&traced, &config, 1, arguments.seed)?;
        scenario.session.world.lane.model_mut().open_trace(&waves)?;
        scenario.run()?;
        scenario.session.world.lane.model_mut().close_trace();
        println!("\nWaves:    {}", waves.display());
    }
    println!(
        "Captures: {}/*.pcapng (the comment of each packet says what the lane did with it)",
        arguments.out.display()
    );
    println!("Next:     docs/rx_lane.md explains the pipeline; ./stellar wave opens waves; ./stellar bench rx measures;");
    println!("          ./stellar verilog --out DIR writes the Verilog.");
    Ok(())
}

/// The captures to replay, read before the model is built: name, description, frames.
fn captures(given: &[PathBuf]) -> anyhow::Result<Vec<(String, &'static str, Capture)>> {
    let name = |path: &Path| {
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        stem.to_string_lossy().into_owned()
    };
    if !given.is_empty() {
        return given
            .iter()
            .map(|path| Ok((name(path), "given by --capture", Capture::read(path)?)))
            .collect();
    }
    let mut captures = vec![];
    for (file, what) in RXE {
        let path = scenarios::data_folder().join(file);
        captures.push((name(&path), what, Capture::read(&path)?));
    }
    let path = scenarios::data_folder().join("connectx_frames.txt");
    let frames = scenarios::hexadecimal(&path)?;
    captures.push((
        name(&path),
        "ConnectX-4 and published RoCE frames",
        Capture::learn(frames),
    ));
    Ok(captures)
}

fn show(mut scenario: Scenario, out: &Path, clocks: &mut u64) -> anyhow::Result<Row> {
    let placed: Placed = scenario
        .run()
        .with_context(|| format!("scenario {}", scenario.name))?;
    let session = &scenario.session;
    *clocks += session.world.stats.clocks;
    let mut reasons: BTreeMap<u8, usize> = BTreeMap::new();
    for verdict in &session.world.verdicts {
        *reasons.entry(*verdict).or_default() += 1;
    }
    let rejected: Vec<String> = reasons
        .iter()
        .filter(|(r, _)| **r != 0)
        .map(|(r, n)| format!("{n} {:?}", DropReason::ALL[usize::from(*r)]))
        .collect();
    let (translated, untranslated) = session.tlps_by_at();
    let notes = scenario
        .frames
        .iter()
        .zip(&session.outcomes)
        .map(|(frame, outcome)| Noted {
            frame,
            comment: match &outcome.place {
                Some(place) => format!(
                    "placed {} bytes in {} TLPs, AT {}",
                    place.length,
                    outcome.tlps.len(),
                    outcome
                        .tlps
                        .iter()
                        .map(|t| format!("{:02b}", t.at))
                        .collect::<Vec<_>>()
                        .join(" ")
                ),
                None => format!("not placed: {:?}", outcome.reason),
            },
        });
    pcapng::write(&out.join(format!("{}.pcapng", scenario.name)), notes)?;
    // With STELLAR's ACS setting every GPU byte goes directly to the peer, and every host byte through the IOMMU.
    anyhow::ensure!(
        session.bytes_by(Route::Hairpin) == 0,
        "{}: {} bytes for the GPU took the way through the root complex",
        scenario.name,
        session.bytes_by(Route::Hairpin)
    );
    Ok(Row {
        capture: format!("{}\n  {}", scenario.name, scenario.what),
        packets: scenario.frames.len(),
        accepted: reasons.get(&0).copied().unwrap_or(0),
        gpu: placed.gpu,
        host: placed.host,
        tlps: format!("{translated} / {untranslated}"),
        acks: session.world.acks.len(),
        rejected: if rejected.is_empty() {
            "-".into()
        } else {
            rejected.join("\n")
        },
        memory: "exact",
    })
}
