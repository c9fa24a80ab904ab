//! What a NIC, and the software that controls its function, do at a port.

use crate::counters::{Location, Refusal};
use crate::fabric::{Fabric, LinkOf, PortId, Received};
use crate::fabric_error::FabricError;
use crate::link::{LinkId, Packet};
use crate::memories::Memories;
use crate::tlp::{FlowClass, Tlp};
use crate::topology::Device;
use crate::Picoseconds;

impl<M: Memories> Fabric<M> {
    pub(crate) fn up_link(&self, port: PortId) -> Result<LinkId, FabricError> {
        let nic = self.topology.nic(port.0);
        nic.map(|nic| nic.up)
            .ok_or(FabricError::UnknownPort(port.0))
    }

    /// Whether `port` can accept another TLP of `class` at time `now`: its link is up, its send queue has space, and it is a bus master if the TLP is
    /// a request. Advances the fabric to `now`.
    pub fn ready(
        &mut self,
        now: Picoseconds,
        port: PortId,
        class: FlowClass,
    ) -> Result<bool, FabricError> {
        let up = self.up_link(port)?;
        self.advance(now)?;
        let link = &self.links[up.0];
        let may_send = self.ports[port.0].is_master || class == FlowClass::Completion;
        Ok(link.is_up && may_send && link.has_room(class))
    }

    /// The NIC behind `port` sends `tlp` at time `now`. Advances the fabric to `now`.
    pub fn submit(&mut self, now: Picoseconds, port: PortId, tlp: Tlp) -> Result<(), FabricError> {
        let up = self.up_link(port)?;
        self.check_send(now, port, tlp.class())?;
        let state = &mut self.ports[port.0];
        if let Tlp::Read(read) = &tlp {
            if state.is_outstanding(read.tag) != Some(false) {
                let (port, tag) = (port.0, read.tag);
                return Err(FabricError::Tag { port, tag });
            }
            state.ask(now, read, tlp.addressed_bytes());
            self.reschedule_port(port.0);
        }
        self.send(up, Packet::new(tlp));
        Ok(())
    }

    /// Advances the fabric to `now`, and checks whether `port` can accept a TLP of `class`.
    pub(crate) fn check_send(
        &mut self,
        now: Picoseconds,
        port: PortId,
        class: FlowClass,
    ) -> Result<(), FabricError> {
        self.up_link(port)?;
        self.advance(now)?;
        if !self.ports[port.0].is_master && class != FlowClass::Completion {
            return Err(FabricError::NotMaster(port.0));
        }
        self.check_link(now, port, class)
    }

    /// Advances the fabric to `now`, and checks whether the link of `port` can take a TLP of `class`.
    pub(crate) fn check_link(
        &mut self,
        now: Picoseconds,
        port: PortId,
        class: FlowClass,
    ) -> Result<(), FabricError> {
        let up = self.up_link(port)?;
        self.advance(now)?;
        let link = &self.links[up.0];
        if !link.is_up {
            return Err(FabricError::LinkDown(port.0));
        }
        if !link.has_room(class) {
            let port = port.0;
            return Err(FabricError::QueueFull { port, class });
        }
        Ok(())
    }

    /// The oldest TLP that reached the NIC behind `port` and was not read yet.
    pub fn take_received(&mut self, port: PortId) -> Result<Option<Received>, FabricError> {
        self.up_link(port)?;
        Ok(self.ports[port.0].inbox.pop_front())
    }

    /// Software sets Bus Master Enable of the function behind `port`, which is on at first. Without it the function sends no requests; what it has sent
    /// before goes on.
    pub fn set_bus_master(&mut self, port: PortId, on: bool) -> Result<(), FabricError> {
        self.up_link(port)?;
        self.ports[port.0].is_master = on;
        Ok(())
    }

    /// Function-level reset of the function behind `port` at time `now` (base specification, section 6.6.2): TLPs that have not left the function are
    /// discarded, its reads are forgotten, and Bus Master Enable is off. What has left the function goes on: posted writes still reach memory, and
    /// completions that come later are unexpected.
    pub fn reset_function(&mut self, now: Picoseconds, port: PortId) -> Result<(), FabricError> {
        let up = self.up_link(port)?;
        self.advance(now)?;
        let function = self.topology.devices[port.0].bdf;
        let discarded = self.links[up.0].drop_queued();
        self.record_lost(
            Location::Device(function),
            Refusal::FunctionReset,
            &discarded,
        );
        self.ports[port.0].reset();
        self.reschedule_port(port.0);
        self.hasten(up);
        Ok(())
    }

    /// Takes the link of a NIC or GPU down, or up again, at time `now`. What is on the link or waits for it is lost. While it is down, requests to the
    /// device are refused, and completions to it are discarded; the reads of a NIC time out.
    pub fn set_link(
        &mut self,
        now: Picoseconds,
        link: LinkOf,
        is_up: bool,
    ) -> Result<(), FabricError> {
        self.advance(now)?;
        let ends = |device: &Device| (device.up, device.down, device.bdf);
        let device = match link {
            LinkOf::Nic(port) => self.topology.nic(port.0).map(ends),
            LinkOf::Gpu(index) => self.topology.gpu(index).map(ends),
            LinkOf::Switch(_) => None,
        };
        let (up, down, function) = device.ok_or(FabricError::NotADevice)?;
        for direction in [up, down] {
            self.arrive(direction);
            let state = &mut self.links[direction.0];
            state.is_up = is_up;
            if !is_up {
                let mut lost = state.drop_flying();
                lost.extend(state.drop_queued());
                self.record_lost(Location::Device(function), Refusal::LinkDown, &lost);
            }
            self.hasten(direction);
        }
        Ok(())
    }

    fn record_lost(&mut self, location: Location, refusal: Refusal, packets: &[Packet]) {
        for packet in packets {
            self.record_packet(location, refusal, packet);
        }
    }
}
