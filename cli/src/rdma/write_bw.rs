//! `./stellar write_bw`: bandwidth of RDMA WRITEs (perftest: `ib_write_bw`).

use anyhow::{ensure, Context};
use stellar_driver::QueuePair;

use super::hosts::{connect, memory, Host, Plan, Write};
use super::times::{Rates, Times};
use super::{table, Options};

/// Sizes of `--all`: powers of two up to this one, where perftest goes on to 8 MiB.
const LARGEST_OF_ALL: u32 = 1 << 16;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Bytes of a message
    #[arg(short, long, default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(1..=1 << 26))]
    size: u32,
    /// Run sizes from 2 bytes to 64 KiB
    #[arg(short, long, conflicts_with = "size")]
    all: bool,
    /// Messages of each queue pair (perftest: 5000)
    #[arg(short = 'n', long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=20_000))]
    iters: u32,
    /// Work requests under way in each queue pair
    #[arg(short, long, default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1 << 15))]
    tx_depth: u32,
    /// Completions asked for: of one in so many work requests
    #[arg(short = 'Q', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1 << 15))]
    cq_mod: u32,
    /// Queue pairs
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    qp: u32,
    /// Gb/s instead of MiB/s
    #[arg(long = "report_gbits")]
    report_gbits: bool,
}

/// Runs the test.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let sizes: Vec<u32> = if arguments.all {
        (1..=LARGEST_OF_ALL.ilog2()).map(|log2| 1 << log2).collect()
    } else {
        vec![arguments.size]
    };
    let plan = Plan {
        queue_pairs: arguments.qp,
        depth: arguments.tx_depth,
        bytes: sizes.iter().copied().max().unwrap_or(1),
    };
    ensure!(
        arguments.cq_mod <= arguments.tx_depth,
        "a completion of one in {} work requests never comes with {} under way; lower --cq-mod or raise --tx-depth",
        arguments.cq_mod,
        arguments.tx_depth
    );
    let hosts = connect(&plan, &arguments.options)?;
    let conditions = [
        ("Number of qps", arguments.qp.to_string()),
        ("TX depth", arguments.tx_depth.to_string()),
        ("CQ Moderation", arguments.cq_mod.to_string()),
        ("Mtu", format!("{}[B]", arguments.options.mtu)),
        (
            "Max inline data",
            format!("{}[B]", arguments.options.inline_size),
        ),
    ];
    let cards = &arguments.options.cards;
    table::head("RDMA_Write BW", cards, &conditions, &hosts);
    let unit = if arguments.report_gbits {
        "Gb/sec"
    } else {
        "MB/sec"
    };
    println!(" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]");
    for size in sizes {
        let test = Test {
            hosts: &hosts,
            arguments,
            stride: plan.bytes,
            size,
        };
        let Rates { average, peak } = test.run()?;
        let unit = if arguments.report_gbits {
            8e-9
        } else {
            1.0 / f64::from(1 << 20)
        };
        let bandwidth = |rate: f64| rate * f64::from(size) * unit;
        let iterations = u64::from(arguments.iters) * u64::from(arguments.qp);
        println!(
            " {size:<10} {iterations:<14} {:<18.2} {:<20.2} {:.6}",
            bandwidth(peak),
            bandwidth(average),
            average / 1e6
        );
    }
    table::end();
    Ok(())
}

/// How far a queue pair is.
#[derive(Clone, Copy, Default)]
struct Count {
    posted: u32,
    completed: u32,
}

/// One size.
struct Test<'a> {
    hosts: &'a [Host; 2],
    arguments: &'a Arguments,
    /// Bytes between what two queue pairs write.
    stride: u32,
    size: u32,
}

impl Test<'_> {
    /// Messages per second, when every byte has been found where it belongs.
    fn run(&self) -> anyhow::Result<Rates> {
        let [local, remote] = self.hosts;
        let byte = |i| (i * 7 + i / 251 + self.size) as u8;
        let sent: Vec<u8> = (0..self.size).map(byte).collect();
        let places = || (0..local.qps.len()).map(|index| index * self.stride as usize);
        for at in places() {
            memory(&local.source)?.write(at, &sent)?;
            memory(&remote.target)?.write(at, &vec![0; sent.len()])?;
        }
        let times = self.transfer()?;
        for (qp, at) in local.qps.iter().zip(places()) {
            let mut arrived = vec![0; sent.len()];
            memory(&remote.target)?.read(at, &mut arrived)?;
            let qp = qp.number();
            ensure!(
                arrived == sent,
                "queue pair {qp}: other bytes arrived than were sent"
            );
        }
        times.rates().context("the transfer took no time")
    }

    /// Keeps every queue pair as deep in work as was asked for, until all is completed.
    fn transfer(&self) -> anyhow::Result<Times> {
        let local = &self.hosts[0];
        let iters = self.arguments.iters;
        let mut times = Times::default();
        let mut counts = vec![Count::default(); local.qps.len()];
        while counts.iter().any(|count| count.completed < iters) {
            for (index, count) in counts.iter_mut().enumerate() {
                self.post(index, count, &mut times)?;
            }
            let most = self.arguments.tx_depth as usize * local.qps.len();
            let completions = local.until("completion", || {
                let some = local.poll(most)?;
                Ok((!some.is_empty()).then_some(some))
            })?;
            let now = local.now();
            for completion in completions {
                let is_it = |qp: &QueuePair| qp.number() == completion.qp;
                let index = local.qps.iter().position(is_it);
                let count = &mut counts[index.context("a completion of no queue pair here")?];
                // A message that asked for no completion is done when a later one is.
                let done = completion.wr_id as u32 + 1;
                times.complete((done - count.completed) as usize, now);
                count.completed = done;
            }
        }
        Ok(times)
    }

    fn post(&self, index: usize, count: &mut Count, times: &mut Times) -> anyhow::Result<()> {
        let [local, remote] = self.hosts;
        let Arguments {
            iters,
            tx_depth,
            cq_mod,
            ..
        } = *self.arguments;
        while count.posted < iters && count.posted - count.completed < tx_depth {
            let next = count.posted + 1;
            let write = Write {
                index,
                stride: self.stride,
                bytes: self.size,
                wr_id: count.posted.into(),
                signaled: next % cq_mod == 0 || next == iters,
            };
            times.post(local.now());
            local.write(remote, &write)?;
            count.posted = next;
        }
        Ok(())
    }
}
