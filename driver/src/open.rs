//! Bring-up, and the card as all its contexts share it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use stellar_wire::config::{EndpointConfig, PlaneAddress, RxConfig, TenantShare};
use stellar_wire::host::registers::{MAX_PAYLOAD, MAX_READ, UDP_PORT};
use stellar_wire::host::{ConsumerIndex, Eqe};
use stellar_wire::rows::{ConfigSelect, EmttRow, MrRow, PeerRow, QpRow, RingRow, Row as _};
use stellar_wire::MacAddr;

use crate::admin::{self, AdminQueue};
use crate::card::{lock, Card};
use crate::context::Context;
use crate::device::{DeviceError, Interrupt};
use crate::error::Error;
use crate::events::{Collected, Events};
use crate::functions::enable_requests;
use crate::limits::{Limits, Pools, CARD_EVENTS, EVENT_VECTOR};
use crate::on_demand::Reach;
use crate::probe::Probe;
use crate::profiles::Profiles;
use crate::ring::Ring;
use crate::vectors::{AddressVectors, VECTORS};

/// Address of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortAddress {
    /// MAC address; of a peer, that of the next hop.
    pub mac: [u8; 6],
    /// IP address.
    pub ip: IpAddr,
}

impl PortAddress {
    pub(crate) const fn plane(self) -> PlaneAddress {
        PlaneAddress {
            mac: MacAddr(self.mac),
            ip: self.ip,
        }
    }
}

/// Configuration of a card at bring-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceConfig {
    /// The card's address in each plane, of one IP version. Of a card with one port, the first counts.
    pub ports: [PortAddress; 2],
    /// Code point of data packets, 6 bits.
    pub data_dscp: u8,
    /// Code point of acknowledgements, 6 bits.
    pub control_dscp: u8,
    /// Entries of each event queue, a power of two up to 2^20.
    pub event_entries: u32,
    /// Seed of the queue pairs' path choice: any number, different on every host.
    pub seed: u64,
}

impl DeviceConfig {
    /// A configuration with addresses `ports`. DSCPs are 0 and 46, and an event queue has 256 entries.
    pub const fn new(ports: [PortAddress; 2], seed: u64) -> Self {
        Self {
            ports,
            data_dscp: 0,
            control_dscp: 46,
            event_entries: 256,
            seed,
        }
    }

    fn endpoint(&self) -> EndpointConfig {
        EndpointConfig {
            planes: self.ports.map(PortAddress::plane),
            rx: RxConfig::default(),
            data_dscp: self.data_dscp,
            control_dscp: self.control_dscp,
            event_entries: self.event_entries,
        }
    }
}

/// The card, shared by everything made from it.
pub(crate) struct Shared {
    pub card: Card,
    pub probe: Probe,
    pub config: DeviceConfig,
    pub profiles: Mutex<Profiles>,
    pub pools: Mutex<Pools>,
    pub vectors: Mutex<AddressVectors>,
    pub events: Mutex<Events>,
    /// Shares that were set, by doorbell page.
    pub shares: Mutex<BTreeMap<u16, TenantShare>>,
    admin: Mutex<AdminQueue>,
    event_vector: Arc<dyn Interrupt>,
    /// The range of memory that a packet may touch, for the page faults of on-demand regions.
    pub reach: Reach,
}

impl Drop for Shared {
    /// The card stops before the memory of its event queues is freed. If it does not stop, the memory is never freed.
    fn drop(&mut self) {
        if self.card.function().reset().is_err() {
            std::mem::forget(lock(&self.events).take_rings());
        }
    }
}

impl Shared {
    /// Writes rows of the eMTT from `first` on: few through registers, many through the admin queue.
    pub fn write_translations(&self, first: u32, rows: &[EmttRow]) -> Result<(), DeviceError> {
        if rows.len() < admin::LEAST {
            return (first..)
                .zip(rows)
                .try_for_each(|(index, row)| self.card.write_row(ConfigSelect::Emtt, index, row));
        }
        let packed: Vec<u64> = rows.iter().map(packed).collect();
        lock(&self.admin).write_translations(&self.card, first, &packed)
    }
}

/// Packs a row of the eMTT for a list of the admin queue.
fn packed(row: &EmttRow) -> u64 {
    let words = row.pack();
    u64::from(words[1]) << 32 | u64::from(words[0])
}

/// A card that is up. Clones are the same card; it is reset when all that was made from it is gone.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<Shared>);

