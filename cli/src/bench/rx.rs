//! `./stellar bench rx`: one receive lane at line rate.

use std::time::Instant;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sim_cosim::traffic::{Message, Wrapping};
use sim_cosim::{
    LaneModel, LaneWidth, RegionSpec, Session, SessionConfig, CLOCK_PS, WIRE_OVERHEAD,
};
use sim_verilated::Library;
use stellar_transport::rx::{Owner, PageSize, Psn, QpMode, QpRow, QpState};

use super::Row;
use crate::verilog::Width;

#[derive(clap::Args)]
pub struct Arguments {
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Lane width in bits
    #[arg(long, default_value = "1024")]
    width: Width,
    /// Packets per goodput measurement
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u32).range(100..=20_000))]
    packets: u32,
}

/// First queue pair used.
const QP: u32 = 5;
/// Queue pairs of the small-message rows. There are several because packets of one queue pair may have to keep a distance in the core.
const SMALL_QPS: u32 = 4;
const RKEY: u32 = 0x0142;
const PD: u32 = 1;
const VA: u64 = 0x5000_0000_0000;
/// Budget of `architecture.md` section 9: last beat in to first TLP out.
const LATENCY_BUDGET: f64 = 60.0;
/// Budget of `architecture.md` section 9, in cycles per second of wall time.
const SPEED_BUDGET: f64 = 100_000.0;

/// Measures and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let width = arguments.width.lane();
    let library = LaneModel::build(width, false)?;
    let mut rows = vec![];
    let (mut clocks, mut seconds) = (0, 0.0);
    for payload in [64, 256, 1024, 4096] {
        let qps = if payload == 64 { SMALL_QPS } else { 1 };
        let run = stream(&library, width, payload, arguments.packets, qps)?;
        let line_gbps = width.line_bytes_per_clock() as f64 * 8.0 * 1000.0 / CLOCK_PS as f64;
        let share = payload as f64 / run.wire_bytes_per_packet as f64;
        rows.push(Row::new(
            format!("goodput {payload}"),
            run.packets_per_second * payload as f64 * 8.0 / 1e9,
            "Gb/s",
            Some(line_gbps * share),
        ));
        if payload == 64 {
            let line_rate = line_gbps * 1e9 / 8.0 / run.wire_bytes_per_packet as f64;
            let one = stream(&library, width, payload, arguments.packets, 1)?;
            for (name, run) in [("message rate 64", &run), ("message rate 64, one QP", &one)] {
                rows.push(Row::new(
                    name,
                    run.packets_per_second / 1e6,
                    "M/s",
                    Some(line_rate / 1e6),
                ));
            }
        }
        clocks += run.clocks;
        seconds += run.wall_seconds;
    }
    for payload in [64, 4096] {
        let latency = latency(&library, width, payload)?;
        rows.push(Row::new(
            format!("latency {payload}, last beat to first TLP"),
            latency as f64,
            "clocks",
            Some(LATENCY_BUDGET),
        ));
    }
    rows.push(Row::new(
        "co-simulation speed",
        clocks as f64 / seconds,
        "clocks/s",
        Some(SPEED_BUDGET),
    ));
    super::print("rx", &rows, arguments.json)
}

fn session(library: &Library, width: LaneWidth, length: u64) -> anyhow::Result<Session> {
    let mut session = Session::new(library, &SessionConfig::new(width))?;
    for n in 0..SMALL_QPS {
        session.write_qp(
            QP + n,
            QpRow {
                state: QpState::Ready,
                mode: QpMode::Mrc,
                pd: PD,
                pkey: 0xffff,
                mtu_log2: 12,
                initial_psn: Psn::new(0),
                remote_write: true,
            },
        )?;
    }
    let writes = session.map.add_region(
        &mut session.world.fabric,
        RegionSpec {
            rkey: RKEY,
            pd: PD,
            va: VA,
            length: length.next_multiple_of(2 << 20),
            page: PageSize::Size2M,
        },
        |page| {
            if page % 2 == 0 {
                Owner::Gpu
            } else {
                Owner::Host
            }
        },
    );
    for write in &writes {
        session.write_table(write)?;
    }
    session.world.settle()?;
    Ok(session)
}

/// Builds MRC WRITEs of one packet over IPv4, with `payload` bytes each, from `qps` queue pairs in turn, to consecutive addresses.
fn frames(payload: usize, packets: u32, qps: u32) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let data: Vec<u8> = (0..payload).map(|i| (i * 31 + 5) as u8).collect();
    let mut out = vec![];
    for n in 0..packets {
        let message = Message {
            mrc: true,
            qp: QP + n % qps,
            psn: n / qps,
            msn: n as u16,
            va: VA + u64::from(n) * payload as u64,
            rkey: RKEY,
            data: &data,
            mtu: 4096,
            immediate: None,
            wrapping: Wrapping::default(),
        };
        for frame in message.frames(&mut rng) {
            out.push(frame.emit()?);
        }
    }
    Ok(out)
}

struct Run {
    packets_per_second: f64,
    wire_bytes_per_packet: u64,
    clocks: u64,
    wall_seconds: f64,
}

/// Packets at line rate. The rate is measured between the first and the last TLP.
fn stream(
    library: &Library,
    width: LaneWidth,
    payload: usize,
    packets: u32,
    qps: u32,
) -> anyhow::Result<Run> {
    let mut session = session(library, width, u64::from(packets) * payload as u64)?;
    let frames = frames(payload, packets, qps)?;
    let wire_bytes_per_packet = frames[0].len() as u64 + WIRE_OVERHEAD;
    for frame in frames {
        session.receive(frame, false);
    }
    let before = session.world.stats.clocks;
    let started = Instant::now();
    session.world.settle()?;
    let wall_seconds = started.elapsed().as_secs_f64();
    let clocks = session.world.stats.clocks - before;
    session.settle_and_compare()?;
    let refused = session.world.verdicts.iter().filter(|v| **v != 0).count();
    anyhow::ensure!(
        refused == 0,
        "{refused} of {packets} packets of {payload} bytes were not accepted"
    );
    let writes = &session.world.writes;
    let tlps_per_packet = writes.len() as f64 / f64::from(packets);
    let (first, last) = (writes[0].0, writes[writes.len() - 1].0);
    let seconds = (last - first) as f64 * CLOCK_PS as f64 * 1e-12;
    Ok(Run {
        packets_per_second: (writes.len() - 1) as f64 / tlps_per_packet / seconds,
        wire_bytes_per_packet,
        clocks,
        wall_seconds,
    })
}

/// Cycles from the last MAC beat of a lone packet to its first TLP beat.
fn latency(library: &Library, width: LaneWidth, payload: usize) -> anyhow::Result<u64> {
    let mut session = session(library, width, payload as u64)?;
    let frame = frames(payload, 1, 1)?.remove(0);
    session.receive(frame, false);
    let mut last_beat = None;
    for _ in 0..10_000 {
        if last_beat.is_none() && session.world.mac.waiting() == 0 {
            last_beat = Some(session.world.stats.clocks);
        }
        if session.world.lane.tlp_offered() {
            let start =
                last_beat.ok_or_else(|| anyhow::anyhow!("a TLP left before its frame was in"))?;
            return Ok(session.world.stats.clocks - start);
        }
        session.world.clock()?;
    }
    anyhow::bail!("no TLP within 10,000 clocks")
}
