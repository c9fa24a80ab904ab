//! `./stellar write_lat`: latency of RDMA WRITEs, there and back (perftest: `ib_write_lat`).

use std::time::Duration;

use anyhow::{ensure, Context};
use stellar_driver::RemoteRegion;

use super::ends::{connect, End};
use super::hosts::{memory, Host, Plan, Write};
use super::terms::Terms;
use super::times::Latencies;
use super::{table, Options};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    options: Options,
    /// Length of a message in bytes
    #[arg(short, long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1 << 23))]
    size: u32,
    /// Round trips (perftest: 1000)
    #[arg(short = 'n', long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    iters: u32,
}

/// Runs the test.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    const QUEUE_PAIRS: u32 = 1;
    const DEPTH: u32 = 2;
    let (size, iters) = (arguments.size, arguments.iters);
    let plan = Plan {
        queue_pairs: QUEUE_PAIRS,
        depth: DEPTH,
        bytes: size,
        completions: DEPTH,
    };
    let options = &arguments.options;
    let terms = Terms::new(
        "write_lat",
        options.transport(),
        options.mtu(),
        &[size],
        iters,
        QUEUE_PAIRS,
    );
    let mut ends = connect(&terms, &plan, options)?;
    let conditions = [
        ("Mtu", format!("{}[B]", options.mtu())),
        ("Max inline data", format!("{}[B]", options.inline_size)),
    ];
    ends.head("RDMA_Write Latency", options, &conditions);
    println!(" #bytes  #iterations  t_min[usec]  t_max[usec]  t_typical[usec]  t_avg[usec]  t_stdev[usec]  99% percentile[usec]  99.9% percentile[usec]");
    let (found, _) = ends.run(
        |hosts| Ok((both(hosts, size, iters)?, None)),
        |end| send(end, size, iters),
        |end| receive(end, size, iters),
    )?;
    let found = found.context("not one round trip")?;
    println!(
        " {:<7} {:<12} {:<12.3} {:<12.3} {:<16.3} {:<12.3} {:<14.3} {:<21.3} {:.3}",
        size,
        iters,
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

/// Sends a message to the other end and back, as often as configured. Each end writes when the last byte of the other end's message has arrived in
/// its memory.
fn both(hosts: &[Host; 2], size: u32, iters: u32) -> anyhow::Result<Option<Latencies>> {
    let [local, remote] = hosts;
    let (local, remote) = (
        Side::new(local, remote.target.remote(), size)?,
        Side::new(remote, local.target.remote(), size)?,
    );
    let mut rounds = vec![local.host.now()];
    for round in 0..iters {
        local.send(round)?;
        remote.until_arrived(round, || Ok(()))?;
        remote.send(round)?;
        rounds.push(local.until_arrived(round, || Ok(()))?);
    }
    Ok(Latencies::of(&rounds))
}

/// Runs the end that sends first, and measures.
fn send(end: &mut End, size: u32, iters: u32) -> anyhow::Result<Option<Latencies>> {
    let side = Side::new(&end.host, end.told.target, size)?;
    end.peer.meet()?;
    let mut rounds = vec![side.host.now()];
    for round in 0..iters {
        side.send(round)?;
        rounds.push(side.until_arrived(round, || end.peer.expect_silence())?);
    }
    Ok(Latencies::of(&rounds))
}

/// Runs the end that replies, until the other end sends no more messages.
fn receive(end: &mut End, size: u32, iters: u32) -> anyhow::Result<Option<Latencies>> {
    let side = Side::new(&end.host, end.told.target, size)?;
    end.peer.meet()?;
    for round in 0..iters {
        while !side.has_arrived(round)? {
            ensure!(
                !end.peer.has_spoken()? || side.has_arrived(round)?,
                "message {round} of {iters} has not come"
            );
            side.host.function().relax();
        }
        side.send(round)?;
    }
    side.until_completed()?;
    Ok(None)
}

/// One end and its message.
struct Side<'a> {
    host: &'a Host,
    to: RemoteRegion,
    size: u32,
}

impl<'a> Side<'a> {
    /// Prepares for the first message.
    fn new(host: &'a Host, to: RemoteRegion, size: u32) -> anyhow::Result<Self> {
        let side = Self { host, to, size };
        memory(&host.target)?.write(side.last(), &[0])?;
        Ok(side)
    }

    const fn last(&self) -> usize {
        self.size as usize - 1
    }

    /// Last byte of a message: different from that of the previous message, and never the initial contents of the memory.
    const fn mark(round: u32) -> u8 {
        (round % 255) as u8 + 1
    }

    fn send(&self, round: u32) -> anyhow::Result<()> {
        memory(&self.host.source)?.write(self.last(), &[Self::mark(round)])?;
        // The previous message was answered, so its completion is there or about to arrive.
        if round > 0 {
            self.until_completed()?;
        }
        let write = Write {
            index: 0,
            stride: self.size,
            bytes: self.size,
            wr_id: round.into(),
            signaled: true,
            immediate: None,
        };
        self.host.write(&self.to, &write)
    }

    fn has_arrived(&self, round: u32) -> anyhow::Result<bool> {
        let mut byte = [0];
        memory(&self.host.target)?.read(self.last(), &mut byte)?;
        Ok(byte[0] == Self::mark(round))
    }

    /// Time at which the other's message arrived; `peer_is_silent` fails if the other end has stopped.
    fn until_arrived(
        &self,
        round: u32,
        peer_is_silent: impl Fn() -> anyhow::Result<()>,
    ) -> anyhow::Result<Duration> {
        self.host.until("message", || {
            if !self.has_arrived(round)? {
                // The message may have arrived just before the end stopped.
                let silent = peer_is_silent();
                if !self.has_arrived(round)? {
                    return silent.map(|()| None);
                }
            }
            Ok(Some(self.host.now()))
        })
    }

    /// Waits until the other end's last message has arrived.
    fn until_completed(&self) -> anyhow::Result<()> {
        let look = || Ok(self.host.poll(1)?.pop());
        self.host.until("completion", look).map(drop)
    }
}
