//! Runs that the demo and the wave command share: real captures, ConnectX frames, generated MRC traffic.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_cosim::traffic::{reorder, Message, Wrapping};
use sim_cosim::{Capture, RegionSpec, Session, SessionConfig, CAPTURE_PD};
use sim_verilated::Library;
use stellar_transport::rx::{Owner, PageSize, Psn, QpMode, QpRow, QpState};

/// A named list of frames with a lane ready to receive them.
pub struct Scenario {
    pub name: String,
    pub what: &'static str,
    pub session: Session,
    pub frames: Vec<Vec<u8>>,
}

/// Queue pairs and memory regions that fit the lane's tables.
const QPS: u32 = 1024;
const MRS: u32 = 4096;

/// Folder of the checked-in captures.
pub fn data_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data")
}

/// Pages alternate between the GPU and the host, so that each capture exercises both address types.
fn alternate(page: u64) -> Owner {
    if page.is_multiple_of(2) {
        Owner::Gpu
    } else {
        Owner::Host
    }
}

/// The lane stands in for the receiver of the capture's WRITEs. Queue pairs and keys beyond its tables stay unknown.
pub fn capture(
    library: &Library,
    config: &SessionConfig,
    name: &str,
    what: &'static str,
    capture: Capture,
) -> anyhow::Result<Scenario> {
    let mut session = Session::new(library, config)?;
    for (&qp, &context) in capture.qps.iter().filter(|(&qp, _)| qp < QPS) {
        session.write_qp(qp, context)?;
    }
    for b in capture.buffers.iter().filter(|b| b.rkey >> 8 < MRS) {
        let writes = session.map.add_region(
            &mut session.world.fabric,
            RegionSpec {
                rkey: b.rkey,
                pd: CAPTURE_PD,
                va: b.va,
                length: b.length,
                page: PageSize::Size4K,
            },
            alternate,
        );
        for write in &writes {
            session.write_table(write).with_context(|| {
                format!(
                    "{name}: its WRITEs to R_Key {:#x} span {} bytes from {:#x}, more than the lane's table of pages maps",
                    b.rkey, b.length, b.va
                )
            })?;
        }
    }
    session.world.settle()?;
    Ok(Scenario {
        name: name.into(),
        what,
        session,
        frames: capture.frames,
    })
}

/// Frames written as hexadecimal, one a line; `#` starts a comment line.
pub fn hexadecimal(path: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.lines()
        .enumerate()
        .map(|(n, line)| (n + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(n, line)| {
            hex::decode(line)
                .with_context(|| format!("{} line {n} is not hexadecimal", path.display()))
        })
        .collect()
}

/// Multi-path traffic: four queue pairs, messages to GPU and host pages of every size, packets in any order inside the window,
/// with duplicates; IPv4 and IPv6, with and without SRv6.
pub fn multipath(
    library: &Library,
    config: &SessionConfig,
    messages: u32,
    seed: u64,
) -> anyhow::Result<Scenario> {
    const PD: u32 = 3;
    const REGION: u64 = 3 << 20;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut session = Session::new(library, config)?;
    let mut lists = vec![];
    for n in 0..4u32 {
        let (qp, rkey) = (100 + n, (10 + n) << 8 | 0x5a);
        let page = PageSize::ALL[n as usize % 3];
        let va = 0x7f00_0000_0000 + u64::from(n) * 0x1_0000_0000 + 0x123;
        // The PSN wraps inside the run.
        let mut psn = (0x100_0000 - rng.random_range(1..40)) & 0xff_ffff;
        session.write_qp(
            qp,
            QpRow {
                state: QpState::Ready,
                mode: QpMode::Mrc,
                pd: PD,
                pkey: 0xffff,
                mtu_log2: 12,
                initial_psn: Psn::new(psn),
                remote_write: true,
            },
        )?;
        let owner = if page == PageSize::Size2M {
            |_| Owner::Gpu
        } else {
            alternate
        };
        let writes = session.map.add_region(
            &mut session.world.fabric,
            RegionSpec {
                rkey,
                pd: PD,
                va,
                length: REGION,
                page,
            },
            owner,
        );
        for write in &writes {
            session.write_table(write)?;
        }
        let mut frames = vec![];
        let mut at = va;
        for msn in 0..messages {
            let length = rng.random_range(0..60_000).min((va + REGION - at) as usize);
            let data: Vec<u8> = (0..length).map(|_| rng.random()).collect();
            let message = Message {
                mrc: true,
                qp,
                psn,
                msn: msn as u16,
                va: at,
                rkey,
                data: &data,
                mtu: 4096,
                immediate: (msn % 3 == 0).then_some(msn),
                wrapping: Wrapping {
                    ipv6: n % 2 == 1,
                    srv6: n >= 2,
                    vlan: n == 3,
                    timestamp: msn % 2 == 0,
                },
            };
            psn = (psn + message.packets()) & 0xff_ffff;
            at += length as u64;
            for frame in message.frames(&mut rng) {
                let bytes = frame.emit()?;
                if rng.random_range(0..20) == 0 {
                    frames.push(bytes.clone());
                }
                frames.push(bytes);
            }
        }
        // Half of the window. A spraying fabric may reorder that much, and a sender that respects the window never exceeds it.
        reorder(&mut frames, 512, &mut rng);
        lists.push(frames);
    }
    session.world.settle()?;
    let mut frames = vec![];
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    for i in 0..longest {
        frames.extend(lists.iter().filter_map(|l| l.get(i).cloned()));
    }
    Ok(Scenario {
        name: "mrc_multipath".into(),
        what: "generated: 4 QPs, any order, duplicates, IPv4/IPv6/SRv6",
        session,
        frames,
    })
}

impl Scenario {
    /// Sends all frames, compares with the reference, and checks memory byte for byte.
    pub fn run(&mut self) -> anyhow::Result<sim_cosim::Placed> {
        let before = self.session.outcomes.len();
        for frame in &self.frames {
            self.session.receive(frame.clone(), false);
        }
        self.session.settle_and_compare()?;
        self.session.expect_packets(&self.frames, before);
        Ok(self.session.verify_memory()?)
    }
}
