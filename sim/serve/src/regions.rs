//! The regions and interrupts that peers see.

use std::io;
use std::os::fd::RawFd;

use vfio_bindings::bindings::vfio::{
    vfio_region_info, vfio_region_sparse_mmap_area, VFIO_IRQ_INFO_EVENTFD,
    VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_NUM_IRQS,
    VFIO_REGION_INFO_FLAG_MMAP, VFIO_REGION_INFO_FLAG_READ, VFIO_REGION_INFO_FLAG_WRITE,
};
use vfio_user::{IrqInfo, ServerRegion, SparseArea};

use stellar_wire::host::config_space::{self, Bar, Function};
use stellar_wire::host::simulation;

use crate::clock_page::ClockPage;
use crate::error::invalid;
use crate::pages::Pages;

/// Unit in which an IOMMU maps, in bytes.
const IOMMU_PAGE: u64 = 4096;

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

/// Files of regions that a peer can map.
#[derive(Clone, Copy, Default)]
pub struct Shared<'a> {
    pub clock_page: Option<&'a ClockPage>,
    /// Without these, doorbell pages cannot be mapped.
    pub pages: Option<&'a Pages>,
}

/// All regions of a function, in order of their numbers.
pub fn regions(function: Function, shared: &Shared<'_>) -> Vec<ServerRegion> {
    (0..=simulation::PAGES_REGION)
        .map(|index| match (Region::of(index), function) {
            (Region::Config, _) => region(index, Region::Config, None),
            (_, Function::Data) => region(index, Region::Nothing, None),
            (Region::Simulation, _) => {
                let file = shared.clock_page.map(ClockPage::descriptor);
                region(index, Region::Simulation, file)
            }
            (Region::Pages, _) => match shared.pages {
                Some(pages) => region(index, Region::Pages, Some(pages.descriptor())),
                None => region(index, Region::Nothing, None),
            },
            (other, _) => region(index, other, None),
        })
        .collect()
}

/// Checks that a range consists of whole pages. Returns its end.
///
/// # Errors
/// If it does not, is empty, or wraps.
pub fn whole_pages(address: u64, size: u64) -> io::Result<u64> {
    if !address.is_multiple_of(IOMMU_PAGE) || !size.is_multiple_of(IOMMU_PAGE) {
        let reason = format!(
            "{size:#x} bytes at {address:#x}: an IOMMU maps whole pages of {IOMMU_PAGE:#x} bytes"
        );
        return Err(invalid(reason));
    }
    let end = address.checked_add(size).filter(|_| size > 0);
    end.ok_or_else(|| invalid(format!("{size:#x} bytes at {address:#x}")))
}

/// Describes region `index` to the peer. If it has a file, all of it can be mapped.
fn region(index: u32, region: Region, file: Option<RawFd>) -> ServerRegion {
    let size = region.length();
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
