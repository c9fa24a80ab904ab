//! Two hosts with a card each, cabled port to port.

use std::ops::Deref;

use hdl_nic::Shape;
use sim_world::{Recorder, WorldError};

use super::sim_hosts::SimHosts;
use super::wire::Wire;
use crate::model::NicModel;
use crate::pcie::PcieSettings;
use crate::shape::{chosen_shape, with_shape};
use crate::NicError;

/// Two hosts, 0 and 1, with a Verilated card each; a cable from each port to the same port of the other.
#[derive(Clone)]
pub struct CardPair(SimHosts);

impl CardPair {
    /// Builds the model, unless that was done before, and powers up both cards.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn new() -> Result<Self, NicError> {
        Self::of(chosen_shape(), &PcieSettings::default())
    }

    /// Does what [`Self::new`] does, with cards of this shape and such a PCIe fabric in each host.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn of(shape: Shape, pcie: &PcieSettings) -> Result<Self, NicError> {
        let wire = Wire::cables(shape, false);
        with_shape(shape, || {
            let library = NicModel::shared()?;
            Ok(Self(SimHosts::with_library(2, wire, library, pcie)?))
        })
    }

    /// Does what [`Self::new`] does, and captures every frame at both ends of its cable.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn with_captures() -> Result<Self, NicError> {
        let wire = Wire::cables(chosen_shape(), true);
        Ok(Self(SimHosts::new(2, wire)?))
    }

    /// Does what [`Self::new`] does, with such a PCIe fabric in each host.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn with_pcie(pcie: &PcieSettings) -> Result<Self, NicError> {
        Self::of(chosen_shape(), pcie)
    }

    /// The frames that have passed each port so far, by its name, such as `h0.p1`: a pcapng file. None without captures.
    ///
    /// # Errors
    /// [`WorldError::Output`] if a block cannot be encoded.
    pub fn captures(&self) -> Result<Vec<(String, Vec<u8>)>, WorldError> {
        let mut hosts = self.0.lock();
        let recorder = hosts.wire().recorder();
        recorder.map_or(Ok(Vec::new()), Recorder::files)
    }
}

impl Deref for CardPair {
    type Target = SimHosts;

    fn deref(&self) -> &SimHosts {
        &self.0
    }
}
