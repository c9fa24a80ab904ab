//! Cards, each served at a socket.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::Arc;
use std::thread;

use rustix::event::{eventfd, EventfdFlags};
use sim_bridge::Bridge;
use sim_nic::{Hosts, NicError, PcieSettings};
use stellar_wire::host::simulation::data_socket;

use crate::backend::Backend;
use crate::clock_page::ClockPage;
use crate::data_function::DataFunction;
use crate::error::ServeError;
use crate::memory::PeerMemory;
use crate::socket::{check_path, serve, ServedFunction, Socket};
use crate::world::World;

/// Counters of failed accesses of a card and its peers, since the server began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accesses to registers and configuration space without a target.
    pub refused: u64,
    /// Accesses of the card to memory that was not mapped for it.
    pub bad_accesses: u64,
    /// Windows that are mapped now.
    pub windows: usize,
}

/// Counters of how a card's drivers have accessed it, since the server began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Accesses to registers, configuration space and clock, each a message.
    pub messages: u64,
    /// Doorbells and consumer indices that drivers stored in mapped pages.
    pub doorbells: u64,
}

/// The cards after power-up, and the bridge of a lone card.
type Cards = (Hosts<PeerMemory>, Option<Bridge>);

/// Verilated cards, each at a socket of its own, and their data functions at further ones ([`data_socket`]): two, cabled port to port, or one with a bridge. Dropping it removes the sockets; drivers that are
/// connected are served until they disconnect.
pub struct Server {
    sockets: Vec<Socket>,
    _data_sockets: Vec<Socket>,
    world: World,
    messages: Vec<Arc<AtomicU64>>,
    stopper: Stopper,
    ends: Receiver<End>,
}

impl Server {
    /// Builds the model, if it is not in the cache, and powers up both cards. Then makes the sockets `nic0.sock` and `nic1.sock` in `directory`,
    /// which is created if it does not exist. The PCIe of both hosts is that of `pcie`.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn start(directory: &Path, pcie: &PcieSettings) -> Result<Self, ServeError> {
        Self::with_cards(directory, 2, || {
            let hosts = Hosts::new(Default::default(), pcie)?;
            Ok((hosts, None))
        })
    }

    /// Starts a server with one card, at `nic0.sock`. One of its ports is connected to `bridge`; frames that leave by the other port are lost.
    ///
    /// # Errors
    /// [`ServeError`].
    pub fn start_lone(
        directory: &Path,
        bridge: Bridge,
        pcie: &PcieSettings,
    ) -> Result<Self, ServeError> {
        Self::with_cards(directory, 1, || {
            let hosts = Hosts::lone(PeerMemory::default(), Box::new(bridge.clone()), pcie)?;
            Ok((hosts, Some(bridge)))
        })
    }

    /// Serves `count` cards. Powering up takes long, so the sockets are checked before.
    fn with_cards(
        directory: &Path,
        count: usize,
        power_up: impl FnOnce() -> Result<Cards, NicError>,
    ) -> Result<Self, ServeError> {
        let paths: Vec<_> = (0..count)
            .map(|host| directory.join(format!("nic{host}.sock")))
            .collect();
        let data_paths: Vec<_> = paths.iter().map(|path| data_socket(path)).collect();
        let mut all = paths.iter().chain(&data_paths);
        all.try_for_each(|path| check_path(path))?;
        fs::create_dir_all(directory).map_err(|error| ServeError::Directory {
            path: directory.to_owned(),
            error,
        })?;
        let (mut hosts, bridge) = power_up()?;
        let endpoints = hosts.shape().ports();
        let vectors = hosts.vectors(0);
        let clock_page = Arc::new(ClockPage::new()?);
        let world = World::start(hosts, bridge, Arc::clone(&clock_page))?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(std::io::Error::from)?;
        let (tell, ends) = mpsc::channel();
        let stopper = Stopper {
            stop: Arc::new(stop),
            ends: tell,
        };
        let bind = |paths: &[PathBuf]| -> Result<Vec<Socket>, ServeError> {
            paths.iter().map(|path| Socket::bind(path)).collect()
        };
        // A driver that finds the socket of a control function finds that of the data function too. A card with one endpoint has none.
        let data_sockets = if endpoints == 2 {
            bind(&data_paths)?
        } else {
            Vec::new()
        };
        let sockets = bind(&paths)?;
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
            stopper.spawn(format!("nic{host}"), listener, backend)?;
            if let Some(socket) = data_sockets.get(host) {
                let data = DataFunction::new(world.clone(), host);
                stopper.spawn(format!("nic{host}.data"), socket.listener()?, data)?;
            }
        }
        Ok(Self {
            sockets,
            _data_sockets: data_sockets,
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

    /// Failed accesses of a card; `None` if the simulation has ended.
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
                bad_accesses: memory.bad_accesses(),
                windows: memory.windows(),
            }
        })
    }

    /// Accesses to a card by kind; `None` if the simulation has ended.
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
    /// [`ServeError::Ended`] if the simulation has panicked.
    pub fn wait(&self) -> Result<(), ServeError> {
        match self.ends.recv() {
            Ok(End::Stopped) => Ok(()),
            Ok(End::Failed) | Err(_) => Err(ServeError::Ended),
        }
    }

    /// A handle to stop the server from another thread.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopper.stop();
    }
}

/// Why the server has ended.
enum End {
    Stopped,
    /// The simulation has panicked.
    Failed,
}

/// Stops a server.
#[derive(Clone)]
pub struct Stopper {
    stop: Arc<OwnedFd>,
    ends: Sender<End>,
}

impl Stopper {
    /// Serves a function in a thread of its own until [`Self::stop`].
    fn spawn(
        &self,
        name: String,
        listener: UnixListener,
        function: impl ServedFunction + Send + 'static,
    ) -> std::io::Result<()> {
        let Self { stop, ends } = self.clone();
        thread::Builder::new().name(name).spawn(move || {
            if serve(&listener, function, &stop).is_err() {
                // The receiver, which started the server, may no longer exist.
                let _ = ends.send(End::Failed);
            }
        })?;
        Ok(())
    }

    /// Serves no new drivers, and makes [`Server::wait`] return.
    pub fn stop(&self) {
        if let Err(error) = rustix::io::write(&self.stop, &1u64.to_ne_bytes()) {
            tracing::error!("the server cannot be stopped: {error}");
        }
        // The server may have ended before.
        let _ = self.ends.send(End::Stopped);
    }
}
