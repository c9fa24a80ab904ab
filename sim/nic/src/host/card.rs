//! One card in its host: pins, PCIe endpoints, MACs, memory.

use std::collections::BTreeMap;

use hdl_nic::Shape;
use sim_bfm::CLOCK_PS;
use sim_verilated::Library;
use stellar_transport::requester::RequesterCounters;
use stellar_wire::host::config_space::aer::{HeaderLog, Uncorrectable};
use stellar_wire::host::config_space::Function;

use super::config_space::{ConfigEffect, ConfigSpace};
use crate::counted::CountedFields;
use crate::mmio::{Mmio, MmioAccess, Progress};
use crate::model::{CqBeat, NicInputs, NicModel, NicOutputs, PortInputs, PortOutputs, RqBeat};
use crate::pcie::{HostPcie, HostSide, PcieSettings, RequestRules, RequestSizes};
use crate::port::{Link, Port};
use crate::sampled::Windows;
use crate::NicError;

/// The card with everything around it.
pub struct Card<M> {
    model: NicModel,
    configs: [ConfigSpace; 2],
    /// Serial number.
    serial: u64,
    sizes: RequestSizes,
    /// The PCIe fabric, with the host's memory.
    pub pcie: HostPcie<M>,
    ports: Vec<Port>,
    mmio: Mmio,
    /// An access was on offer in the last cycle, and stays.
    access_stays: bool,
    /// Bit v: vector v was raised and not polled since.
    pub raised: u64,
    /// Whether a pin was active in the last cycle, or a TLP is on its way.
    pub is_active: bool,
    /// Bytes written at final addresses, such as a GPU's memory.
    pub placed: u64,
    counted: CountedFields,
    /// Statistics pulses of the requesters since the last reset, by queue pair.
    pub counters: BTreeMap<u32, RequesterCounters>,
    pub windows: Windows,
}

/// The configuration space of a function of the card with this serial number, as the operating system leaves it.
fn config(function: Function, serial: u64, sizes: RequestSizes) -> ConfigSpace {
    let mut config = ConfigSpace::new(function, serial);
    config.enumerate(sizes);
    config
}

impl<M: HostSide> Card<M> {
    /// A card after power-up, with this serial number.
    ///
    /// # Errors
    /// [`NicError`] if the library holds the model of another design.
    pub fn new(
        library: &Library,
        pcie: &PcieSettings,
        memory: M,
        serial: u64,
    ) -> Result<Self, NicError> {
        let model = NicModel::new(library)?;
        let mut card = Self {
            ports: Port::all(model.shape()),
            model,
            configs: Function::ALL.map(|function| config(function, serial, pcie.sizes)),
            serial,
            sizes: pcie.sizes,
            pcie: HostPcie::new(pcie, memory),
            mmio: Mmio::default(),
            access_stays: false,
            raised: 0,
            is_active: false,
            placed: 0,
            counted: CountedFields::new(),
            counters: BTreeMap::new(),
            windows: Windows::new(),
        };
        card.configure();
        Ok(card)
    }

    /// The card's shape.
    pub const fn shape(&self) -> Shape {
        self.model.shape()
    }

    /// Whether the card has this function.
    pub const fn has(&self, function: Function) -> bool {
        function.endpoint() < self.shape().ports()
    }

    /// The configuration space of a function.
    pub fn config(&self, function: Function) -> &ConfigSpace {
        &self.configs[function.endpoint()]
    }

    /// Writes bytes of a configuration space. After [`ConfigEffect::Reset`] the reset of the card has to follow.
    pub fn store_config(&mut self, function: Function, offset: u16, bytes: &[u8]) -> ConfigEffect {
        let effect = self.configs[function.endpoint()].store(offset, bytes);
        if effect == ConfigEffect::Reset {
            self.reset_config(function);
        }
        self.configure();
        effect
    }

    /// Switches MSI-X on, as the operating system does.
    pub fn enable_msi_x(&mut self) {
        self.configs[Function::Control.endpoint()].enable_msi_x();
    }

    /// Logs an unsupported request of the host, to which the PCIe block has answered.
    pub fn log_unsupported(&mut self, request: HeaderLog) {
        self.configs[Function::Control.endpoint()].log(Uncorrectable::UnsupportedRequest, request);
    }

    /// The part of a function-level reset that is the PCIe block's and the operating system's.
    pub fn reset_config(&mut self, function: Function) {
        self.configs[function.endpoint()] = config(function, self.serial, self.sizes);
    }

    /// Has the fabric and both endpoints follow the configuration spaces.
    fn configure(&mut self) {
        let functions = Function::ALL.into_iter().zip(&self.configs);
        for ((function, config), port) in functions.zip(&mut self.ports) {
            self.pcie.set_bus_master(function, config.is_master());
            self.pcie.set_ats(function, config.has_ats());
            port.endpoint.set_rules(RequestRules {
                tags: config.tags(),
                translated: config.has_ats(),
            });
        }
    }

