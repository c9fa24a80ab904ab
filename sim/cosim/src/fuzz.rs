//! Fuzzing: mutated frames through the lane beside the reference, in short sessions.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim_bfm::Pacing;
use sim_verilated::Library;
use stellar_transport::rx::{Owner, PageSize, Psn, QpMode, QpRow, QpState};

use crate::lane::LaneWidth;
use crate::memory_map::RegionSpec;
use crate::mutate::mutate;
use crate::session::{Session, SessionConfig, SessionError};
use crate::traffic::{reorder, Message, Wrapping};

/// Number of frames of one session. The next session configures all queue pairs again, because mutated frames move them to the error state.
pub const SESSION_FRAMES: usize = 2_000;

const PD: u32 = 9;
const REGION: u64 = 256 << 10;
const QPS: u32 = 16;

/// Feeds sessions and keeps count.
pub struct Fuzzer {
    library: Library,
    width: LaneWidth,
    seed: u64,
    frames: u64,
    accepted: u64,
    bytes_placed: u64,
    clocks: u64,
    sessions: u64,
}

impl Fuzzer {
    /// A fuzzer; session n of a seed is always the same.
    pub fn new(library: Library, width: LaneWidth, seed: u64) -> Self {
        Self {
            library,
            width,
            seed,
            frames: 0,
            accepted: 0,
            bytes_placed: 0,
            clocks: 0,
            sessions: 0,
        }
    }

    /// Frames fed so far.
    pub fn frames(&self) -> u64 {
        self.frames
    }
    /// Packets accepted so far.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }
    /// Bytes of memory written so far (counted once per session).
    pub fn bytes_placed(&self) -> u64 {
        self.bytes_placed
    }
    /// Cycles of the lane so far.
    pub fn clocks(&self) -> u64 {
        self.clocks
    }
    /// Sessions run so far.
    pub fn sessions(&self) -> u64 {
        self.sessions
    }

    /// One session of `count` frames: two thirds mutated, the rest good, so that state keeps moving.
    pub fn session(&mut self, count: usize) -> Result<(), SessionError> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(self.sessions);
        self.sessions += 1;
        let config = SessionConfig {
            pacing: match rng.random_range(0..3) {
                0 => Pacing::EveryClock,
                1 => Pacing::Random {
                    percent: 60,
                    seed: rng.random(),
                },
                _ => SessionConfig::new(self.width).pacing,
            },
            ..SessionConfig::new(self.width)
        };
        let mut session = Session::new(&self.library, &config)?;
        let good = self.prepare(&mut session, count, &mut rng)?;
        for mut frame in good {
            if rng.random_range(0..3) > 0 {
                mutate(&mut frame, &mut rng);
            }
            let mac_error = rng.random_range(0..100) == 0;
            session.receive(frame, mac_error);
        }
        session.settle_and_compare()?;
        session.expect_placements();
        let placed = session.verify_memory()?;
        self.frames += count as u64;
        self.bytes_placed += placed.host + placed.gpu;
        self.accepted += session.world.verdicts.iter().filter(|v| **v == 0).count() as u64;
        self.clocks += session.world.stats.clocks;
        Ok(())
    }

    /// Tables for queue pairs of both modes, and `count` good frames for them.
    fn prepare(
        &self,
        session: &mut Session,
        count: usize,
        rng: &mut ChaCha8Rng,
    ) -> Result<Vec<Vec<u8>>, SessionError> {
        let mut lists = vec![];
        let per_qp = count.div_ceil(QPS as usize);
        for n in 0..QPS {
            let (qp, rkey) = (2 + n, (1 + n) << 8 | n);
            let mrc = n % 2 == 0;
            let va = 0x6000_0000_0000 + u64::from(n) * (1 << 32) + rng.random_range(0..4096);
            let mut psn: u32 = rng.random_range(0..1 << 24);
            let mtu_log2 = rng.random_range(8..=13);
            session.write_qp(
                qp,
                QpRow {
                    state: QpState::Ready,
                    mode: if mrc { QpMode::Mrc } else { QpMode::Rc },
                    pd: PD,
                    pkey: 0xffff,
                    mtu_log2,
                    initial_psn: Psn::new(psn),
                    remote_write: true,
                },
            )?;
            let page = PageSize::ALL[rng.random_range(0..3)];
            let writes = session.map.add_region(
                &mut session.world.fabric,
                RegionSpec {
                    rkey,
                    pd: PD,
                    va,
                    length: REGION,
                    page,
                },
                |p| {
                    if p % 2 == 0 {
                        Owner::Gpu
                    } else {
                        Owner::Host
                    }
                },
            );
            for write in &writes {
                session.write_table(write)?;
            }
            let mut frames = vec![];
            while frames.len() < per_qp {
                let length = rng.random_range(0..3 << mtu_log2);
                let data: Vec<u8> = (0..length).map(|_| rng.random()).collect();
                let message = Message {
                    mrc,
                    qp,
                    psn,
                    msn: 0,
                    va: va + rng.random_range(0..REGION - length as u64),
                    rkey,
                    data: &data,
                    mtu: 1 << mtu_log2,
                    immediate: rng.random::<bool>().then(|| rng.random()),
                    wrapping: Wrapping {
                        ipv6: rng.random(),
                        srv6: rng.random(),
                        vlan: rng.random(),
                        timestamp: rng.random(),
                    },
                };
                psn = (psn + message.packets()) & 0xff_ffff;
                frames.extend(message.frames(rng));
            }
            if mrc {
                reorder(&mut frames, 64, rng);
            }
            lists.push(frames.into_iter());
        }
        session.world.settle()?;
        let mut out = vec![];
        'filled: loop {
            for list in &mut lists {
                if let Some(frame) = list.next() {
                    out.push(frame.emit().expect("generated frames are well formed"));
                    if out.len() == count {
                        break 'filled;
                    }
                }
            }
        }
        Ok(out)
    }
}
