//! One card in its host: pins, PCIe endpoints, MACs, memory.

use std::collections::BTreeMap;

use sim_bfm::CLOCK_PS;
use sim_verilated::Library;
use stellar_transport::requester::RequesterCounters;

use super::config_space::ConfigSpace;
use crate::counted::CountedFields;
use crate::mmio::{Mmio, MmioAccess, Progress};
use crate::model::{NicInputs, NicModel, NicOutputs, PortInputs, PortOutputs, RqBeat};
use crate::pcie::{HostPcie, HostSide, PcieSettings, RequestSizes};
use crate::port::{Link, Port};
use crate::sampled::Windows;
use crate::NicError;

/// The card with everything around it.
pub struct Card<M> {
    model: NicModel,
    pub config: ConfigSpace,
    sizes: RequestSizes,
    /// The PCIe fabric, with the host's memory.
    pub pcie: HostPcie<M>,
    ports: [Port; 2],
    mmio: Mmio,
    /// Bit v: vector v was raised and not polled since.
    pub raised: u64,
    /// Whether a pin was active in the last cycle, or a TLP is on its way.
    pub is_active: bool,
    /// Bytes written at final addresses, such as a GPU's memory.
    pub placed: u64,
    counted: CountedFields,
    /// Counters of the requesters since the last reset, by queue pair.
    pub counters: BTreeMap<u32, RequesterCounters>,
    pub windows: Windows,
}

fn config(sizes: RequestSizes) -> ConfigSpace {
    let mut config = ConfigSpace::new();
    config.set_sizes(sizes.payload.into(), sizes.read.into());
    config
}

impl<M: HostSide> Card<M> {
    /// A card after power-up.
    ///
    /// # Errors
    /// [`NicError`] if the library holds the model of another design.
    pub fn new(library: &Library, pcie: &PcieSettings, memory: M) -> Result<Self, NicError> {
        Ok(Self {
            model: NicModel::new(library)?,
            config: config(pcie.sizes),
            sizes: pcie.sizes,
            pcie: HostPcie::new(pcie, memory),
            ports: Port::both(),
            mmio: Mmio::default(),
            raised: 0,
            is_active: false,
            placed: 0,
            counted: CountedFields::new(),
            counters: BTreeMap::new(),
            windows: Windows::new(),
        })
    }

    /// The model, for access to the pins.
    pub fn model_mut(&mut self) -> &mut NicModel {
        &mut self.model
    }

    /// Asserts reset. Everything around the card is reset with it.
    pub fn hold_reset(&mut self) {
        self.model.set_reset(true);
        self.config = config(self.sizes);
        self.restart(true);
    }

    /// Releases reset.
    pub fn release_reset(&mut self) {
        self.model.set_reset(false);
        self.restart(false);
    }

    fn restart(&mut self, in_reset: bool) {
        self.pcie.reset_functions();
        for port in &mut self.ports {
            port.set_reset(in_reset);
        }
        self.mmio.reset();
        self.raised = 0;
        self.counters.clear();
        self.windows.clear();
    }

    /// Accepts a frame that has arrived at a port.
    pub fn receive(&mut self, port: usize, frame: Vec<u8>) {
        if self.ports[port].link != Link::Down {
            self.ports[port].rx.push(frame, false);
        }
    }

    /// Changes the state of the cable at a port.
    pub fn set_link(&mut self, port: usize, link: Link) {
        self.ports[port].link = link;
    }

    /// Returns a complete frame that has left a port, if there is one.
    pub fn transmitted(&mut self, port: usize) -> Option<Vec<u8>> {
        self.ports[port].tx.pop()
    }

    /// Simulates one cycle, in which the host offers an access to a BAR.
    pub fn clock(&mut self, access: Option<&MmioAccess>) -> Progress {
        let clock = self.model.clocks();
        let mut inputs = NicInputs {
            port_up: Port::up(&self.ports),
            msix_enable: self.config.has_msi_x(),
            msix_mask: self.config.masks_all_vectors(),
            ..NicInputs::default()
        };
        self.mmio.drive(access, &mut inputs);
        self.pcie.set_bus_master(self.config.is_master());
        self.pcie.advance(clock * CLOCK_PS);
        for vector in self.pcie.take_messages() {
            self.raise(vector);
        }
        for (pins, port) in inputs.ports.iter_mut().zip(&mut self.ports) {
            *pins = port.drive(&mut self.pcie);
        }
        let arrives = |port: &PortInputs| port.rx.is_some() || port.rc.is_some();
        let has_input = access.is_some() || inputs.ports.iter().any(arrives);
        let outputs = self.model.clock(&inputs);
        let leaves = |port: &PortOutputs| port.tx.is_some() || port.rq.is_some();
        self.is_active = has_input || outputs.ports.iter().any(leaves) || self.pcie.is_busy();
        let progress = self.mmio.look(access, &outputs);
        if let (Progress::Taken, Some(access)) = (progress, access) {
            Port::accepted(&mut self.ports, access);
        }
        self.take(outputs, clock);
        progress
    }

    fn take(&mut self, outputs: NicOutputs, clock: u64) {
        assert!(
            !outputs.payload_mismatch,
            "clock {clock}: the transmit side lost count of its payload"
        );
        for words in outputs.sampled.iter().flatten() {
            self.windows.see(words);
        }
        for (qp, words) in outputs.counted.into_iter().flatten() {
            for (qp, counter, count) in self.counted.of(qp, &words) {
                *counter(self.counters.entry(qp).or_default()) += count;
            }
        }
        for (index, moved) in outputs.ports.into_iter().enumerate() {
            if let Some(beat) = moved.tx {
                self.ports[index].tx.push(&beat);
            }
            let endpoint = &mut self.ports[index].endpoint;
            if moved.rc_taken {
                endpoint.completion_taken();
            }
            if let Some(RqBeat { data, user }) = moved.rq {
                let requested = endpoint.request(&data, &user, &self.pcie);
                let translated = requested.writes_ended.iter().filter(|(at, _)| *at);
                self.placed += translated.map(|(_, bytes)| *bytes as u64).sum::<u64>();
            }
        }
    }

    /// Executes an interrupt message for `vector`.
    fn raise(&mut self, vector: u8) {
        if self.config.has_msi_x() && u16::from(vector) < self.config.vectors() {
            self.raised |= 1 << vector;
        }
    }
}
