//! Execution of a peer's requests to its card.
//!
//! The library's client waits forever if it gets an error where it expects data (vfio_user 0.1.7: an error reply has only a header). So accesses to
//! regions, unmapping and reset never fail here. As on PCIe, a read without a target returns all ones, and a write without a target is dropped; both
//! are counted.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use sim_nic::ConfigEffect;
use stellar_wire::host::config_space::{Bar, Function};
use stellar_wire::host::simulation::{LOOK, LOOK_AWAY, NOW, RUN_UNTIL};
use stellar_wire::host::vector_table::VECTORS;
use stellar_wire::host::VectorEntry;
use vfio_user::{DmaMapFlags, DmaUnmapFlags, ServerBackend};

use crate::clock_page::ClockPage;
use crate::config_region;
use crate::pages::{Pages, Slots};
use crate::regions::{interrupts, regions, whole_pages, Region, Shared};
use crate::socket::{Seen, ServedFunction};
use crate::world::{Simulation, World};

/// Bytes of the widest transaction.
const WORD: usize = 8;

/// The card of one socket.
pub struct Backend {
    pub world: World,
    pub host: usize,
    pub vectors: u16,
    pub clock_page: Arc<ClockPage>,
    /// Accesses to regions that came as messages.
    pub messages: Arc<AtomicU64>,
}

/// The table of interrupt vectors is the server's, which writes it as SET_IRQS says: so Linux's VFIO has it.
fn is_vector_table(bar: Bar, offset: u64) -> bool {
    bar == Bar::Vectors && offset < VectorEntry::offset(VECTORS)
}

/// An access that the card may get.
fn has_target(bar: Bar, offset: u64, bytes: usize) -> bool {
    is_one_transaction(bar, offset, bytes) && !is_vector_table(bar, offset)
}

/// An access that is one transaction inside its BAR: some bytes of one aligned word.
fn is_one_transaction(bar: Bar, offset: u64, bytes: usize) -> bool {
    let lead = (offset % WORD as u64) as usize;
    (1..=WORD - lead).contains(&bytes)
        && offset
            .checked_add(bytes as u64)
            .is_some_and(|end| end <= bar.length())
}

impl Backend {
    /// Executes a job in the simulation, after the doorbells that the peer has stored in its pages.
    ///
    /// # Panics
    /// If the thread of the simulation has panicked. The connection ends then, as if the card had been unplugged.
    pub fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Simulation, usize) -> T + Send + 'static,
    ) -> T {
        let host = self.host;
        let found = self.world.call(move |simulation| {
            simulation.look(host);
            job(simulation, host)
        });
        found.expect("the simulation has ended")
    }

    fn refuse(&self, what: &str, region: u32, offset: u64, bytes: usize) {
        let host = self.host;
        tracing::debug!("card {host}: {what} of {bytes} bytes at {offset:#x} of region {region}: nothing answers");
        self.call(|simulation, host| simulation.peers[host].refused += 1);
    }

    fn read_bar(&self, bar: Bar, offset: u64, data: &mut [u8]) -> bool {
        if !has_target(bar, offset, data.len()) {
            return false;
        }
        let bytes = data.len() as u8;
        let word = self.call(move |simulation, host| {
            let word = simulation.hosts.load(host, bar, offset, bytes);
            word.unwrap_or_else(|error| {
                tracing::error!("card {host}: {error}");
                None
            })
        });
        if let Some(word) = word {
            data.copy_from_slice(&word.to_le_bytes()[..data.len()]);
        }
        word.is_some()
    }

    fn write_bar(&self, bar: Bar, offset: u64, data: &[u8]) -> bool {
        if !has_target(bar, offset, data.len()) {
            return false;
        }
        let mut word = [0; WORD];
        word[..data.len()].copy_from_slice(data);
        let (word, bytes) = (u64::from_le_bytes(word), data.len() as u8);
        self.call(move |simulation, host| {
            let taken = simulation.hosts.store(host, bar, offset, bytes, word);
            taken.unwrap_or_else(|error| {
                tracing::error!("card {host}: {error}");
                false
            })
        })
    }

    /// Reads any bytes of the configuration space. Returns `false` if some lie outside; those do not change in the buffer.
    fn read_config(&self, offset: u64, data: &mut [u8]) -> bool {
        let count = data.len();
        let inside = self.call(move |simulation, host| {
            config_region::read(simulation, host, Function::Control, offset, count)
        });
        data[..inside.len()].copy_from_slice(&inside);
        inside.len() == count
    }

    fn write_config(&self, offset: u64, data: &[u8]) -> bool {
        let data = data.to_vec();
        let effect = self.call(move |simulation, host| {
            config_region::write(simulation, host, Function::Control, offset, &data)
        });
        match effect {
            None => return false,
            Some(ConfigEffect::Nothing) => {}
            Some(ConfigEffect::Reset) => self.finish_reset(),
            Some(ConfigEffect::MsiX) => self.enable_vectors(),
        }
        true
    }

    fn finish_reset(&self) {
        self.world.finish_reset(self.host);
    }

    fn begin_reset(&self) {
        self.call(|simulation, host| simulation.hosts.begin_reset(host));
    }

    /// Executes a message to the region of the clock.
    fn write_simulation(&self, offset: u64, word: u64) -> bool {
        self.call(move |simulation, host| {
            let peer = &mut simulation.peers[host];
            match offset {
                RUN_UNTIL => {
                    peer.run_until = peer.run_until.max(Duration::from_nanos(word));
                    true
                }
                LOOK => {
                    let is_slot = peer.slots.add(word);
                    simulation.look(host);
                    is_slot
                }
                LOOK_AWAY => peer.slots.remove(word),
                _ => false,
            }
        })
    }
}

