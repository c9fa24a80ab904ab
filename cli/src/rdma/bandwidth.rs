//! Messages of one size from a sender to a receiver, as fast as possible.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{ensure, Context};
use serde::{Deserialize, Serialize};
use stellar_driver::{QueuePair, RemoteRegion};

use super::ends::End;
use super::hosts::{memory, Host, Write};
use super::times::{Rates, Times};

/// Longest time, on the cards' clock, from the sender's completion until the data has reached the receiver's program.
const LAG: Duration = Duration::from_millis(1);

/// RDMA operation whose bandwidth is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Write,
    /// Each message carries its number as immediate, and the receiver counts them.
    WriteWithImmediate,
}

impl Verb {
    /// Names of the test in perftest and in this program.
    pub const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Write => ("RDMA_Write BW", "write_bw"),
            Self::WriteWithImmediate => ("RDMA_Write_with_imm BW", "write_imm_bw"),
        }
    }
}

/// Traffic of the test.
#[derive(Clone, Copy)]
pub struct Load {
    pub verb: Verb,
    /// Length of a message in bytes.
    pub size: u32,
    /// Distance between the targets of two queue pairs in bytes.
    pub stride: u32,
    /// Messages of each queue pair.
    pub iters: u32,
    /// Outstanding work requests of each queue pair.
    pub tx_depth: u32,
    /// One in this number of work requests is signaled.
    pub cq_mod: u32,
}

impl Load {
    /// Contents of every message.
    fn bytes(&self) -> Vec<u8> {
        let byte = |i| (i * 7 + i / 251 + self.size) as u8;
        (0..self.size).map(byte).collect()
    }

    /// Offset of each queue pair's message in the regions of a host.
    fn places(self, host: &Host) -> impl Iterator<Item = usize> {
        (0..host.qps.len()).map(move |index| index * self.stride as usize)
    }
}

/// Result of an end.
#[derive(Serialize, Deserialize)]
pub struct Found {
    /// The sender: messages per second.
    pub rates: Option<Rates>,
    /// The receiver: number of immediates.
    pub immediates: usize,
}

impl Found {
    fn by_sender(times: &Times) -> anyhow::Result<Self> {
        let rates = times.rates().context("the transfer took no time")?;
        Ok(Self {
            rates: Some(rates),
            immediates: 0,
        })
    }
}

/// Runs both ends in this process. Returns the results of sender and receiver.
pub fn both(hosts: &[Host; 2], load: Load) -> anyhow::Result<(Found, Found)> {
    let [local, remote] = hosts;
    let mut receiver = Receiver::new(remote, load)?;
    let sender = Sender {
        host: local,
        to: remote.target.remote(),
        load,
    };
    let times = sender.transfer(|| receiver.count())?;
    Ok((Found::by_sender(&times)?, receiver.finish()?))
}

/// Runs the sender's end.
pub fn send(end: &mut End, load: Load) -> anyhow::Result<Found> {
    end.peer.meet()?;
    let sender = Sender {
        host: &end.host,
        to: end.told.target,
        load,
    };
    Found::by_sender(&sender.transfer(|| end.peer.expect_silence())?)
}

/// Runs the receiver's end, until the sender reports that it has finished.
pub fn receive(end: &mut End, load: Load) -> anyhow::Result<Found> {
    let mut receiver = Receiver::new(&end.host, load)?;
    end.peer.meet()?;
    if load.verb == Verb::Write {
        end.peer.wait();
    }
    while !end.peer.has_spoken()? {
        receiver.count()?;
        end.host.function().relax();
    }
    receiver.finish()
}

/// Progress of a queue pair.
#[derive(Clone, Copy, Default)]
struct Count {
    posted: u32,
    completed: u32,
}

struct Sender<'a> {
    host: &'a Host,
    to: RemoteRegion,
    load: Load,
}

