//! Start-up time of a guest against its memory, pinned in full and on demand: a table, and a plot as SVG.
//!
//! `cargo run -p stellar-virt --example start_up -- [FILE.svg] [--used GB]`
//!
//! With `--json` it prints the blocks that the service pins, with 1 GB in use if `--used` says nothing else, and neither table nor plot.

use std::process::ExitCode;

use plotters::prelude::*;
use stellar_virt::start_up::{Costs, StartUp};
use tabled::builder::Builder;
use tabled::settings::Style;

const GB: u64 = 1_000_000_000;
const SIZES: [u64; 8] = [16, 32, 64, 160, 320, 640, 1000, 1600];

struct Arguments {
    file: String,
    used: Option<u64>,
    json: bool,
}

fn arguments() -> Result<Arguments, String> {
    let mut parsed = Arguments {
        file: "start_up.svg".to_owned(),
        used: None,
        json: false,
    };
    let mut rest = std::env::args().skip(1);
    while let Some(argument) = rest.next() {
        if argument == "--used" {
            let number = rest.next().and_then(|text| text.parse().ok());
            let missing = "--used takes the gigabytes that are used at the start";
            parsed.used = Some(number.ok_or(missing)?);
        } else if argument == "--json" {
            parsed.json = true;
        } else if argument.starts_with('-') {
            return Err(format!(
                "{argument}: usage: start_up [FILE.svg] [--used GB] [--json]"
            ));
        } else {
            parsed.file = argument;
        }
    }
    Ok(parsed)
}

fn table(starts: &[StartUp]) -> String {
    let mut builder = Builder::new();
    builder.push_record([
        "memory",
        "blocks",
        "full pinning",
        "blocks",
        "PVDMA",
        "ratio",
    ]);
    for start in starts {
        builder.push_record([
            format!("{} GB", start.memory / GB),
            start.full.0.to_string(),
            format!("{:.1} s", start.full.1),
            start.on_demand.0.to_string(),
            format!("{:.1} s", start.on_demand.1),
            format!("{:.1}", start.ratio()),
        ]);
    }
    builder.build().with(Style::markdown()).to_string()
}

/// Memory and blocks as JSON, for `./stellar figures pvdma-6`.
fn counts(starts: &[StartUp]) -> String {
    let rows = starts.iter().map(|start| {
        format!(
            "{{\"memory\":{},\"full_blocks\":{},\"used_blocks\":{}}}",
            start.memory, start.full.0, start.on_demand.0
        )
    });
    format!("[{}]", rows.collect::<Vec<_>>().join(","))
}

fn plot(file: &str, starts: &[StartUp]) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::new(file, (720, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .caption(
            "Start of a guest (model, costs of STELLAR)",
            ("sans-serif", 18),
        )
        .build_cartesian_2d((16f64..1600f64).log_scale(), (1f64..1000f64).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("guest memory in GB")
        .y_desc("seconds")
        .draw()?;
    let full: Vec<_> = starts.iter().map(|start| start.full.1).collect();
    let on_demand: Vec<_> = starts.iter().map(|start| start.on_demand.1).collect();
    let lines = [("all memory pinned", RED, full), ("PVDMA", BLUE, on_demand)];
    for (name, color, seconds) in lines {
        let memory = starts.iter().map(|start| (start.memory / GB) as f64);
        let points = memory.zip(seconds);
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    root.present()?;
    Ok(())
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let Arguments { file, used, json } = arguments()?;
    let used = used.unwrap_or(u64::from(json));
    let model = |gigabytes| StartUp::model(&Costs::STELLAR, gigabytes * GB, used * GB);
    let starts = SIZES
        .into_iter()
        .map(model)
        .collect::<Result<Vec<_>, _>>()?;
    if json {
        println!("{}", counts(&starts));
        return Ok(());
    }
    println!("{}", table(&starts));
    plot(&file, &starts)?;
    println!("plot: {file}");
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
