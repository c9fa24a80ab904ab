//! The root complex's side of ATS: answers to translation requests, and invalidations.

use std::collections::BTreeMap;

use super::{InvalidateCompletion, InvalidateRequest, Message, TranslationEntry};
use crate::bdf::Bdf;
use crate::carried::Carried;
use crate::fabric::{Fabric, PortId};
use crate::fabric_error::FabricError;
use crate::link::{LinkId, Packet};
use crate::memories::Memories;
use crate::tlp::{Completion, FlowClass, Tlp};
use crate::Picoseconds;
use stellar_wire::pcie::CompletionStatus;

/// Double words of a request for one translation.
const ENTRY_DWORDS: u16 = (TranslationEntry::BYTES / 4) as u16;

/// Whether a request with AT = 01 is one that this root complex answers: a read of one entry.
pub(crate) fn is_translation_request(tlp: &Tlp) -> bool {
    matches!(tlp, Tlp::Read(read) if (read.dwords, read.first_be, read.last_be) == (ENTRY_DWORDS, 0xf, 0xf))
}

/// An invalidation that a device has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidationDone {
    /// When the completion reached the root complex.
    pub time: Picoseconds,
    /// The device.
    pub function: Bdf,
    /// ITag of the invalidation.
    pub tag: u8,
}

/// Invalidations of the root complex.
#[derive(Debug, Default)]
pub(crate) struct Invalidations {
    /// ITags of each function that wait for their completion.
    waiting: BTreeMap<Bdf, u32>,
    done: Vec<InvalidationDone>,
}

impl<M: Memories> Fabric<M> {
    /// Tells a function at time `now` that `len` bytes of translations at `iova` are invalid, and returns the ITag. Software has unmapped the range and
    /// invalidated the IOTLB before. The old pages may be used for something else when [`Self::take_invalidations_done`] returns the ITag.
    ///
    /// Writes to a GPU part from the completion's way at the switch: they may arrive after it, by the latency of the GPU's link and memory.
    ///
    /// # Errors
    /// [`FabricError::UnknownFunction`], [`FabricError::NoAts`], [`FabricError::InvalidationRange`], [`FabricError::InvalidationsFull`] after 32 without
    /// completion, [`FabricError::QueueFull`] if the link of the switch has no room, [`FabricError::TimeReversed`].
    pub fn invalidate_device(
        &mut self,
        now: Picoseconds,
        function: Bdf,
        iova: u64,
        len: u64,
    ) -> Result<u8, FabricError> {
        self.advance(now)?;
        let nic = |index| self.topology.nic(index);
        let mut nics = (0..).map_while(nic);
        let port = nics.position(|nic| nic.bdf == function);
        let port = port.ok_or(FabricError::UnknownFunction(function))?;
        if !self.iommu.has_ats(function) {
            return Err(FabricError::NoAts(function));
        }
        if !len.is_power_of_two() || len < 4096 || !iova.is_multiple_of(len) {
            return Err(FabricError::InvalidationRange { iova, len });
        }
        let device = &self.topology.devices[port];
        let down = self.topology.switches[device.switch].down;
        if !self.links[down.0].has_room(FlowClass::Posted) {
            let class = FlowClass::Posted;
            return Err(FabricError::QueueFull { port, class });
        }
        let waiting = self.invalidations.waiting.entry(function).or_default();
        let tag = waiting.trailing_ones() as u8;
        if tag == 32 {
            return Err(FabricError::InvalidationsFull(function));
        }
        *waiting |= 1 << tag;
        let request = InvalidateRequest {
            requester: self.root_complex.bdf,
            device: function,
            tag,
            iova,
            len,
        };
        self.send(down, Packet::new(Message::InvalidateRequest(request)));
        Ok(tag)
    }

    /// The invalidations that devices have completed since the last call, in order.
    pub fn take_invalidations_done(&mut self) -> Vec<InvalidationDone> {
        std::mem::take(&mut self.invalidations.done)
    }

    /// The oldest message that reached the NIC behind `port` and was not read yet.
    ///
    /// # Errors
    /// [`FabricError::UnknownPort`].
    pub fn take_message(&mut self, port: PortId) -> Result<Option<Message>, FabricError> {
        self.up_link(port)?;
        Ok(self.ports[port.0].messages.pop_front())
    }

    /// Whether `port` can accept an Invalidate Completion at time `now`. Bus Master Enable does not matter (base specification, section 10.3.3).
    ///
    /// # Errors
    /// [`FabricError::UnknownPort`], [`FabricError::TimeReversed`].
    pub fn ready_for_message(
        &mut self,
        now: Picoseconds,
        port: PortId,
    ) -> Result<bool, FabricError> {
        let up = self.up_link(port)?;
        self.advance(now)?;
        let link = &self.links[up.0];
        Ok(link.is_up && link.has_room(FlowClass::Posted))
    }

    /// The NIC behind `port` completes the invalidations with the ITags in `tags` (bit n: ITag n) at time `now`, whether it is a bus master or not.
    ///
    /// # Errors
    /// [`FabricError::UnknownPort`], [`FabricError::LinkDown`], [`FabricError::QueueFull`], [`FabricError::TimeReversed`].
    pub fn complete_invalidations(
        &mut self,
        now: Picoseconds,
        port: PortId,
        tags: u32,
    ) -> Result<(), FabricError> {
        let up = self.up_link(port)?;
        self.check_link(now, port, FlowClass::Posted)?;
        let device = self.topology.devices[port.0].bdf;
        let completion = InvalidateCompletion { device, tags };
        self.send(up, Packet::new(Message::InvalidateCompletion(completion)));
        Ok(())
    }

    /// An Invalidate Completion has reached the root complex. ITags that wait for nothing are ignored.
    pub(crate) fn invalidation_done(&mut self, packet: &Packet) {
        let Carried::Message(Message::InvalidateCompletion(completion)) = &packet.tlp else {
            return;
        };
        let function = completion.device;
        let waiting = self.invalidations.waiting.entry(function).or_default();
        let done = *waiting & completion.tags;
        *waiting &= !done;
        let time = self.now;
        let tags = (0..32).filter(|tag| done >> tag & 1 == 1);
        let tags = tags.map(|tag| InvalidationDone {
            time,
            function,
            tag,
        });
        self.invalidations.done.extend(tags);
    }

    /// Answers a translation request that came by `link`.
    pub(crate) fn answer_translation(
        &mut self,
        link: LinkId,
        entry: TranslationEntry,
        packet: &Packet,
    ) {
        let Some(Tlp::Read(read)) = packet.tlp.memory() else {
            return;
        };
        let completion = Completion {
            completer: self.root_complex.bdf,
            requester: read.requester,
            tag: read.tag,
            status: CompletionStatus::Successful,
            byte_count: TranslationEntry::BYTES as u16,
            lower_address: 0,
            data: entry.to_bytes().to_vec(),
            poisoned: false,
            damaged: false,
        };
        self.links[link.0]
            .responder
            .answer_without_memory(self.now, completion);
    }
}