impl Sender<'_> {
    /// Keeps the required number of work requests outstanding on every queue pair until all have completed. Calls `meanwhile` all the time.
    fn transfer(&self, mut meanwhile: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Times> {
        let (host, load) = (self.host, self.load);
        let bytes = load.bytes();
        for at in load.places(host) {
            memory(&host.source)?.write(at, &bytes)?;
        }
        let mut times = Times::default();
        let mut counts = vec![Count::default(); host.qps.len()];
        while counts.iter().any(|count| count.completed < load.iters) {
            for (index, count) in counts.iter_mut().enumerate() {
                self.post(index, count, &mut times)?;
            }
            let most = load.tx_depth as usize * host.qps.len();
            let completions = host.until("completion", || {
                meanwhile()?;
                let some = host.poll(most)?;
                Ok((!some.is_empty()).then_some(some))
            })?;
            let now = host.now();
            for completion in completions {
                let is_it = |qp: &QueuePair| qp.number() == completion.qp;
                let index = host.qps.iter().position(is_it);
                let count = &mut counts[index.context("a completion of no queue pair here")?];
                // A message without a completion of its own has completed when a later one has.
                let done = completion.wr_id as u32 + 1;
                times.complete((done - count.completed) as usize, now);
                count.completed = done;
            }
        }
        Ok(times)
    }

    fn post(&self, index: usize, count: &mut Count, times: &mut Times) -> anyhow::Result<()> {
        let load = self.load;
        while count.posted < load.iters && count.posted - count.completed < load.tx_depth {
            let next = count.posted + 1;
            let write = Write {
                index,
                stride: load.stride,
                bytes: load.size,
                wr_id: count.posted.into(),
                signaled: next.is_multiple_of(load.cq_mod) || next == load.iters,
                immediate: (load.verb == Verb::WriteWithImmediate).then_some(count.posted),
            };
            times.post(self.host.now());
            self.host.write(&self.to, &write)?;
            count.posted = next;
        }
        Ok(())
    }
}

/// The receiver of the messages.
struct Receiver<'a> {
    host: &'a Host,
    load: Load,
    /// Immediates received, with their queue pair.
    arrived: BTreeSet<(u32, u32)>,
}

impl<'a> Receiver<'a> {
    /// Discards earlier arrivals, before the first message is sent.
    fn new(host: &'a Host, load: Load) -> anyhow::Result<Self> {
        for at in load.places(host) {
            memory(&host.target)?.write(at, &vec![0; load.size as usize])?;
        }
        Ok(Self {
            host,
            load,
            arrived: BTreeSet::new(),
        })
    }

    /// Reads the immediates that have arrived.
    fn count(&mut self) -> anyhow::Result<()> {
        for completion in self.host.poll(usize::MAX)? {
            let (qp, bytes) = (completion.qp, completion.byte_len);
            let number = completion
                .immediate
                .with_context(|| format!("queue pair {qp}: a completion without immediate"))?;
            ensure!(
                bytes == self.load.size && number < self.load.iters,
                "queue pair {qp}: immediate {number:#x} of {bytes} bytes, which nobody sent"
            );
            ensure!(
                self.arrived.insert((qp, number)),
                "queue pair {qp}: immediate {number:#x} arrived twice"
            );
        }
        Ok(())
    }

    /// When the sender has finished: every immediate has arrived, and every byte is correct.
    fn finish(mut self) -> anyhow::Result<Found> {
        let (host, load) = (self.host, self.load);
        if load.verb == Verb::WriteWithImmediate {
            let all = host.qps.len() * load.iters as usize;
            host.within(LAG, "immediate of each message", || {
                self.count()?;
                Ok((self.arrived.len() == all).then_some(()))
            })?;
        }
        let sent = load.bytes();
        for (qp, at) in host.qps.iter().zip(load.places(host)) {
            let mut arrived = vec![0; sent.len()];
            memory(&host.target)?.read(at, &mut arrived)?;
            let qp = qp.number();
            ensure!(
                arrived == sent,
                "queue pair {qp}: other bytes arrived than were sent"
            );
        }
        Ok(Found {
            rates: None,
            immediates: self.arrived.len(),
        })
    }
}
