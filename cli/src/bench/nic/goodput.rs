//! Goodput and message rate of saturated queue pairs.

use sim_net::Time;
use sim_nic::{RtlNic, Span};
use sim_world::pair::{RECEIVER, SENDER};
use sim_world::report::MRC_OVERHEAD;
use sim_world::transfer::{run, Run, Transfer};
use sim_world::Plan;

use super::speed::Speed;
use super::{plan, Effort, Row, QPS};
use crate::progress;

/// log2 of the payload of a packet, the path MTU.
const MTUS: [u8; 3] = [12, 10, 8];
/// Packets of a message of the goodput rows.
const MESSAGE_PACKETS: u32 = 32;
/// log2 of the payload and number of queue pairs of the rows whose messages have one packet.
const MESSAGE_GOODPUT: [(u8, u32); 3] = [(12, 1), (10, 16), (8, 64)];
/// Messages of a message rate row.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Write,
    /// The payload is in the send queue entry, and is not read.
    Inline,
    WriteImm,
}

/// Kind, length in bytes and queue pairs of the message rate rows.
const RATES: [(Kind, u32, u32); 8] = [
    (Kind::Write, 2, 1),
    (Kind::Write, 2, 16),
    (Kind::Write, 2, 64),
    (Kind::Inline, 2, 1),
    (Kind::Inline, 2, 64),
    (Kind::Inline, 64, 1),
    (Kind::Inline, 64, 64),
    (Kind::WriteImm, 2, 64),
];
/// Time limit of a run: 1 s.
pub const LIMIT: Time = 1_000_000_000_000;

/// Goodput by payload per packet and number of queue pairs: from the first byte in the receiver's memory to the last one.
pub fn goodput(effort: Effort, speed: &mut Speed) -> anyhow::Result<Vec<Row>> {
    let mut rows = vec![];
    for mtu_log2 in MTUS {
        for qps in QPS {
            let name = format!("goodput {}, {}", 1 << mtu_log2, queue_pairs(qps));
            if !effort.wants(&name) {
                continue;
            }
            let (plan, transfer) = messages(effort, qps, mtu_log2, MESSAGE_PACKETS)?;
            let run = progress::measuring(&name, || speed.measure(&plan, transfer))?;
            rows.push(goodput_row(name, &run));
        }
    }
    for (mtu_log2, qps) in MESSAGE_GOODPUT {
        let name = format!("message goodput {}, {}", 1 << mtu_log2, queue_pairs(qps));
        if !effort.wants(&name) {
            continue;
        }
        let (plan, transfer) = messages(effort, qps, mtu_log2, 1)?;
        let run = progress::measuring(&name, || run::<RtlNic>(&plan, transfer))?;
        rows.push(goodput_row(name, &run));
    }
    Ok(rows)
}

/// Messages of `packets` packets each, which are the packets of a goodput row together.
fn messages(
    effort: Effort,
    qps: u32,
    mtu_log2: u8,
    packets: u32,
) -> anyhow::Result<(Plan, Transfer)> {
    let transfer = Transfer {
        bytes: packets << mtu_log2,
        messages: effort.packets / packets / qps,
        immediates: false,
        interval: 0,
        limit: LIMIT,
    };
    Ok((plan(effort, qps, mtu_log2)?, transfer))
}

fn goodput_row(name: String, run: &Run<RtlNic>) -> Row {
    let gbps = run.report.bytes as f64 * 8e3 / placing(run) as f64;
    Row::new(name, gbps, "Gb/s", Some(run.report.wire_limit_gbps))
}

/// Time from the first write of payload to the end of the last one, in picoseconds.
fn placing(run: &Run<RtlNic>) -> Time {
    let times = run.world.host(RECEIVER).nic().times();
    times.payload_written.last - times.payload_writes.first
}

/// Short WRITEs per second that reach the receiver's memory, all posted at once. Those with immediate have a completion each at the receiver, in order.
pub fn message_rate(effort: Effort) -> anyhow::Result<Vec<Row>> {
    let mut rows = vec![];
    for (kind, bytes, qps) in RATES {
        let immediates = kind == Kind::WriteImm;
        let words = match kind {
            Kind::Write => "",
            Kind::Inline => "inline ",
            Kind::WriteImm => "WRITE_IMM ",
        };
        let name = format!("message rate {words}{bytes}, {}", queue_pairs(qps));
        if !effort.wants(&name) {
            continue;
        }
        let mut plan = plan(effort, qps, 12)?;
        plan.inline_bytes = if kind == Kind::Inline { bytes } else { 0 };
        let transfer = Transfer {
            bytes,
            messages: effort.packets / qps,
            immediates,
            interval: 0,
            limit: LIMIT,
        };
        let run = progress::measuring(&name, || run::<RtlNic>(&plan, transfer))?;
        let completions = run.world.host(RECEIVER).completions();
        let received = completions
            .iter()
            .filter(|done| done.cqe.opcode.is_receive());
        let due = if immediates {
            transfer.messages * qps
        } else {
            0
        };
        let received = received.count();
        anyhow::ensure!(
            received == due as usize,
            "{received} immediates were received of {due}"
        );
        let Span { first, last, count } = run.world.host(RECEIVER).nic().times().payload_written;
        let rate = (count - 1) as f64 * 1e6 / (last - first) as f64;
        let packet = (MRC_OVERHEAD + u64::from(bytes.next_multiple_of(4))) as f64;
        let mtu = f64::from(run.report.mtu);
        let line_gbps = run.report.wire_limit_gbps * (mtu + MRC_OVERHEAD as f64) / mtu;
        let limit = line_gbps * 1e3 / 8.0 / packet;
        rows.push(Row::new(name, rate, "M/s", Some(limit)));
        if kind == Kind::Write {
            let name = format!("completions in a TLP, {}", queue_pairs(qps));
            rows.push(Row::new(name, completions_in_tlp(&run), "", None));
        }
    }
    Ok(rows)
}

/// Completions in a TLP of the sender, whose card writes nothing else to memory.
fn completions_in_tlp(run: &Run<RtlNic>) -> f64 {
    let sender = run.world.host(SENDER);
    let writes = sender.nic().pcie_counters().write_flows();
    let tlps: u64 = writes.map(|(_, traffic)| traffic.tlps).sum();
    sender.completions().len() as f64 / tlps as f64
}

fn queue_pairs(count: u32) -> String {
    match count {
        1 => "1 QP".into(),
        _ => format!("{count} QPs"),
    }
}
