//! The program behind `./stellar prove`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use clap::Parser;
use hdl_proofs::{decide, mutants, named, Kind, Limits, Problem, Proof, Tools, Trace};
use hdl_proofs::{Verdict, ALL};
use indicatif::ProgressBar;
use serde_json::{json, Value};
use tabled::builder::Builder;
use tabled::settings::Style;

/// rust-hdl stores wide words as arrays of `bool`, so a block is too large for the stack of an ordinary thread.
const STACK: usize = 512 << 20;
/// Cycles of a counterexample that are shown: its last ones.
const SHOWN: usize = 12;

/// Prove properties of hardware blocks on their Verilog
#[derive(Parser)]
#[command(name = "stellar prove")]
struct Arguments {
    /// Blocks; all if none is given
    names: Vec<String>,
    /// Cycles in which a violation is looked for when no proof is found
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    depth: u32,
    /// Seconds of each engine, for one property
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3600))]
    seconds: u32,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// List the blocks that have properties
    #[arg(long)]
    list: bool,
    /// Change the blocks, one operator, constant, condition or assignment at a time, until each property was seen to fail
    #[arg(long)]
    mutants: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let worker = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || run(&arguments))
        .expect("a thread can be started");
    match worker.join() {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        Ok(Ok(false)) => ExitCode::FAILURE,
        Ok(Err(error)) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
        // The panic was reported already.
        Err(_) => ExitCode::FAILURE,
    }
}

/// Returns whether every property has the answer that it asks for.
fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    if arguments.list {
        for proof in ALL {
            println!("{:<16} {}", proof.name, proof.what);
        }
        return Ok(true);
    }
    let wanted: Result<Vec<&Proof>, String> = arguments.names.iter().map(|n| named(n)).collect();
    let mut wanted = wanted.map_err(|e| anyhow!(e))?;
    if wanted.is_empty() {
        wanted = ALL.iter().collect();
    }
    let limits = Limits {
        depth: arguments.depth as usize,
        seconds: arguments.seconds.into(),
    };
    let begin = Instant::now();
    let mut rows = vec![];
    for proof in wanted {
        rows.extend(if arguments.mutants {
            of_mutants(proof, limits)?
        } else {
            of_block(proof, limits)?
        });
    }
    let good = rows.iter().all(|r| r.good);
    if arguments.json {
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        let all =
            json!({ "good": good, "seconds": begin.elapsed().as_secs_f64(), "properties": rows });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(good);
    }
    print_table(&rows);
    for row in rows.iter() {
        if let Some(trace) = &row.trace {
            print_trace(row, trace);
        }
    }
    let failed = rows.iter().filter(|r| !r.good).count();
    println!(
        "{} properties, {failed} failed, {:.0} s",
        rows.len(),
        begin.elapsed().as_secs_f64()
    );
    Ok(good)
}

/// A property and its answer.
struct Row {
    block: &'static str,
    property: String,
    kind: Kind,
    answer: String,
    good: bool,
    time: Duration,
    trace: Option<Trace>,
}

impl Row {
    fn json(&self) -> Value {
        let inputs = self.trace.as_ref().map(|t| {
            let named = t.inputs.iter().cloned();
            json!({ "cycle": t.frame, "inputs": named.collect::<std::collections::BTreeMap<_, _>>() })
        });
        json!({
            "block": self.block, "property": self.property, "answer": self.answer, "good": self.good,
            "kind": kind_name(self.kind), "seconds": self.time.as_secs_f64(), "counterexample": inputs,
        })
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Holds => "holds",
        Kind::Reaches => "reaches",
    }
}

/// Where the files of a block's proof are.
fn directory(name: &str) -> PathBuf {
    PathBuf::from(".stellar/prove").join(name)
}

fn of_block(proof: &'static Proof, limits: Limits) -> anyhow::Result<Vec<Row>> {
    let progress = spinner(format!("{}: translation", proof.name));
    let tools = Tools::default();
    let problem = Problem::new(&proof.design()?, &directory(proof.name), &tools, |text| {
        text
    })?;
    let mut rows = vec![];
    for (index, check) in problem.checks.iter().enumerate() {
        progress.set_message(format!("{}: {}", proof.name, check.name));
        let (verdict, time) = decide(&problem, index, limits, &tools)?;
        let good = verdict.is_good();
        let (answer, trace) = match verdict {
            Verdict::Proved => ("proved".into(), None),
            Verdict::Bounded(depth) => (format!("bounded to depth {depth}"), None),
            Verdict::Reached(cycle) => (format!("reached in cycle {cycle}"), None),
            Verdict::Unreached(why) => (format!("FAILED: {why}"), None),
            Verdict::Violated(trace) => (format!("FAILED in cycle {}", trace.frame), Some(trace)),
        };
        rows.push(Row {
            block: proof.name,
            property: check.name.clone(),
            kind: check.kind,
            answer,
            good,
            time,
            trace,
        });
    }
    progress.finish_and_clear();
    Ok(rows)
}

/// For each property, finds a change of the block that makes it fail.
fn of_mutants(proof: &'static Proof, limits: Limits) -> anyhow::Result<Vec<Row>> {
    let begin = Instant::now();
    let progress = spinner(format!("{}: mutants", proof.name));
    let place = directory(proof.name).join("mutant");
    let design = proof.design()?;
    let found = mutants::search(
        &design,
        &place,
        &Tools::default(),
        limits,
        &mut |at, all| {
            progress.set_message(format!("{}: mutant {at} of {all}", proof.name));
        },
    )?;
    progress.finish_and_clear();
    let row = |property, answer, good| Row {
        block: proof.name,
        property,
        kind: Kind::Holds,
        answer,
        good,
        time: begin.elapsed(),
        trace: None,
    };
    let failed = found.failed.into_iter();
    let mut rows: Vec<Row> = failed
        .map(|(property, what)| row(property, what, true))
        .collect();
    let blind = format!("FAILED: holds for all of {} mutants", found.tried);
    rows.extend(
        found
            .blind
            .into_iter()
            .map(|property| row(property, blind.clone(), false)),
    );
    Ok(rows)
}

fn spinner(message: String) -> ProgressBar {
    let progress = ProgressBar::new_spinner().with_message(message);
    progress.enable_steady_tick(Duration::from_millis(200));
    progress
}

fn print_table(rows: &[Row]) {
    let mut table = Builder::default();
    table.push_record(["block", "property", "answer", "time"]);
    for row in rows {
        let property = match row.kind {
            Kind::Holds => row.property.clone(),
            Kind::Reaches => format!("reaches {}", row.property),
        };
        let time = format!("{:.1} s", row.time.as_secs_f64());
        table.push_record([row.block.into(), property, row.answer.clone(), time]);
    }
    println!("{}", table.build().with(Style::modern_rounded()));
}

fn print_trace(row: &Row, trace: &Trace) {
    println!(
        "{}: {} fails in cycle {}:",
        row.block, row.property, trace.frame
    );
    let first = (trace.frame + 1).saturating_sub(SHOWN);
    let mut table = Builder::default();
    let cycles = (first..=trace.frame).map(|cycle| cycle.to_string());
    table.push_record(std::iter::once("input".to_owned()).chain(cycles));
    for (name, values) in &trace.inputs {
        table.push_record(std::iter::once(name.clone()).chain(values[first..].iter().cloned()));
    }
    println!("{}", table.build().with(Style::modern_rounded()));
}