impl ServedFunction for Backend {
    fn name(&self) -> String {
        format!("card {}", self.host)
    }

    /// The peer gets new doorbell pages, because the previous peer's may still be mapped.
    fn connect(&mut self) -> Seen {
        let pages = match Pages::new() {
            Ok(pages) => Some(Arc::new(pages)),
            Err(error) => {
                let host = self.host;
                tracing::warn!("card {host}: no doorbell pages to be mapped: {error}");
                None
            }
        };
        let shared = Shared {
            clock_page: Some(&self.clock_page),
            pages: pages.as_deref(),
        };
        let seen = Seen {
            interrupts: interrupts(self.vectors),
            regions: regions(Function::Control, &shared),
            pages: pages.clone(),
        };
        self.call(|simulation, host| {
            let peer = &mut simulation.peers[host];
            peer.is_connected = true;
            peer.slots = Slots::of(pages);
        });
        seen
    }

    /// Whatever the peer was doing: the card is reset, and when nothing of it is on its way any more, it cannot access the peer's memory.
    fn disconnect(&mut self) {
        let doorbells = self.call(|simulation, host| {
            let peer = &mut simulation.peers[host];
            peer.is_connected = false;
            peer.run_until = Duration::ZERO;
            peer.interrupts.clear();
            peer.slots = Slots::default();
            let doorbells = peer.doorbells;
            simulation.hosts.begin_reset(host);
            doorbells
        });
        let (host, messages) = (self.host, self.messages.load(Ordering::Relaxed));
        tracing::info!("card {host}: so far {messages} accesses by message, {doorbells} doorbells out of mapped pages");
        self.finish_reset();
        // Writes that were on their way when the reset began have arrived by now.
        self.call(|simulation, host| simulation.hosts.memory(host).clear());
    }
}

impl ServerBackend for Backend {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.messages.fetch_add(1, Ordering::Relaxed);
        data.fill(0xff);
        let is_answered = match Region::of(region) {
            Region::Bar(bar) => self.read_bar(bar, offset, data),
            Region::Config => self.read_config(offset, data),
            Region::Simulation if (offset, data.len()) == (NOW, WORD) => {
                data.copy_from_slice(&self.clock_page.now().to_le_bytes());
                true
            }
            Region::Simulation | Region::Pages | Region::Nothing => false,
        };
        if !is_answered {
            self.refuse("read", region, offset, data.len());
        }
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        self.messages.fetch_add(1, Ordering::Relaxed);
        let is_taken = match (Region::of(region), <[u8; WORD]>::try_from(data)) {
            (Region::Bar(bar), _) => self.write_bar(bar, offset, data),
            (Region::Config, _) => self.write_config(offset, data),
            (Region::Simulation, Ok(word)) => {
                self.write_simulation(offset, u64::from_le_bytes(word))
            }
            // The region of the doorbell pages is mapped; messages use BAR2.
            (Region::Simulation | Region::Pages | Region::Nothing, _) => false,
        };
        if !is_taken {
            self.refuse("write", region, offset, data.len());
        }
        Ok(())
    }

    fn dma_map(
        &mut self,
        flags: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        // QEMU maps its ROMs and BARs without a file. The card cannot access these, and need not.
        let Some(file) = fd else {
            return Ok(());
        };
        whole_pages(address, size)?;
        self.call(move |simulation, host| {
            let memory = simulation.hosts.memory(host);
            memory.map(address, size, file, offset, flags)
        })
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        let is_all = flags.contains(DmaUnmapFlags::UNMAP_ALL);
        self.call(move |simulation, host| {
            let memory = simulation.hosts.memory(host);
            if is_all {
                memory.clear();
            } else if memory.unmap(address, size) == 0 {
                tracing::debug!(
                    "card {host}: nothing is mapped inside {size:#x} bytes at {address:#x}"
                );
            }
        });
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.begin_reset();
        self.finish_reset();
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> io::Result<()> {
        self.route(index, flags, start, count, fds)
    }
}

#[cfg(test)]
mod tests;
