//! `./stellar write_lat`: latency of RDMA WRITEs, there and back (perftest: `ib_write_lat`).

use std::time::Duration;

use anyhow::Context;

use super::hosts::{connect, memory, Host, Plan, Write};
use super::times::Latencies;
use super::{table, Options};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Bytes of a message
    #[arg(short, long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1 << 23))]
    size: u32,
    /// Round trips (perftest: 1000)
    #[arg(short = 'n', long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    iters: u32,
}

/// Runs the test.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let plan = Plan {
        queue_pairs: 1,
        depth: 2,
        bytes: arguments.size,
    };
    let hosts = connect(&plan, &arguments.options)?;
    let conditions = [
        ("Mtu", format!("{}[B]", arguments.options.mtu)),
        (
            "Max inline data",
            format!("{}[B]", arguments.options.inline_size),
        ),
    ];
    let cards = &arguments.options.cards;
    table::head("RDMA_Write Latency", cards, &conditions, &hosts);
    println!(" #bytes  #iterations  t_min[usec]  t_max[usec]  t_typical[usec]  t_avg[usec]  t_stdev[usec]  99% percentile[usec]  99.9% percentile[usec]");
    let rounds = bounce(&hosts, arguments)?;
    let found = Latencies::of(&rounds).context("not one round trip")?;
    println!(
        " {:<7} {:<12} {:<12.3} {:<12.3} {:<16.3} {:<12.3} {:<14.3} {:<21.3} {:.3}",
        arguments.size,
        arguments.iters,
        found.min,
        found.max,
        found.typical,
        found.average,
        found.deviation,
        found.percent_99,
        found.percent_99_9
    );
    table::end();
    Ok(())
}

/// A message goes there and back as often as was asked for: each host writes when the last byte of the other's message has
/// arrived in its memory. Returns when each round began, and the end of the last.
fn bounce(hosts: &[Host; 2], arguments: &Arguments) -> anyhow::Result<Vec<Duration>> {
    let [local, remote] = hosts;
    let mut rounds = vec![local.now()];
    for round in 0..arguments.iters {
        // Never what the memory held before.
        let mark = (round % 255) as u8 + 1;
        for (from, to) in [(local, remote), (remote, local)] {
            send(from, to, arguments.size, round, mark)?;
            let last = arguments.size as usize - 1;
            to.until("message", || {
                let mut byte = [0];
                memory(&to.target)?.read(last, &mut byte)?;
                Ok((byte[0] == mark).then_some(()))
            })?;
        }
        rounds.push(local.now());
    }
    Ok(rounds)
}

fn send(from: &Host, to: &Host, bytes: u32, round: u32, mark: u8) -> anyhow::Result<()> {
    memory(&from.source)?.write(bytes as usize - 1, &[mark])?;
    // The message before was answered, so its completion is there or about to be.
    if round > 0 {
        from.until("completion", || Ok(from.poll(1)?.pop()))?;
    }
    let write = Write {
        index: 0,
        stride: bytes,
        bytes,
        wr_id: round.into(),
        signaled: true,
        immediate: None,
    };
    from.write(to, &write)
}
