//! `./stellar write_bw` and `write_imm_bw`: bandwidth of RDMA WRITEs without and with immediate (perftest: `ib_write_bw`, with `--write_with_imm`).

use anyhow::{ensure, Context};

pub use super::bandwidth::Verb;
use super::bandwidth::{both, receive, send, Load};
use super::ends::connect;
use super::hosts::Plan;
use super::terms::Terms;
use super::times::Rates;
use super::{table, Options};

/// Largest size of `--all`, which are powers of two; perftest continues to 8 MiB.
const LARGEST_OF_ALL: u32 = 1 << 16;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Length of a message in bytes
    #[arg(short, long, default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1 << 26))]
    size: u32,
    /// Run sizes from 2 bytes to 64 KiB
    #[arg(short, long, conflicts_with = "size")]
    all: bool,
    /// Messages of each queue pair (perftest: 5000)
    #[arg(short = 'n', long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    iters: u32,
    /// Outstanding work requests of each queue pair
    #[arg(short, long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1 << 15))]
    tx_depth: u32,
    /// One in this number of work requests is signaled
    #[arg(short = 'Q', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1 << 15))]
    cq_mod: u32,
    /// Queue pairs
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    qp: u32,
    /// Print Gb/s instead of MiB/s
    #[arg(long = "report_gbits")]
    report_gbits: bool,
}

/// Runs the test.
pub fn run(arguments: &Arguments, verb: Verb) -> anyhow::Result<()> {
    let sizes: Vec<u32> = if arguments.all {
        (1..=LARGEST_OF_ALL.ilog2()).map(|log2| 1 << log2).collect()
    } else {
        vec![arguments.size]
    };
    let largest = sizes.iter().copied().max().unwrap_or(1);
    let (iters, tx_depth) = (arguments.iters, arguments.tx_depth);
    let plan = Plan {
        queue_pairs: arguments.qp,
        depth: tx_depth,
        bytes: largest,
        // A receiver in another process may poll late.
        completions: match verb {
            Verb::Write => tx_depth,
            Verb::WriteWithImmediate => tx_depth.max(iters),
        },
    };
    ensure!(
        arguments.cq_mod <= tx_depth,
        "a completion of one in {} work requests never comes with {tx_depth} under way; lower --cq-mod or raise --tx-depth",
        arguments.cq_mod,
    );
    let options = &arguments.options;
    let (title, name) = verb.names();
    let terms = Terms::new(
        name,
        options.transport(),
        options.mtu(),
        &sizes,
        iters,
        arguments.qp,
    );
    let mut ends = connect(&terms, &plan, options)?;
    let conditions = [
        ("Number of qps", arguments.qp.to_string()),
        ("TX depth", tx_depth.to_string()),
        ("CQ Moderation", arguments.cq_mod.to_string()),
        ("Mtu", format!("{}[B]", options.mtu())),
        ("Max inline data", format!("{}[B]", options.inline_size)),
    ];
    ends.head(title, options, &conditions);
    let unit = if arguments.report_gbits {
        "Gb/sec"
    } else {
        "MB/sec"
    };
    println!(" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]");
    let mut counted = 0;
    for size in sizes {
        let load = Load {
            verb,
            size,
            stride: largest,
            iters,
            tx_depth,
            cq_mod: arguments.cq_mod,
        };
        let (sent, received) = ends.run(
            |hosts| both(hosts, load),
            |end| send(end, load),
            |end| receive(end, load),
        )?;
        counted += received.immediates;
        let rates = sent.rates.context("the client measured nothing")?;
        arguments.row(size, &rates);
    }
    if verb == Verb::WriteWithImmediate {
        println!(" Immediates         : {counted} counted at the receiver, each number of each queue pair once");
    }
    table::end();
    Ok(())
}

impl Arguments {
    /// Prints the row of a size.
    fn row(&self, size: u32, rates: &Rates) {
        let unit = if self.report_gbits {
            8e-9
        } else {
            1.0 / f64::from(1 << 20)
        };
        let bandwidth = |rate: f64| rate * f64::from(size) * unit;
        let iterations = u64::from(self.iters) * u64::from(self.qp);
        println!(
            " {size:<10} {iterations:<14} {:<18.2} {:<20.2} {:.6}",
            bandwidth(rates.peak),
            bandwidth(rates.average),
            rates.average / 1e6
        );
    }
}
