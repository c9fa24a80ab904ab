//! The regions and interrupts that peers see.

use std::os::fd::RawFd;

use vfio_bindings::bindings::vfio::{
    vfio_region_info, vfio_region_sparse_mmap_area, VFIO_IRQ_INFO_EVENTFD,
    VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_NUM_IRQS,
    VFIO_REGION_INFO_FLAG_MMAP, VFIO_REGION_INFO_FLAG_READ, VFIO_REGION_INFO_FLAG_WRITE,
};
use vfio_user::{IrqInfo, ServerRegion, SparseArea};

use stellar_wire::host::config_space::{self, Bar};
use stellar_wire::host::simulation;

use crate::clock_page::ClockPage;
use crate::pages::Pages;

/// The meaning of a region number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    Bar(Bar),
    Config,
    Simulation,
    /// Doorbell pages as memory.
    Pages,
    /// A BAR, ROM or other region that the card does not have.
    Nothing,
}

impl Region {
    /// The region with a number.
    pub fn of(index: u32) -> Self {
        let is_it = |bar: &&Bar| u32::from(bar.index()) == index;
        match index {
            VFIO_PCI_CONFIG_REGION_INDEX => Self::Config,
            simulation::REGION => Self::Simulation,
            simulation::PAGES_REGION => Self::Pages,
            _ => Bar::ALL
                .iter()
                .find(is_it)
                .map_or(Self::Nothing, |bar| Self::Bar(*bar)),
        }
    }

    /// Length in bytes.
    pub const fn length(self) -> u64 {
        match self {
            Self::Bar(bar) => bar.length(),
            Self::Config => config_space::LENGTH as u64,
            Self::Simulation => simulation::LENGTH,
            Self::Pages => Bar::Doorbells.length(),
            Self::Nothing => 0,
        }
    }
}

/// All regions, in order of their numbers. Without `pages`, doorbell pages cannot be mapped.
pub fn regions(clock_page: &ClockPage, pages: Option<&Pages>) -> Vec<ServerRegion> {
    (0..=simulation::PAGES_REGION)
        .map(|index| match Region::of(index) {
            Region::Simulation => region(index, Some(clock_page.descriptor())),
            Region::Pages => region(index, pages.map(Pages::descriptor)),
            _ => region(index, None),
        })
        .collect()
}

/// Describes region `index` to the peer. If it has a file, all of it can be mapped.
fn region(index: u32, file: Option<RawFd>) -> ServerRegion {
    let region = Region::of(index);
    let size = match (region, file) {
        (Region::Pages, None) => 0,
        _ => region.length(),
    };
    let mut info = vfio_region_info {
        argsz: size_of::<vfio_region_info>() as u32,
        index,
        size,
        ..Default::default()
    };
    if size > 0 {
        info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
    }
    if file.is_some() {
        info.flags |= VFIO_REGION_INFO_FLAG_MMAP;
    }
    let area = vfio_region_sparse_mmap_area { offset: 0, size };
    ServerRegion {
        region_info: info,
        sparse_areas: file.map(|_| SparseArea { area }).into_iter().collect(),
        mmap_fd: file,
    }
}

/// All kinds of interrupts. The card has only MSI-X, with `vectors` vectors.
pub fn interrupts(vectors: u16) -> Vec<IrqInfo> {
    (0..VFIO_PCI_NUM_IRQS)
        .map(|index| {
            let is_msi_x = index == VFIO_PCI_MSIX_IRQ_INDEX;
            IrqInfo {
                index,
                flags: if is_msi_x { VFIO_IRQ_INFO_EVENTFD } else { 0 },
                count: if is_msi_x { vectors.into() } else { 0 },
            }
        })
        .collect()
}