    /// The model, for access to the pins.
    pub fn model_mut(&mut self) -> &mut NicModel {
        &mut self.model
    }

    /// Whether the card may use a second thread. Results are the same.
    pub fn set_helper(&mut self, on: bool) {
        self.model.set_helper(on);
    }

    /// Asserts reset. What the card has under way is gone; its configuration spaces stay.
    pub fn hold_reset(&mut self) {
        self.model.set_reset(true);
        self.restart(true);
    }

    /// Releases reset.
    pub fn release_reset(&mut self) {
        self.model.set_reset(false);
        self.restart(false);
    }

    fn restart(&mut self, in_reset: bool) {
        for function in Function::ALL {
            self.pcie.reset_function(function);
        }
        self.configure();
        for port in &mut self.ports {
            port.set_reset(in_reset);
        }
        self.mmio.reset();
        self.access_stays = false;
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

    /// The PCIe link of a function goes down, or comes up again.
    pub fn set_pcie_link(&mut self, function: Function, is_up: bool) {
        self.pcie.set_link(function, is_up);
        self.ports[function.endpoint()].endpoint.set_link(is_up);
    }

    /// The crossing from the clock of the MAC drops received frames of a port. They never reach the card, which counts them.
    pub fn drop_received(&mut self, port: usize, frames: u32) {
        let dropped = &mut self.ports[port].rx_dropped;
        *dropped = dropped.wrapping_add(frames);
    }

    /// The PCIe block of an endpoint takes no requests of the card, or takes them again.
    pub fn set_blocked(&mut self, endpoint: usize, on: bool) {
        self.ports[endpoint].endpoint.set_blocked(on);
    }

    /// Simulates one cycle, in which the host offers an access to a BAR.
    pub fn clock(&mut self, access: Option<&MmioAccess>) -> Progress {
        let clock = self.model.clocks();
        let mut inputs = NicInputs {
            port_up: Port::up(&self.ports),
            msix_enable: self.config(Function::Control).may_interrupt(),
            msix_mask: self.config(Function::Control).masks_all_vectors(),
            pcie_link_down: Port::pcie_down(&self.ports),
            ..NicInputs::default()
        };
        self.pcie.advance(clock * CLOCK_PS);
        let [message, message1] = self.messages();
        // Messages go first.
        let access = access.filter(|_| message.is_none());
        self.mmio.drive(access, &mut inputs);
        let is_message = message.is_some();
        inputs.cq = inputs.cq.or(message);
        inputs.cq1 = message1;
        for (function, error, header) in self.pcie.take_errors() {
            self.configs[function.endpoint()].log(error, header);
        }
        for vector in self.pcie.take_messages() {
            self.raise(vector);
        }
        for (pins, port) in inputs.ports.iter_mut().zip(&mut self.ports) {
            port.drive(&mut self.pcie, pins);
        }
        let arrives = |port: &PortInputs| port.rx.is_some() || port.rc.is_some();
        let is_offered = inputs.cq.is_some() || inputs.cq1.is_some();
        let has_input = is_offered || inputs.ports.iter().any(arrives);
        let outputs = self.model.clock(&inputs);
        self.access_stays = access.is_some() && !outputs.cq_taken;
        for (port, taken) in [is_message && outputs.cq_taken, outputs.cq1_taken]
            .into_iter()
            .enumerate()
        {
            if taken {
                self.ports[port].endpoint.message_taken();
            }
        }
        let leaves = |port: &PortOutputs| port.tx.is_some() || port.rq.is_some();
        self.is_active = has_input || outputs.ports.iter().any(leaves) || self.pcie.is_busy();
        let progress = self.mmio.look(access, &outputs);
        if let Progress::Unsupported(request) = progress {
            self.log_unsupported(request);
        }
        if let (Progress::Taken, Some(access)) = (progress, access) {
            Port::accepted(&mut self.ports, access);
        }
        self.take(outputs, clock);
        progress
    }

    /// The message on offer at each endpoint.
    fn messages(&mut self) -> [Option<CqBeat>; 2] {
        let Self { ports, pcie, .. } = self;
        let mut messages = [const { None }; 2];
        for (message, port) in messages.iter_mut().zip(ports) {
            *message = port.endpoint.message(pcie);
        }
        if self.access_stays {
            messages[0] = None;
        }
        messages
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
        for (moved, port) in outputs.ports.into_iter().zip(&mut self.ports) {
            if let Some(beat) = moved.tx {
                port.tx.push(&beat);
            }
            let endpoint = &mut port.endpoint;
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
        let config = self.config(Function::Control);
        if config.has_msi_x() && u16::from(vector) < config.vectors() {
            self.raised |= 1 << vector;
        }
    }
}
