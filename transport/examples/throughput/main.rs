//! Data packets per second of CPU time of two connected cards, as records or as frames, and the memory of their queue pairs.
//!
//! `cargo run --release -p stellar-transport --example throughput -- [records|bytes] [bytes|checked|unchecked] [QUEUE_PAIRS] [MIB]`: each queue pair
//! sends MIB messages of 1 MiB in each direction over two lossless 200G lines with a delay of 2 us.

mod cards;

use std::collections::VecDeque;
use std::sync::Arc;

use allocation_counter::measure;
use stellar_transport::endpoint::{CardModel, Packet, PayloadPolicy, Transit, PORTS};
use stellar_transport::spray::{EntropyProfile, GeneratedEntropy, HeaderFields};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Wqe, WqeOpcode};

use cards::{card, queue_pair, Card, Failure, BASE, KEY};

/// One-way delay in ticks: 2 us.
const DELAY: u64 = 250;
/// Bytes a 200G line takes in a tick.
const BYTES_PER_TICK: u64 = 200;
const MESSAGE: u32 = 1 << 20;

/// A packet on a line, in one of the two skins.
enum Parcel {
    Frame(Vec<u8>),
    Record(Packet),
}

/// A line from a port of one card to the same port of the other.
#[derive(Default)]
struct Line {
    free: u64,
    on_the_way: VecDeque<(u64, Parcel)>,
}

fn poll(card: &mut Card, port: usize, now: Ticks, records: bool) -> Option<(u64, Parcel)> {
    if records {
        let departure = card.poll_packet(port, now)?;
        Some((
            departure.frame_length.into(),
            Parcel::Record(departure.packet),
        ))
    } else {
        let frame = card.poll_transmit(port, now)?;
        Some((frame.len() as u64, Parcel::Frame(frame)))
    }
}

/// Runs to the end.
fn run(cards: &mut [Card; 2], records: bool) {
    let mut lines: [[Line; PORTS]; 2] = Default::default();
    let mut now = 0;
    loop {
        let ticks = Ticks(now as u32);
        for (from, lines) in lines.iter_mut().enumerate() {
            for (port, line) in lines.iter_mut().enumerate() {
                while line.on_the_way.front().is_some_and(|(at, _)| *at <= now) {
                    let to = &mut cards[1 - from];
                    match line.on_the_way.pop_front() {
                        Some((_, Parcel::Frame(frame))) => to.receive(port, &frame, ticks),
                        Some((_, Parcel::Record(packet))) => {
                            to.receive_packet(port, &packet, Transit::default(), ticks);
                        }
                        None => {}
                    }
                }
            }
        }
        let mut next = u64::MAX;
        for (card, lines) in cards.iter_mut().zip(&mut lines) {
            card.on_timer(ticks);
            for (port, line) in lines.iter_mut().enumerate() {
                if line.free <= now {
                    if let Some((length, parcel)) = poll(card, port, ticks, records) {
                        line.free = now + length.div_ceil(BYTES_PER_TICK);
                        line.on_the_way.push_back((line.free + DELAY, parcel));
                    }
                }
                if line.free > now {
                    next = next.min(line.free);
                }
                if let Some((at, _)) = line.on_the_way.front() {
                    next = next.min(*at);
                }
            }
            if let Some(at) = card.next_deadline() {
                next = next.min(now + u64::from(at.since(ticks).0));
            }
        }
        if next == u64::MAX {
            return;
        }
        now = next;
    }
}

/// Seconds of CPU time of this process so far.
fn cpu_seconds() -> Result<f64, Failure> {
    let stat = std::fs::read_to_string("/proc/self/schedstat")?;
    let nanoseconds = stat.split(' ').next().ok_or("an empty schedstat")?;
    Ok(nanoseconds.parse::<u64>()? as f64 * 1e-9)
}

fn create(
    cards: &mut [Card; 2],
    queue_pairs: u32,
    profile: &Arc<EntropyProfile>,
) -> Result<(), Failure> {
    for (number, card) in cards.iter_mut().enumerate() {
        for qp in 2..queue_pairs + 2 {
            card.create_qp(queue_pair(number, qp, profile)?, Ticks(0))?;
        }
    }
    Ok(())
}

fn post(cards: &mut [Card; 2], queue_pairs: u32, messages: u64) -> Result<(), Failure> {
    for card in cards {
        for qp in 2..queue_pairs + 2 {
            for wr_id in 0..messages {
                let wqe = Wqe {
                    opcode: WqeOpcode::Write,
                    signaled: wr_id + 1 == messages,
                    length: MESSAGE,
                    remote_va: BASE,
                    rkey: KEY,
                    wr_id,
                    local_va: BASE,
                    lkey: KEY,
                    ..Wqe::default()
                };
                card.post(qp, wqe)?;
            }
        }
    }
    Ok(())
}

/// Bytes of memory that an action takes and keeps.
fn retained(act: impl FnOnce() -> Result<(), Failure>) -> Result<u64, Failure> {
    let mut result = Ok(());
    let info = measure(|| result = act());
    result?;
    Ok(info.bytes_current.try_into()?)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |n: usize, default: &'static str| {
        arguments.get(n).map_or(default, String::as_str).to_owned()
    };
    let records = match argument(0, "records").as_str() {
        "records" => true,
        "bytes" => false,
        other => return Err(format!("no skin `{other}`; use records or bytes").into()),
    };
    let payload = match argument(1, "unchecked").as_str() {
        "bytes" => PayloadPolicy::Bytes,
        "checked" => PayloadPolicy::Checked,
        "unchecked" => PayloadPolicy::Unchecked,
        other => {
            let policies = "use bytes, checked or unchecked";
            return Err(format!("no payload policy `{other}`; {policies}").into());
        }
    };
    let queue_pairs: u32 = argument(2, "1").parse()?;
    let messages: u64 = argument(3, "256").parse()?;
    let model = CardModel {
        payload,
        path_loads: false,
        queue_pairs: queue_pairs + 2,
        ..CardModel::default()
    };
    let values = GeneratedEntropy {
        base: 0xc000,
        stride_log2: 0,
        active: 128,
        backups: 16,
    };
    let profile = EntropyProfile::generated(values, HeaderFields::SourcePort)?;
    let profile = Arc::new(profile);
    let mut cards = [card(0, model)?, card(1, model)?];
    let created = retained(|| create(&mut cards, queue_pairs, &profile))?;
    post(&mut cards, queue_pairs, messages)?;
    let start = cpu_seconds()?;
    let running = measure(|| run(&mut cards, records));
    let seconds = cpu_seconds()? - start;
    let packets: u64 = cards
        .iter()
        .flat_map(|card| (2..queue_pairs + 2).filter_map(|qp| card.qp_counters(qp)))
        .map(|counters| counters.packets)
        .sum();
    println!(
        "{packets} data packets in {seconds:.2} s of CPU time: {:.0} k/s, {:.3} allocations each",
        packets as f64 / seconds / 1e3,
        running.count_total as f64 / packets as f64,
    );
    let each = |bytes: u64| bytes / u64::from(2 * queue_pairs);
    println!(
        "{} bytes per queue pair when created, at most {} when busy (packets on the lines included, work requests not)",
        each(created),
        each(created + running.bytes_max),
    );
    Ok(())
}
