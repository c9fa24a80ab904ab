//! `./stellar write_bw` and `write_imm_bw`: bandwidth of RDMA WRITEs without and with immediate (perftest: `ib_write_bw`, with `--write_with_imm`).

use std::collections::BTreeSet;

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

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Write,
    /// Each message carries its number, and the receiver counts them.
    WriteWithImmediate,
}

impl Verb {
    const fn title(self) -> &'static str {
        match self {
            Self::Write => "RDMA_Write BW",
            Self::WriteWithImmediate => "RDMA_Write_with_imm BW",
        }
    }
}

/// Runs the test.
pub fn run(arguments: &Arguments, verb: Verb) -> anyhow::Result<()> {
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
    table::head(verb.title(), cards, &conditions, &hosts);
    let unit = if arguments.report_gbits {
        "Gb/sec"
    } else {
        "MB/sec"
    };
    println!(" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]");
    let mut counted = 0;
    for size in sizes {
        let test = Test {
            hosts: &hosts,
            arguments,
            verb,
            stride: plan.bytes,
            size,
        };
        let (Rates { average, peak }, arrived) = test.run()?;
        counted += arrived;
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
    if verb == Verb::WriteWithImmediate {
        println!(" Immediates         : {counted} counted at the receiver, each number of each queue pair once");
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
    verb: Verb,
    /// Bytes between what two queue pairs write.
    stride: u32,
    size: u32,
}

impl Test<'_> {
    /// Messages per second, when every byte has been found where it belongs, and immediates that the receiver has counted.
    fn run(&self) -> anyhow::Result<(Rates, usize)> {
        let [local, remote] = self.hosts;
        let byte = |i| (i * 7 + i / 251 + self.size) as u8;
        let sent: Vec<u8> = (0..self.size).map(byte).collect();
        let places = || (0..local.qps.len()).map(|index| index * self.stride as usize);
        for at in places() {
            memory(&local.source)?.write(at, &sent)?;
            memory(&remote.target)?.write(at, &vec![0; sent.len()])?;
        }
        let (times, arrived) = self.transfer()?;
        for (qp, at) in local.qps.iter().zip(places()) {
            let mut arrived = vec![0; sent.len()];
            memory(&remote.target)?.read(at, &mut arrived)?;
            let qp = qp.number();
            ensure!(
                arrived == sent,
                "queue pair {qp}: other bytes arrived than were sent"
            );
        }
        let rates = times.rates().context("the transfer took no time")?;
        Ok((rates, arrived.len()))
    }

    /// Keeps every queue pair as deep in work as was asked for, until all is completed. Also returns the immediates that arrived, with
    /// the receiver's queue pair.
    fn transfer(&self) -> anyhow::Result<(Times, BTreeSet<(u32, u32)>)> {
        let local = &self.hosts[0];
        let mut arrived = BTreeSet::new();
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
            self.count(&mut arrived)?;
        }
        if self.verb == Verb::WriteWithImmediate {
            let all = local.qps.len() * iters as usize;
            local.until("immediate of each message", || {
                self.count(&mut arrived)?;
                Ok((arrived.len() == all).then_some(()))
            })?;
        }
        Ok((times, arrived))
    }

    /// Takes what the receiver was told. It has room for as many as can be under way, so this comes before more are posted.
    fn count(&self, arrived: &mut BTreeSet<(u32, u32)>) -> anyhow::Result<()> {
        let remote = &self.hosts[1];
        for completion in remote.poll(usize::MAX)? {
            let (qp, bytes) = (completion.qp, completion.byte_len);
            let number = completion
                .immediate
                .with_context(|| format!("queue pair {qp}: a completion without immediate"))?;
            ensure!(
                bytes == self.size && number < self.arguments.iters,
                "queue pair {qp}: immediate {number:#x} of {bytes} bytes, which nobody sent"
            );
            ensure!(
                arrived.insert((qp, number)),
                "queue pair {qp}: immediate {number:#x} arrived twice"
            );
        }
        Ok(())
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
                immediate: (self.verb == Verb::WriteWithImmediate).then_some(count.posted),
            };
            times.post(local.now());
            local.write(remote, &write)?;
            count.posted = next;
        }
        Ok(())
    }
}
