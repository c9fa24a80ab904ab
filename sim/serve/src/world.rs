//! The thread that owns the cards, and the rules of their clock.

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

/// The clock continues for this long after the last activity of a pin, longer than the transport's retransmission timeout of 250 us. A longer wait
/// inside a card needs a driver that says it waits.
const QUIET: Duration = Duration::from_micros(300);
const QUIET_CLOCKS: u64 = QUIET.as_nanos() as u64 * 1000 / CLOCK_PS;

/// State of a card's peer.
#[derive(Default)]
pub struct Peer {
    pub is_connected: bool,
    pub interrupts: Interrupts,
    /// The clock runs at least until this time.
    pub run_until: Duration,
    /// Accesses without a target.
    pub refused: u64,
    /// Polled slots of its doorbell pages.
    pub slots: Slots,
    /// Words taken out of the slots.
    pub doorbells: u64,
}

/// The state of the simulation.
pub struct Simulation {
    pub hosts: Hosts<PeerMemory>,
    /// One for each card.
    pub peers: Vec<Peer>,
    /// The bridge at a port of the lone card.
    bridge: Option<Bridge>,
    clock_page: Arc<ClockPage>,
}

/// A job for the simulation. It is called after every cycle until it returns that it is finished.
type Job = Box<dyn FnMut(&mut Simulation) -> bool + Send>;

/// The simulation, for the threads that serve its peers. It ends when the last handle is dropped.
#[derive(Clone)]
pub struct World {
    /// Shared, because the bridge, which the simulation owns, must be able to wake the simulation without keeping it alive.
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
        // A bridge delivers frames also without a driver.
        let has_visitors = self.bridge.is_some() || self.peers.iter().any(|peer| peer.is_connected);
        has_visitors && self.hosts.quiet() < QUIET_CLOCKS
    }

    /// Passes on to the card the doorbells that its driver has stored in its pages; `false` if there are none.
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

    /// Polls all slots of all cards; `false` if all were empty.
    fn look_everywhere(&mut self) -> bool {
        let mut rung = false;
        for host in 0..self.peers.len() {
            rung |= self.look(host);
        }
        rung
    }

    /// Simulates one cycle.
    fn clock(&mut self) {
        self.hosts.idle();
        for host in 0..self.peers.len() {
            if self.peers[host].slots.is_due() {
                self.look(host);
            }
        }
        self.tell();
    }

    /// Announces that the clock stops, so that drivers wake it after they have stored a doorbell. Returns `false` if a doorbell has just been stored.
    fn stand_still(&mut self) -> bool {
        self.clock_page.show_still(true);
        let is_still = !self.look_everywhere();
        if !is_still {
            self.go_on();
        }
        is_still
    }

    /// Announces that the clock may run again.
    fn go_on(&mut self) {
        self.clock_page.show_still(false);
        self.tell();
    }

    /// Informs the peers of the effects: interrupts first, then the time.
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

/// A frame of the bridge's peer sends an empty job. The simulation polls the bridge after it.
fn wake_on_arrival(bridge: &Bridge, jobs: &Arc<Sender<Job>>) {
    let jobs = Arc::downgrade(jobs);
    bridge.on_arrival(move || {
        if let Some(jobs) = jobs.upgrade() {
            // The simulation may have ended.
            let _ = jobs.send(Box::new(|_| true));
        }
    });
}

impl World {
    /// Waits for the end of a card's reset. PCIe's wall time limits would be too short for a simulation.
    ///
    /// # Panics
    /// If the simulation has ended.
    pub fn finish_reset(&self, host: usize) {
        let done =
            self.wait(move |simulation| (!simulation.hosts.is_resetting(host)).then_some(()));
        done.expect("the simulation has ended");
    }

    /// Starts the thread. `bridge` is the line of a lone card.
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

    /// Executes a job between two cycles, and returns its result; `None` if the simulation has panicked.
    pub fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Simulation) -> T + Send + 'static,
    ) -> Option<T> {
        let mut job = Some(job);
        self.wait(move |simulation| job.take().map(|job| job(simulation)))
    }

    /// Calls the job after every cycle until it returns a result; the clock runs meanwhile.
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
            // The caller may no longer wait. The job is done in any case.
            let _ = tell.send(found);
            true
        };
        self.jobs.send(Box::new(job)).ok()?;
        told.recv().ok()
    }
}
