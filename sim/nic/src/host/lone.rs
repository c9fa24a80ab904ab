//! A host with a card whose frames the caller sends and receives.

use std::ops::Deref;

use super::sim_hosts::SimHosts;
use super::wire::{Line, SentFrame, Wire};
use crate::model::NicModel;
use crate::pcie::PcieSettings;
use crate::NicError;

/// One host, number 0, with a Verilated card. The caller acts as its peer with [`Self::receive`] and [`Self::take_sent`].
#[derive(Clone)]
pub struct LoneCard(SimHosts);

impl LoneCard {
    /// Builds the model, unless that was done before, and powers up the card.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn new() -> Result<Self, NicError> {
        Ok(Self(SimHosts::new(1, Wire::Loose(Vec::new()))?))
    }

    /// Does what [`Self::new`] does, with such a PCIe fabric in the host.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn with_pcie(pcie: &PcieSettings) -> Result<Self, NicError> {
        let wire = Wire::Loose(Vec::new());
        let library = NicModel::shared()?;
        Ok(Self(SimHosts::with_library(1, wire, library, pcie)?))
    }

    /// A host whose card has its ports at the near end of `line`: frames come from there and go there, and [`Self::take_sent`] returns nothing.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn plugged(line: Box<dyn Line>) -> Result<Self, NicError> {
        Ok(Self(SimHosts::new(1, Wire::Line(line))?))
    }

    /// Sends a frame, destination address to iCRC, to port 0 or 1 at the rate of the port. It begins to arrive behind those that are still arriving there.
    ///
    /// # Panics
    /// If there is no such port, or the frame is empty.
    pub fn receive(&self, port: usize, frame: Vec<u8>) {
        assert!(!frame.is_empty(), "an empty frame");
        self.0.lock().card(0).receive(port, frame);
    }

    /// The frames that have left the card since the last call, in order of time.
    pub fn take_sent(&self) -> Vec<SentFrame> {
        self.0.lock().wire().take_sent()
    }
}

impl Deref for LoneCard {
    type Target = SimHosts;

    fn deref(&self) -> &SimHosts {
        &self.0
    }
}