impl Probe {
    /// Resets the card and writes all of its tables, because tables keep their contents over a reset.
    ///
    /// # Errors
    /// [`Error`].
    pub fn bring_up(self, config: DeviceConfig) -> Result<Device, Error> {
        let endpoint = config.endpoint();
        endpoint.check()?;
        let profiles = Profiles::new(config.ports[0].ip.is_ipv4())?;
        let function = Arc::clone(self.function());
        function.reset()?;
        for each in self.functions() {
            enable_requests(&*function, *each)?;
        }
        let card = Card::new(function);
        self.set_sizes(&card, &endpoint)?;
        self.clear_tables(&card)?;
        let ports = self.features.ports.into();
        for (index, plane) in (0..).zip(endpoint.planes).take(ports) {
            card.write_row(ConfigSelect::Port, index, &endpoint.port_row(plane))?;
        }
        profiles.write_all(&card)?;
        let event_vector = card.interrupt(EVENT_VECTOR)?;
        let log2_entries = config.event_entries.ilog2() as u8;
        let ring = Ring::new::<Eqe>(card.function(), log2_entries)?;
        let row = ring_row(&ring, Some(EVENT_VECTOR), CARD_EVENTS);
        let admin = AdminQueue::new(card.function())?;
        // `Shared` resets the card before the ring is freed. So it exists before the card gets the address of the ring.
        let device = Device(Arc::new(Shared {
            pools: Mutex::new(Pools::new(&Limits::of(&self))),
            vectors: Mutex::new(AddressVectors::new(VECTORS)),
            events: Mutex::new(Events::new(ring)),
            shares: Mutex::default(),
            admin: Mutex::new(admin),
            card,
            probe: self,
            config,
            profiles: Mutex::new(profiles),
            event_vector,
            reach: Reach::default(),
        }));
        let card = &device.0.card;
        card.write_row(ConfigSelect::EventQueue, CARD_EVENTS.into(), &row)?;
        lock(&device.0.admin).start(&device.0.card)?;
        Ok(device)
    }

    /// Writes the UDP port, and the PCIe sizes that the host has set.
    fn set_sizes(&self, card: &Card, endpoint: &EndpointConfig) -> Result<(), DeviceError> {
        let code = |bytes: u32| u64::from(bytes.ilog2() - 7);
        card.write(MAX_PAYLOAD, code(self.max_payload))?;
        card.write(MAX_READ, code(self.max_read))?;
        card.write(UDP_PORT, endpoint.rx.udp_port.into())
    }

    /// Makes the rows invalid that would let packets in: queue pairs, their peers, regions.
    fn clear_tables(&self, card: &Card) -> Result<(), DeviceError> {
        let queue_pairs = 1 << self.features.log2_queue_pairs;
        card.fill_table(ConfigSelect::Qp, queue_pairs, &QpRow::default())?;
        card.fill_table(ConfigSelect::Peer, queue_pairs, &PeerRow::default())?;
        let regions = 1 << self.features.log2_regions;
        card.fill_table(ConfigSelect::Mr, regions, &MrRow::default())
    }
}

/// The row of a ring whose entries raise `vector` when it is armed. If it is of a queue pair, the queue pair's events go to `event_queue`.
pub(crate) fn ring_row(ring: &Ring, vector: Option<u16>, event_queue: u16) -> RingRow {
    RingRow {
        valid: true,
        interrupts: vector.is_some(),
        vector: vector.unwrap_or(0),
        log2_entries: ring.log2_entries(),
        base: ring.memory().address(),
        event_queue,
    }
}

impl Device {
    /// Opens the card: a context with a doorbell page of its own.
    ///
    /// # Errors
    /// [`Error::Exhausted`] if every page is taken.
    pub fn open(&self) -> Result<Context, Error> {
        Context::new(Arc::clone(&self.0))
    }

    /// The result of the probe at bring-up.
    pub fn probe(&self) -> &Probe {
        &self.0.probe
    }

    /// Resources of the card.
    pub fn limits(&self) -> Limits {
        Limits::of(self.probe())
    }

    /// The device's configuration.
    pub fn config(&self) -> &DeviceConfig {
        &self.0.config
    }

    /// Returns when the memory writes of every packet and table write that the card accepted before have left the card.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn fence(&self) -> Result<(), Error> {
        Ok(self.0.card.fence()?)
    }
}

impl Shared {
    /// Reads an event queue and that of the card, writes their consumer indices, and maps pages that peers wrote to. `arm` arms `queue`.
    pub fn collect_events(&self, queue: u16, arm: bool) -> Result<(), Error> {
        let (collected, faults) = {
            let mut events = lock(&self.events);
            let own = self.read_events(&mut events, queue, arm);
            // A failed flush read is an event of the card, which the card writes before the failures of queue pairs that follow from it. So the card's queue
            // is read last, and its events come first.
            let of_card =
                (queue != CARD_EVENTS).then(|| self.read_events(&mut events, CARD_EVENTS, false));
            let mut error = Ok(());
            for collected in of_card.into_iter().chain([own]) {
                events.hand_on_all(&collected.entries);
                error = error.and(collected.error.map_or(Ok(()), Err));
            }
            (error, events.take_faults())
        };
        for (region, address) in faults {
            region.serve(self, address)?;
        }
        collected
    }

    /// Whether there are on-demand regions, whose page faults are events of the card.
    pub fn expects_faults(&self) -> bool {
        lock(&self.events).expect_faults()
    }

    /// Reads an event queue and writes its consumer index. What was read is returned also if the index cannot be written.
    fn read_events(&self, events: &mut Events, queue: u16, arm: bool) -> Collected {
        let mut collected = events.read(queue);
        if arm || !collected.entries.is_empty() || collected.error.is_some() {
            let consumed = self.card.consume_events(ConsumerIndex {
                qp: queue.into(),
                index: collected.taken,
                arm,
            });
            collected.error = collected.error.or(consumed.err().map(Error::from));
        }
        collected
    }

    /// The interrupt of the card's event queue.
    pub fn event_vector(&self) -> &Arc<dyn Interrupt> {
        &self.event_vector
    }
}
