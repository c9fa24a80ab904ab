//! Engines that are connected to each other, and run in random turns.

use stellar_transfer::*;

use crate::engine::network::{NetMemory, NetNic, Network};

/// More turns than any test needs.
const TIMEOUT_ROUNDS: usize = 400_000;

#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub engines: usize,
    pub rails: usize,
    pub depth: u32,
    pub immediates: u32,
    pub slots: u16,
    pub seed: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            engines: 2,
            rails: 1,
            depth: 4,
            immediates: 4,
            slots: 2,
            seed: 1,
        }
    }
}

pub struct Cluster {
    pub network: Network,
    pub engines: Vec<Engine<NetNic>>,
}

impl Cluster {
    pub fn new(setup: Setup) -> Self {
        let network = Network::new(setup.seed);
        let engine = |number: usize| {
            let config = EngineConfig {
                depth: setup.depth,
                immediates: setup.immediates,
                slots: setup.slots,
                slot_bytes: 100,
                ..EngineConfig::new(EngineId(number as u64))
            };
            let nics = (0..setup.rails).map(|_| network.nic()).collect();
            Engine::new(config, nics).unwrap()
        };
        let mut cluster = Self {
            engines: (0..setup.engines).map(engine).collect(),
            network,
        };
        for a in 0..setup.engines {
            for b in 0..a {
                cluster.connect(a, b);
            }
        }
        cluster
    }

    pub fn connect(&mut self, a: usize, b: usize) {
        let offers = [a, b].map(|engine| self.engines[engine].offer().unwrap());
        let told = [0, 1].map(|side| offers[side].offer().clone());
        let [first, second] = offers;
        self.engines[a].connect(first, &told[1]).unwrap();
        self.engines[b].connect(second, &told[0]).unwrap();
    }

    /// The peer by which engine `from` knows engine `to`.
    pub fn peer(&self, from: usize, to: usize) -> PeerId {
        self.engines[from].peer(EngineId(to as u64)).unwrap()
    }

    pub fn region(&self, engine: usize, bytes: usize, access: Access) -> LocalRegion<NetNic> {
        let memory = self.engines[engine].allocate(bytes as u64).unwrap();
        self.engines[engine].register(memory, access).unwrap()
    }

    /// Runs one random engine.
    pub fn turn(&mut self) {
        let engines = self.engines.len();
        match self.network.random(3 * engines) {
            engine if engine < engines => {
                self.engines[engine].progress();
            }
            _ => {
                self.network.step();
            }
        }
    }

    /// Runs turns until `done` returns true after one of them.
    pub fn run(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        for _ in 0..TIMEOUT_ROUNDS {
            self.turn();
            if done(self) {
                return;
            }
        }
        panic!("nothing happens any more");
    }

    /// Runs turns until nothing is in flight, and a few more.
    pub fn settle(&mut self) {
        for _ in 0..TIMEOUT_ROUNDS {
            let busy = self.engines.iter_mut().any(Engine::progress);
            if !self.network.step() && !busy {
                return;
            }
        }
        panic!("it never comes to rest");
    }
}

/// Bytes of host memory.
pub fn bytes(memory: &NetMemory) -> Vec<u8> {
    memory.copy(0, memory.size())
}

/// Bytes without a period, so that a shifted copy differs.
pub fn pattern(length: usize, salt: usize) -> Vec<u8> {
    (0..length)
        .map(|i| (i * 131 + i / 241 * 17 + salt * 59) as u8)
        .collect()
}
