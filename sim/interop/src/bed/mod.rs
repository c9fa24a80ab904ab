//! The test bed of a case: the card, the peer and the bridge between them.

mod pair;
mod regions;
mod transfer;

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context};
use sim_bridge::{Bridge, Impairment};
use sim_nic::LoneCard;
use stellar_driver::{Completion, DropReason};

use crate::card_end::{CardEnd, Remote};
use crate::cases::IpVersion;
use crate::memory::REGION;
use crate::peer::{Answer, Peer};
use crate::qmp::Qmp;
use crate::traffic::Traffic;
use regions::{both_images, Images};

pub use pair::{Pair, PairOptions};
pub use transfer::{Writer, PATIENCE};

/// Regions of the peer: source of its WRITEs, target of the card's WRITEs, and a region without remote write access.
const SOURCE: u32 = 0;
const TARGET: u32 = 1;
const READ_ONLY: u32 = 2;
/// Clock cycles between two polls of the peer's serial port.
const CLOCKS: u64 = 256;
/// Drop reasons of damaged frames.
const DAMAGE: [DropReason; 4] = [
    DropReason::MacError,
    DropReason::BadIpChecksum,
    DropReason::BadLength,
    DropReason::BadIcrc,
];

/// The test bed.
pub struct Bed {
    card: LoneCard,
    pub bridge: Bridge,
    traffic: Arc<Mutex<Traffic>>,
    peer: RefCell<Peer>,
    qmp: Option<PathBuf>,
    hello: Answer,
    seed: u64,
    end: Option<CardEnd>,
    card_images: Images,
    peer_images: Images,
    /// Regions of the peer, in order of their numbers.
    regions: Vec<Remote>,
    /// The peer's queue pairs of this case.
    pairs: u32,
    /// Queue pairs of the peer that the case has destroyed.
    gone: Vec<u32>,
    /// Polled completions of the card that no caller has consumed, by queue pair.
    completed: RefCell<HashMap<u32, VecDeque<Completion>>>,
}

impl Bed {
    /// Waits for the guest, and registers the peer's regions.
    pub fn new(
        card: LoneCard,
        bridge: Bridge,
        control: &Path,
        qmp: Option<PathBuf>,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let traffic = Arc::<Mutex<Traffic>>::default();
        let seen = Arc::clone(&traffic);
        bridge.observe(move |crossing| {
            let mut traffic = seen.lock().unwrap_or_else(PoisonError::into_inner);
            traffic.look(crossing);
        });
        let (peer, hello) = Peer::connect(control, &|| card.run(CLOCKS))?;
        let (card_images, peer_images) = both_images(seed);
        let mut bed = Self {
            card,
            bridge,
            traffic,
            peer: RefCell::new(peer),
            qmp,
            hello,
            seed,
            end: None,
            card_images,
            peer_images,
            regions: Vec::new(),
            pairs: 0,
            gone: Vec::new(),
            completed: RefCell::default(),
        };
        for (id, access) in [(SOURCE, "l"), (TARGET, "lw"), (READ_ONLY, "l")] {
            let answer = bed.ask(&format!("mr {id} {REGION} {access}"))?;
            bed.regions.push(Remote {
                address: answer.number("address")?,
                rkey: answer.number("rkey")? as u32,
            });
        }
        Ok(bed)
    }

    /// The peer's answer to `hello`.
    pub const fn hello(&self) -> &Answer {
        &self.hello
    }

    /// The traffic of the present case.
    pub fn traffic(&self) -> MutexGuard<'_, Traffic> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances simulated time by a few hundred clock cycles.
    pub fn clock(&self) {
        self.card.run(CLOCKS);
    }

    /// Keeps simulated time advancing for this much wall time.
    pub fn rest(&self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.clock();
        }
    }

    /// Executes a command at the peer.
    pub fn ask(&self, command: &str) -> anyhow::Result<Answer> {
        self.peer.borrow_mut().ask(command, &|| self.clock())
    }

    /// The card's end.
    ///
    /// # Panics
    /// Before the first case has begun.
    pub fn end(&self) -> &CardEnd {
        self.end.as_ref().expect("a case has begun")
    }

    /// The peer's region that the card may write to.
    pub fn peer_target(&self) -> Remote {
        self.regions[TARGET as usize]
    }

    /// The peer's region that the card may not write to.
    pub fn peer_read_only(&self) -> Remote {
        self.regions[READ_ONLY as usize]
    }

    /// The card's region that the peer may write to.
    pub fn card_target(&self) -> Remote {
        let region = self.end().target.remote();
        Remote {
            address: region.address,
            rkey: region.rkey,
        }
    }

    /// Prepares a case: addresses of this IP version, new bytes in all regions, a link without faults.
    pub fn begin(&mut self, version: IpVersion, case: u64) -> anyhow::Result<()> {
        self.bridge
            .set_impairments(Impairment::NONE, Impairment::NONE)?;
        if self.end.as_ref().is_none_or(|end| end.version != version) {
            // Dropping the last object resets the card. That must precede the next bring-up.
            self.end = None;
            self.end = Some(CardEnd::bring_up(&self.card, version)?);
        }
        self.fill_regions(case)?;
        self.traffic().restart();
        self.take_leftovers()
    }

    /// Discards completions and events of the previous case.
    fn take_leftovers(&self) -> anyhow::Result<()> {
        while !self.end().cq.poll(64)?.is_empty() {}
        self.completed.borrow_mut().clear();
        while self.end().context.poll_event()?.is_some() {}
        Ok(())
    }

    /// Destroys the peer's queue pairs of the case. Dropping a [`Pair`] destroys the card's.
    pub fn finish(&mut self) -> anyhow::Result<()> {
        for peer in 0..self.pairs {
            if !self.gone.contains(&peer) {
                self.ask(&format!("destroy {peer}"))?;
            }
        }
        self.pairs = 0;
        self.gone.clear();
        Ok(())
    }

    /// Checks the traffic: well-formed packets, and retransmissions only if they are allowed.
    pub fn check_traffic(&self, may_retransmit: bool) -> anyhow::Result<()> {
        let traffic = self.traffic();
        if let Some(fault) = &traffic.fault {
            bail!("on the wire: {fault}");
        }
        let repeated = traffic.to_card.retransmissions + traffic.to_peer.retransmissions;
        ensure!(
            may_retransmit || repeated == 0,
            "{repeated} packets were retransmitted on a link without faults"
        );
        drop(traffic);
        for counter in self.end().context.device().counters()? {
            ensure!(
                !DAMAGE.contains(&counter.reason),
                "the card has refused {} packets of the peer: {:?}",
                counter.value,
                counter.reason
            );
        }
        Ok(())
    }

    /// Destroys the peer's end of a queue pair.
    pub fn destroy_at_peer(&mut self, pair: &Pair) -> anyhow::Result<()> {
        self.ask(&format!("destroy {}", pair.peer))?;
        self.gone.push(pair.peer);
        Ok(())
    }

    /// Stops the guest for this much wall time. The card's clock keeps running.
    pub fn silence_peer(&self, time: Duration) -> anyhow::Result<()> {
        let path = self.qmp.as_ref();
        let path = path.context("a peer without QEMU's machine protocol cannot be stopped")?;
        let mut qmp = Qmp::connect(path)?;
        qmp.execute("stop")?;
        self.rest(time);
        qmp.execute("cont")
    }
}
