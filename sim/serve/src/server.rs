//! Cards, each at a socket.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::Arc;
use std::thread;

use rustix::event::{eventfd, EventfdFlags};
use sim_bridge::Bridge;
use sim_nic::{Hosts, ModelKind, NicError};

use crate::backend::Backend;
use crate::clock_page::ClockPage;
use crate::error::ServeError;
use crate::memory::PeerMemory;
use crate::socket::{check_path, serve, Socket};
use crate::world::World;

/// What a card's peers have done that leads nowhere, since the server began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accesses to registers and configuration space that nothing answered.
    pub refused: u64,
    /// Accesses of the card to memory that was not mapped for it.
    pub strays: u64,
    /// Windows that are mapped at the moment.
    pub windows: usize,
}

/// How a card's drivers have reached it, since the server began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Accesses to registers, configuration space and clock, each a message.
    pub messages: u64,
    /// Doorbells and consumer indices taken out of pages that drivers map.
    pub doorbells: u64,
}

/// Cards that have been powered up, and the bridge of the only one.
type Cards = (Hosts<PeerMemory>, Option<Bridge>);

/// Verilated cards, each at a socket of its own: two, cabled port to port, or one with a bridge. Dropping it removes the sockets; drivers that are
/// connected are served until they disconnect.
pub struct Server {
    sockets: Vec<Socket>,
    world: World,
    messages: Vec<Arc<AtomicU64>>,
    stopper: Stopper,
    ends: Receiver<End>,
}

impl Server {
    /// Builds the model, unless that was done before, and powers up both cards. Then makes the sockets `nic0.sock` and `nic1.sock` in
    /// `directory`, which is made too if it is not there.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn start(directory: &Path) -> Result<Self, ServeError> {
        Self::with_cards(directory, 2, || {
            let hosts = Hosts::new(Default::default())?;
            Ok((hosts, None))
        })
    }

    /// The same with one card of this kind, at `nic0.sock`. One of its ports is plugged into `bridge`; what leaves by the other is lost.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn start_lone(
        directory: &Path,
        bridge: Bridge,
        kind: ModelKind,
    ) -> Result<Self, ServeError> {
        Self::with_cards(directory, 1, || {
            let hosts = Hosts::lone(PeerMemory::default(), Box::new(bridge.clone()), kind)?;
            Ok((hosts, Some(bridge)))
        })
    }

    /// Serves `count` cards. They are powered up when it is known that their sockets can be made: that is what takes time.
    fn with_cards(
        directory: &Path,
        count: usize,
        power_up: impl FnOnce() -> Result<Cards, NicError>,
    ) -> Result<Self, ServeError> {
        let paths: Vec<_> = (0..count)
            .map(|host| directory.join(format!("nic{host}.sock")))
            .collect();
        paths.iter().try_for_each(|path| check_path(path))?;
        fs::create_dir_all(directory).map_err(|error| ServeError::Directory {
            path: directory.to_owned(),
            error,
        })?;
        let (mut hosts, bridge) = power_up()?;
        let vectors = hosts.vectors(0);
        let clock_page = Arc::new(ClockPage::new()?);
        let world = World::start(hosts, bridge, Arc::clone(&clock_page))?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(std::io::Error::from)?;
        let (tell, ends) = mpsc::channel();
        let stopper = Stopper {
            stop: Arc::new(stop),
            ends: tell.clone(),
        };
        let sockets: Vec<_> = paths
            .iter()
            .map(|path| Socket::bind(path))
            .collect::<Result<_, _>>()?;
        let messages: Vec<_> = sockets
            .iter()
            .map(|_| Arc::<AtomicU64>::default())
            .collect();
        for (host, socket) in sockets.iter().enumerate() {
            let listener = socket.listener()?;
            let backend = Backend {
                world: world.clone(),
                host,
                vectors,
                clock_page: Arc::clone(&clock_page),
                messages: Arc::clone(&messages[host]),
            };
            let (stop, tell) = (Arc::clone(&stopper.stop), tell.clone());
            thread::Builder::new()
                .name(format!("nic{host}"))
                .spawn(move || {
                    if serve(&listener, backend, &stop).is_err() {
                        // Who started the server may be gone.
                        let _ = tell.send(End::Failed);
                    }
                })?;
        }
        Ok(Self {
            sockets,
            world,
            messages,
            stopper,
            ends,
        })
    }

    /// The sockets, in order of cards.
    pub fn sockets(&self) -> Vec<&Path> {
        self.sockets.iter().map(Socket::path).collect()
    }

    /// # Panics
    /// If there is no such card.
    fn check(&self, host: usize) {
        let count = self.sockets.len();
        assert!(host < count, "card {host} of {count}, counted from 0");
    }

    /// What led nowhere at a card; `None` if the simulation has died.
    ///
    /// # Panics
    /// If there is no such card.
    pub fn counts(&self, host: usize) -> Option<Counts> {
        self.check(host);
        self.world.call(move |simulation| {
            let refused = simulation.peers[host].refused;
            let memory = simulation.hosts.memory(host);
            Counts {
                refused,
                strays: memory.strays(),
                windows: memory.windows(),
            }
        })
    }

    /// How a card was reached; `None` if the simulation has died.
    ///
    /// # Panics
    /// If there is no such card.
    pub fn traffic(&self, host: usize) -> Option<Traffic> {
        self.check(host);
        let doorbells = self
            .world
            .call(move |simulation| simulation.peers[host].doorbells)?;
        Some(Traffic {
            messages: self.messages[host].load(Ordering::Relaxed),
            doorbells,
        })
    }

    /// Waits until [`Stopper::stop`] is called.
    ///
    /// # Errors
    /// [`ServeError::Ended`] if the simulation has died.
    pub fn wait(&self) -> Result<(), ServeError> {
        match self.ends.recv() {
            Ok(End::Stopped) => Ok(()),
            Ok(End::Failed) | Err(_) => Err(ServeError::Ended),
        }
    }

    /// What stops the server from another thread.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopper.stop();
    }
}

/// Why nothing is served any more.
enum End {
    Stopped,
    /// The simulation has died.
    Failed,
}

/// Stops a server.
#[derive(Clone)]
pub struct Stopper {
    stop: Arc<OwnedFd>,
    ends: Sender<End>,
}

impl Stopper {
    /// No new drivers are served, and [`Server::wait`] returns.
    pub fn stop(&self) {
        if let Err(error) = rustix::io::write(&self.stop, &1u64.to_ne_bytes()) {
            tracing::error!("the server cannot be stopped: {error}");
        }
        // Nobody waits for a server that is gone.
        let _ = self.ends.send(End::Stopped);
    }
}
