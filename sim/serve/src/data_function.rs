//! The data function of a card: it has a configuration space and accesses memory, and nothing else.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use sim_nic::ConfigEffect;
use stellar_wire::host::config_space::Function;
use vfio_user::{DmaMapFlags, DmaUnmapFlags, ServerBackend};

use crate::config_region;
use crate::error::invalid;
use crate::ranges;
use crate::regions::{interrupts, regions, whole_pages, Region, Shared};
use crate::socket::{Seen, ServedFunction};
use crate::world::{Simulation, World};

/// The data function of one card.
pub struct DataFunction {
    world: World,
    host: usize,
    /// What the peer has mapped: lengths by address.
    mapped: BTreeMap<u64, u64>,
}

impl DataFunction {
    /// Of the card of `host`.
    pub fn new(world: World, host: usize) -> Self {
        Self {
            world,
            host,
            mapped: BTreeMap::new(),
        }
    }

    fn call<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Simulation, usize) -> T + Send + 'static,
    ) -> T {
        let host = self.host;
        let found = self.world.call(move |simulation| job(simulation, host));
        found.expect("the simulation has ended")
    }

    fn finish_reset(&self) {
        self.world.finish_reset(self.host);
    }

    /// A function-level reset, from its begin to its end.
    fn reset_whole(&self) {
        self.call(|simulation, host| simulation.hosts.begin_reset_of(host, Function::Data));
        self.finish_reset();
    }

    /// Removes every mapping that lies inside a range.
    fn unmap_inside(&mut self, address: u64, length: u64) {
        for at in ranges::inside(&self.mapped, address, length) {
            if let Some(length) = self.mapped.remove(&at) {
                self.call(move |simulation, host| {
                    simulation.hosts.unmap(host, Function::Data, at, length);
                });
            }
        }
    }
}

impl ServedFunction for DataFunction {
    fn name(&self) -> String {
        format!("data function of card {}", self.host)
    }

    fn connect(&mut self) -> Seen {
        Seen {
            interrupts: interrupts(0),
            regions: regions(Function::Data, &Shared::default()),
            pages: None,
        }
    }

    fn disconnect(&mut self) {
        self.reset_whole();
        self.unmap_inside(0, u64::MAX);
    }
}

impl ServerBackend for DataFunction {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        data.fill(0xff);
        if Region::of(region) == Region::Config {
            let count = data.len();
            let inside = self.call(move |simulation, host| {
                config_region::read(simulation, host, Function::Data, offset, count)
            });
            data[..inside.len()].copy_from_slice(&inside);
        }
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        if Region::of(region) == Region::Config {
            let bytes = data.to_vec();
            let effect = self.call(move |simulation, host| {
                config_region::write(simulation, host, Function::Data, offset, &bytes)
            });
            if effect == Some(ConfigEffect::Reset) {
                self.finish_reset();
            }
        }
        Ok(())
    }

    fn dma_map(
        &mut self,
        _flags: DmaMapFlags,
        _offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        // The bytes are those that the control function's peer has mapped at the same address.
        if fd.is_none() {
            return Ok(());
        }
        let end = whole_pages(address, size)?;
        if ranges::overlaps(&self.mapped, address, end) {
            let reason = format!("{address:#x} to {end:#x} lies over what is mapped already");
            return Err(invalid(reason));
        }
        self.mapped.insert(address, size);
        self.call(move |simulation, host| {
            let hosts = &mut simulation.hosts;
            hosts.map(host, Function::Data, address, size);
        });
        Ok(())
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
            self.unmap_inside(0, u64::MAX);
        } else {
            self.unmap_inside(address, size);
        }
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.reset_whole();
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        _flags: u32,
        _start: u32,
        count: u32,
        _fds: Vec<File>,
    ) -> io::Result<()> {
        match count {
            0 => Ok(()),
            _ => Err(invalid(format!(
                "{count} interrupts of kind {index}: the data function has none"
            ))),
        }
    }
}
