//! The host's side: virtual devices of one card, for guests.
//!
//! A guest's requests arrive over a virtio queue. The service checks them and calls the driver; only the driver writes the card's tables. Each device
//! has a doorbell page of its own, and a guest can access nothing else of the card. So a guest can use only objects that the host made for it.

mod control;
mod convert;
mod device;
mod execute;
mod fence;
mod iova;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use stellar_driver::{Device, TenantShare};
use stellar_wire::vstellar::{GuestCounters, GuestQuota, QUEUE_SIZE};
use thiserror::Error;
use virtio_queue::{Queue, QueueT};

pub use control::{ControlError, QueuePlace};
pub use device::GuestMachine;
use device::VirtualDevice;
pub use fence::CardFence;
use iova::IovaSpace;

use crate::pvdma::{GuestId, Pvdma, PvdmaError, Window};
use crate::window::DoorbellWindow;

/// Number of chains of a control queue that are processed in one turn of its device: enough to make a queue pair with all that it needs, and to connect it.
pub const TURN: usize = 8;

/// A virtual device: the number of its doorbell page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u16);

/// Why a call of the hypervisor fails.
#[derive(Debug, Error)]
pub enum ServiceError {
    /// The guest is not known.
    #[error("guest {} is not known; add it first", .0 .0)]
    UnknownGuest(GuestId),
    /// The device does not exist.
    #[error("virtual device {} does not exist, or was destroyed", .0 .0)]
    UnknownDevice(DeviceId),
    /// There are no addresses left for the guest's memory.
    #[error("no {0:#x} IO virtual addresses in a row are left; remove guests, or give the service a larger range")]
    Addresses(u64),
    /// An error of its memory.
    #[error(transparent)]
    Memory(#[from] PvdmaError),
    /// An error of the card.
    #[error(transparent)]
    Driver(#[from] stellar_driver::Error),
    /// An error of its control queue.
    #[error(transparent)]
    Control(#[from] ControlError),
}

struct Guest {
    machine: GuestMachine,
    window: Window,
}

/// A default quota.
pub const QUOTA: GuestQuota = GuestQuota {
    domains: 8,
    regions: 64,
    pages: 4096,
    completion_queues: 16,
    queue_pairs: 16,
};

/// Virtual devices of one card.
pub struct Service {
    /// Declared before the guests, whose memory the devices use: fields are dropped in order.
    devices: BTreeMap<DeviceId, VirtualDevice>,
    guests: BTreeMap<GuestId, Guest>,
    /// Devices whose control queues may have chains, in the order of their turns.
    waiting: VecDeque<DeviceId>,
    addresses: IovaSpace,
    pvdma: Pvdma,
    device: Device,
}

impl Service {
    /// A service without guests. Guest memory is mapped for the card in `addresses`, multiples of 2 MiB that nothing else uses.
    pub fn new(device: Device, pvdma: Pvdma, addresses: Range<u64>) -> Self {
        Self {
            devices: BTreeMap::new(),
            guests: BTreeMap::new(),
            waiting: VecDeque::new(),
            addresses: IovaSpace::new(addresses),
            pvdma,
            device,
        }
    }

    /// Adds a guest. None of its memory is pinned yet. Returns the window in which its memory will be mapped.
    ///
    /// # Errors
    /// [`ServiceError::Addresses`], [`ServiceError::Memory`].
    pub fn add_guest(
        &mut self,
        guest: GuestId,
        machine: GuestMachine,
    ) -> Result<Window, ServiceError> {
        let length = machine.layout.memory_end();
        let window = self.addresses.take(length);
        let window = window.ok_or(ServiceError::Addresses(length))?;
        if let Err(error) = self.pvdma.add_guest(guest, window) {
            self.addresses.give_back(window);
            return Err(error.into());
        }
        self.guests.insert(guest, Guest { machine, window });
        Ok(window)
    }

    /// Makes a device for a guest. Returns it with its doorbells, which must be mapped at the start of the guest's shared-memory region. Other
    /// devices continue in the meantime.
    ///
    /// # Errors
    /// [`ServiceError::UnknownGuest`], [`ServiceError::Driver`] if all doorbell pages are taken.
    pub fn create_device(
        &mut self,
        guest: GuestId,
        quota: GuestQuota,
    ) -> Result<(DeviceId, DoorbellWindow), ServiceError> {
        let known = self.guests.get(&guest);
        let known = known.ok_or(ServiceError::UnknownGuest(guest))?;
        let context = self.device.open()?;
        let id = DeviceId(context.page());
        let queue = Queue::new(QUEUE_SIZE).expect("the size is a power of two");
        let of = (guest, known.machine.clone());
        let device = VirtualDevice::new(of, context, self.pvdma.clone(), queue, quota);
        let window = device.window.clone();
        self.devices.insert(id, device);
        Ok((id, window))
    }

    fn of(&mut self, id: DeviceId) -> Result<&mut VirtualDevice, ServiceError> {
        let device = self.devices.get_mut(&id);
        device.ok_or(ServiceError::UnknownDevice(id))
    }

    /// Sets the share of a device in the ports of the card. A guest has no request for it.
    ///
    /// # Errors
    /// [`ServiceError::UnknownDevice`], [`ServiceError::Driver`] if the card cannot give the share.
    pub fn set_share(&mut self, id: DeviceId, share: TenantShare) -> Result<(), ServiceError> {
        let card = self.device.clone();
        Ok(card.set_tenant_share(&self.of(id)?.context, share)?)
    }

    /// Call this when the guest's driver has configured the device's control queue.
    ///
    /// # Errors
    /// [`ServiceError::UnknownDevice`], [`ServiceError::Control`].
    pub fn activate(&mut self, id: DeviceId, queue: QueuePlace) -> Result<(), ServiceError> {
        Ok(self.of(id)?.activate(queue)?)
    }

    /// Call this when the guest's driver has put chains into the device's control queue. They are processed in [`Self::serve`]. A device that already waits
    /// for its turn keeps its place.
    pub fn notify(&mut self, id: DeviceId) {
        if !self.waiting.contains(&id) {
            self.waiting.push_back(id);
        }
    }

    /// Gives a turn to the device that has waited longest: processes at most [`TURN`] chains of its control queue. If there may be more, it waits again,
    /// behind all others. So the chains of a device that never stops delay those of another by [`TURN`] chains per round. Returns the device and the
    /// number of chains processed; `None` if no device waits.
    ///
    /// # Errors
    /// [`ServiceError::UnknownDevice`], [`ServiceError::Control`], with the device, which no longer waits.
    pub fn serve(&mut self) -> Option<(DeviceId, Result<usize, ServiceError>)> {
        let id = self.waiting.pop_front()?;
        let processed = self.process_some(id, TURN);
        if matches!(processed, Ok(TURN)) {
            self.waiting.push_back(id);
        }
        Some((id, processed))
    }

    fn process_some(&mut self, id: DeviceId, most: usize) -> Result<usize, ServiceError> {
        Ok(self.of(id)?.process(most)?)
    }

    /// Processes the chains in a device's control queue out of turn, at most one full ring: for a host with one device, or one that arbitrates between
    /// devices itself. Returns their number.
    ///
    /// # Errors
    /// [`ServiceError::UnknownDevice`], [`ServiceError::Control`].
    pub fn process(&mut self, id: DeviceId) -> Result<usize, ServiceError> {
        self.process_some(id, usize::MAX)
    }

    /// Counters of a device, including refused requests.
    ///
    /// # Errors
    /// [`ServiceError::UnknownDevice`], [`ServiceError::Driver`].
    pub fn counters(&mut self, id: DeviceId) -> Result<GuestCounters, ServiceError> {
        let device = self.of(id)?;
        device.collect_events()?;
        Ok(device.counters())
    }

    /// Number of devices.
    pub fn devices(&self) -> impl Iterator<Item = DeviceId> + '_ {
        self.devices.keys().copied()
    }

    /// Destroys a device and all objects that its guest has made with it.
    ///
    /// # Errors
    /// [`ServiceError::UnknownDevice`].
    pub fn destroy_device(&mut self, id: DeviceId) -> Result<(), ServiceError> {
        self.waiting.retain(|waiting| *waiting != id);
        let device = self.devices.remove(&id);
        device.map(drop).ok_or(ServiceError::UnknownDevice(id))
    }

    /// Removes a guest: destroys its devices and unpins its memory, whatever the devices were doing. Returns the number of blocks that stay pinned
    /// because the card may still access them, usually zero.
    ///
    /// # Errors
    /// [`ServiceError::UnknownGuest`], [`ServiceError::Memory`]: call it again then.
    pub fn remove_guest(&mut self, guest: GuestId) -> Result<usize, ServiceError> {
        let known = self.guests.get(&guest);
        let window = known.ok_or(ServiceError::UnknownGuest(guest))?.window;
        self.devices.retain(|_, device| device.guest != guest);
        self.waiting.retain(|id| self.devices.contains_key(id));
        let left = self.pvdma.remove_guest(guest)?;
        self.guests.remove(&guest);
        if left == 0 {
            self.addresses.give_back(window);
        }
        Ok(left)
    }
}
