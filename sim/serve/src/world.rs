//! The thread that owns the cards, and when their clock runs.

use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sim_bridge::Bridge;
use sim_nic::{Hosts, CLOCK_PS};
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::Doorbell;

use crate::clock_page::ClockPage;
use crate::interrupts::Interrupts;
use crate::memory::PeerMemory;
use crate::pages::Slots;

/// The clock runs on for so long after the last thing that crossed a pin: longer than the transport's retransmission timeout of 250 us. What
/// waits for longer inside a card takes a driver that says it waits.
const QUIET: Duration = Duration::from_micros(300);
const QUIET_CLOCKS: u64 = QUIET.as_nanos() as u64 * 1000 / CLOCK_PS;

/// A peer as its card's world knows it.
#[derive(Default)]
pub struct Peer {
    pub is_connected: bool,
    pub interrupts: Interrupts,
    /// The clock runs at least until this time.
    pub run_until: Duration,
    /// Accesses that nothing answered.
    pub refused: u64,
    /// Slots of its doorbell pages.
    pub slots: Slots,
    /// Words taken out of them.
    pub doorbells: u64,
}

/// Everything there is, at one point in time.
pub struct Simulation {
    pub hosts: Hosts<PeerMemory>,
    /// One for each card.
    pub peers: Vec<Peer>,
    /// What a port of the only card is plugged into.
    bridge: Option<Bridge>,
    clock_page: Arc<ClockPage>,
}

/// Something to be done to the simulation: asked after every clock until it says that it is done.
type Job = Box<dyn FnMut(&mut Simulation) -> bool + Send>;

/// The simulation, for the threads that serve its peers. It ends when the last of these is gone.
#[derive(Clone)]
pub struct World {
    /// Shared, so that the bridge, which the simulation owns, can wake the simulation without keeping it alive.
    jobs: Arc<Sender<Job>>,
}

impl Simulation {
    fn is_running(&self) -> bool {
        let now = self.hosts.time();
        let is_awaited = |peer: &Peer| peer.is_connected && now < peer.run_until;
        if self.peers.iter().any(is_awaited)
            || self.bridge.as_ref().is_some_and(Bridge::needs_clock)
        {
            return true;
        }
        // A bridge brings frames whether a driver is connected or not.
        let has_visitors = self.bridge.is_some() || self.peers.iter().any(|peer| peer.is_connected);
        has_visitors && self.hosts.quiet() < QUIET_CLOCKS
    }

    /// Brings the card what its driver has stored in its doorbell pages; `false` if that is nothing.
    pub fn look(&mut self, host: usize) -> bool {
        let rung = self.peers[host].slots.take();
        for &(slot, word) in &rung {
            self.peers[host].doorbells += 1;
            let bytes = Doorbell::LEN as u8;
            let taken = self.hosts.store(host, Bar::Doorbells, slot, bytes, word);
            if !taken.unwrap_or_else(|error| {
                tracing::error!("card {host}: {error}");
                false
            }) {
                tracing::debug!("card {host}: a doorbell at {slot:#x} of BAR2: nothing answers");
                self.peers[host].refused += 1;
            }
        }
        !rung.is_empty()
    }

    /// Looks at all slots of all cards; `false` if nothing was stored there.
    fn look_everywhere(&mut self) -> bool {
        let mut rung = false;
        for host in 0..self.peers.len() {
            rung |= self.look(host);
        }
        rung
    }

    /// A clock passes.
    fn clock(&mut self) {
        self.hosts.idle();
        for host in 0..self.peers.len() {
            if self.peers[host].slots.is_due() {
                self.look(host);
            }
        }
        self.tell();
    }

    /// The clock stands still from here on, and drivers have to say when they have stored a doorbell; `false` if one has just done so.
    fn stand_still(&mut self) -> bool {
        self.clock_page.show_still(true);
        let is_still = !self.look_everywhere();
        if !is_still {
            self.go_on();
        }
        is_still
    }

    /// It may run again.
    fn go_on(&mut self) {
        self.clock_page.show_still(false);
        self.tell();
    }

    /// Tells the peers what has come about: interrupts first, then the time.
    fn tell(&mut self) {
        for (host, peer) in self.peers.iter_mut().enumerate() {
            peer.interrupts.raise(self.hosts.take_interrupts(host));
        }
        self.clock_page.show(self.hosts.time());
    }
}

/// What to do next.
enum Next {
    Job(Job),
    Clock,
    End,
}

fn next(jobs: &Receiver<Job>, simulation: &mut Simulation, is_running: bool) -> Next {
    if is_running {
        return match jobs.try_recv() {
            Ok(job) => Next::Job(job),
            Err(TryRecvError::Empty) => Next::Clock,
            Err(TryRecvError::Disconnected) => Next::End,
        };
    }
    if !simulation.stand_still() {
        return Next::Clock;
    }
    let next = jobs.recv().map_or(Next::End, Next::Job);
    simulation.go_on();
    next
}

fn run(mut simulation: Simulation, jobs: &Receiver<Job>) {
    let mut waiting: Vec<Job> = Vec::new();
    loop {
        let is_running = !waiting.is_empty() || simulation.is_running();
        match next(jobs, &mut simulation, is_running) {
            Next::Job(mut job) => {
                if !job(&mut simulation) {
                    waiting.push(job);
                }
            }
            Next::Clock => {
                simulation.clock();
                waiting.retain_mut(|job| !job(&mut simulation));
            }
            Next::End => return,
        }
    }
}

/// A frame of the bridge's peer is an empty job: the simulation looks at the bridge after it.
fn wake_on_arrival(bridge: &Bridge, jobs: &Arc<Sender<Job>>) {
    let jobs = Arc::downgrade(jobs);
    bridge.on_arrival(move || {
        if let Some(jobs) = jobs.upgrade() {
            // A simulation that has died wakes no more.
            let _ = jobs.send(Box::new(|_| true));
        }
    });
}

impl World {
    /// Starts the thread. `bridge` is the line of the only card, if there is only one.
    pub fn start(
        hosts: Hosts<PeerMemory>,
        bridge: Option<Bridge>,
        clock_page: Arc<ClockPage>,
    ) -> std::io::Result<Self> {
        let (jobs, taken) = mpsc::channel();
        let jobs = Arc::new(jobs);
        if let Some(bridge) = &bridge {
            wake_on_arrival(bridge, &jobs);
        }
        let mut simulation = Simulation {
            peers: (0..hosts.count()).map(|_| Peer::default()).collect(),
            hosts,
            bridge,
            clock_page,
        };
        simulation.tell();
        thread::Builder::new()
            .name("cards".to_owned())
            .spawn(move || run(simulation, &taken))?;
        Ok(Self { jobs })
    }

    /// Does something between two clocks, and returns what it found; `None` if the simulation has died.
    pub fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Simulation) -> T + Send + 'static,
    ) -> Option<T> {
        let mut job = Some(job);
        self.wait(move |simulation| job.take().map(|job| job(simulation)))
    }

    /// Looks after every clock until there is something, and lets the clock run meanwhile.
    pub fn wait<T: Send + 'static>(
        &self,
        mut look: impl FnMut(&mut Simulation) -> Option<T> + Send + 'static,
    ) -> Option<T> {
        let (tell, told) = mpsc::sync_channel(1);
        let job = move |simulation: &mut Simulation| {
            let Some(found) = look(simulation) else {
                return false;
            };
            simulation.tell();
            // Whoever asked may be gone; what was done is done.
            let _ = tell.send(found);
            true
        };
        self.jobs.send(Box::new(job)).ok()?;
        told.recv().ok()
    }
}
