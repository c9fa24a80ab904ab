//! Tables and files of `./stellar world`.

use std::path::Path;

use anyhow::Context;
use sim_world::report::Report;
use sim_world::scenario::Scenario;
use sim_world::sweep::Row;
use sim_world::{Recorder, ReferenceNic};
use tabled::builder::Builder;
use tabled::settings::{object::Columns, Alignment, Style};

/// Writes report and captures into `out`, and prints the report.
pub fn finish(
    what: &str,
    report: &Report,
    captures: Option<&Recorder>,
    out: &Path,
    json: bool,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    report.write(out)?;
    if let Some(captures) = captures {
        captures.write(out)?;
    }
    if json {
        println!("{}", report.json());
        return Ok(());
    }
    println!(
        "Two NICs on a simulated fabric, no hardware: {}.",
        report.nics
    );
    println!("{what}");
    let mut builder = Builder::default();
    for (name, value) in report.rows() {
        builder.push_record([name.to_string(), value]);
    }
    println!("{}", builder.build().with(Style::sharp()));
    paths(&report.path_loads);
    println!(
        "Every byte written was compared with the sender's memory, and nothing else was written."
    );
    println!("\nReport:   {}", out.join("report.html").display());
    println!("          {}", out.join("report.json").display());
    if captures.is_some() {
        println!("Captures: {}/*.pcapng, one per port", out.display());
        println!("          tshark -X lua_script:tools/mrc.lua -r FILE shows the MRC headers");
    } else {
        println!("Captures: none of more than 64 MiB of payload");
    }
    Ok(())
}

/// Prints how many packets took each path, as a line of bars for each plane: entropy values alternate between them.
fn paths(loads: &[u64]) {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let Some(most) = loads.iter().copied().max().filter(|&most| most > 0) else {
        return;
    };
    let highest = BARS.len() as u64 - 1;
    // A path that was used at all is visible.
    let bar = |&load: &u64| {
        let height = (load * highest + most / 2) / most;
        BARS[height.max(load.min(1)) as usize]
    };
    println!("Packets per path, by entropy value; the highest bar is {most}:");
    for plane in 0..2 {
        let bars: String = loads.iter().skip(plane).step_by(2).map(bar).collect();
        println!("  plane {plane} |{bars}|");
    }
}

/// Prints the scenarios.
pub fn scenarios() {
    const ALL: [Scenario<ReferenceNic>; 17] = Scenario::ALL;
    let mut builder = Builder::default();
    builder.push_record(["scenario", "what happens"]);
    for scenario in ALL {
        builder.push_record([scenario.name, scenario.what]);
    }
    println!("{}", builder.build().with(Style::sharp()));
}

/// Prints the sweep.
pub fn sweep(rows: &[Row], json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", serde_json::to_string(rows)?);
        return Ok(());
    }
    let mut builder = Builder::default();
    builder.push_record([
        "transport",
        "loss of one link",
        "goodput Gb/s",
        "ratio",
        "data packets",
        "retransmissions",
        "timeouts",
        "p50 us",
        "p99 us",
    ]);
    for row in rows {
        let transport = match row.mode {
            "rc" => "RC, 1 path".into(),
            _ => format!("MRC, {} paths", row.paths),
        };
        let us = |ns: u64| format!("{:.1}", ns as f64 / 1e3);
        builder.push_record([
            transport,
            format!(
                "{} % of {} ({:.0} % of packets)",
                row.loss * 100.0,
                row.link,
                row.share * 100.0
            ),
            format!("{:.1}", row.goodput_gbps),
            format!("{:.3}", row.ratio),
            row.packets.to_string(),
            row.retransmissions.to_string(),
            row.timeouts.to_string(),
            us(row.p50_ns),
            us(row.p99_ns),
        ]);
    }
    let mut table = builder.build();
    table
        .with(Style::sharp())
        .modify(Columns::new(2..), Alignment::right());
    println!(
        "Both NICs are the software reference. One queue pair; goodput of 32 messages of 1 MiB,"
    );
    println!("completion times of 64 KiB messages at a quarter of the wire limit.\n{table}");
    Ok(())
}
