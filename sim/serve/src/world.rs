//! The thread that owns both cards, and when their clock runs.

use std::sync::mpsc::{self, Receiver, RecvError, Sender, TryRecvError};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sim_nic::{Hosts, CLOCK_PS};

use crate::clock_page::ClockPage;
use crate::interrupts::Interrupts;
use crate::memory::PeerMemory;

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
}

/// Everything there is, at one point in time.
pub struct Simulation {
    pub hosts: Hosts<PeerMemory>,
    pub peers: [Peer; 2],
    clock_page: Arc<ClockPage>,
}

/// Something to be done to the simulation: asked after every clock until it says that it is done.
type Job = Box<dyn FnMut(&mut Simulation) -> bool + Send>;

/// The simulation, for the threads that serve its peers. It ends when the last of these is gone.
#[derive(Clone)]
pub struct World {
    jobs: Sender<Job>,
}

impl Simulation {
    fn is_running(&self) -> bool {
        let now = self.hosts.time();
        let is_awaited = |peer: &Peer| peer.is_connected && now < peer.run_until;
        let is_connected = self.peers.iter().any(|peer| peer.is_connected);
        self.peers.iter().any(is_awaited) || is_connected && self.hosts.quiet() < QUIET_CLOCKS
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

fn next(jobs: &Receiver<Job>, is_running: bool) -> Next {
    if is_running {
        match jobs.try_recv() {
            Ok(job) => Next::Job(job),
            Err(TryRecvError::Empty) => Next::Clock,
            Err(TryRecvError::Disconnected) => Next::End,
        }
    } else {
        match jobs.recv() {
            Ok(job) => Next::Job(job),
            Err(RecvError) => Next::End,
        }
    }
}

fn run(mut simulation: Simulation, jobs: &Receiver<Job>) {
    let mut waiting: Vec<Job> = Vec::new();
    loop {
        match next(jobs, !waiting.is_empty() || simulation.is_running()) {
            Next::Job(mut job) => {
                if !job(&mut simulation) {
                    waiting.push(job);
                }
            }
            Next::Clock => {
                simulation.hosts.idle();
                simulation.tell();
                waiting.retain_mut(|job| !job(&mut simulation));
            }
            Next::End => return,
        }
    }
}

impl World {
    /// Starts the thread.
    pub fn start(hosts: Hosts<PeerMemory>, clock_page: Arc<ClockPage>) -> std::io::Result<Self> {
        let mut simulation = Simulation {
            hosts,
            peers: Default::default(),
            clock_page,
        };
        simulation.tell();
        let (jobs, taken) = mpsc::channel();
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
