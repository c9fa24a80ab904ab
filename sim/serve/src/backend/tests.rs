//! Messages that QEMU sends and the crate's client does not.

use super::*;
use sim_nic::{Hosts, PcieSettings};
use stellar_transport::endpoint::Memory;

fn backend() -> Backend {
    let hosts = Hosts::new(Default::default(), &PcieSettings::default()).unwrap();
    let vectors = 64;
    let clock_page = Arc::new(ClockPage::new().unwrap());
    let world = World::start(hosts, None, Arc::clone(&clock_page)).unwrap();
    Backend {
        world,
        host: 1,
        vectors,
        clock_page,
        messages: Arc::default(),
    }
}

impl Backend {
    /// Whether the card can read at an address, and the numbers of windows and bad accesses afterwards.
    fn look(&self, address: u64) -> (bool, usize, u64) {
        self.call(move |simulation, host| {
            let memory = simulation.hosts.memory(host);
            let is_there = memory.read(address, false, &mut [0; 8]).is_ok();
            (is_there, memory.windows(), memory.bad_accesses())
        })
    }

    fn show(&mut self, address: u64) {
        let file = tempfile::tempfile().unwrap();
        file.set_len(0x2000).unwrap();
        let flags = DmaMapFlags::READ_WRITE;
        self.dma_map(flags, 0x1000, address, 0x1000, Some(file))
            .unwrap();
    }
}

#[test]
fn what_is_mapped_and_unmapped() {
    let mut backend = backend();
    // With the flag, all windows are unmapped, wherever they are.
    for address in [0, 0x10_0000, u64::MAX - 0x1fff] {
        backend.show(address);
    }
    assert_eq!(backend.look(0x10_0ff8), (true, 3, 0));
    let all = DmaUnmapFlags::UNMAP_ALL;
    backend.dma_unmap(all, 0, 0).unwrap();
    assert_eq!(backend.look(0x10_0ff8), (false, 0, 1));
    backend.dma_unmap(all, 0, 0).unwrap();
    // Without the flag, only windows inside the range are unmapped, and an empty range unmaps none.
    backend.show(0x10_0000);
    let none = DmaUnmapFlags::empty();
    for (address, size) in [(0, 0), (0x10_0000, 0xfff), (0x10_1000, 0x1000)] {
        backend.dma_unmap(none, address, size).unwrap();
        assert_eq!(backend.look(0x10_0000), (true, 1, 1));
    }

    // A map without a file is not accessible, and does not conflict with others.
    let flags = DmaMapFlags::READ_WRITE;
    backend.dma_map(flags, 0, 0x20_0000, 0x1000, None).unwrap();
    backend.dma_map(flags, 0, 0x10_0000, 0x1000, None).unwrap();
    assert_eq!(backend.look(0x20_0000), (false, 1, 2));
    backend.show(0x20_0000);
    assert_eq!(backend.look(0x20_0000), (true, 2, 2));
    backend.dma_unmap(none, 0x20_0000, 0x1000).unwrap();
    backend.dma_unmap(none, 0x20_0000, 0x1000).unwrap();
    assert_eq!(backend.look(0x10_0000), (true, 1, 2));
}
