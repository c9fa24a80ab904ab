//! The routing decisions of each node.

use crate::ats::is_translation_request;
use crate::bdf::Bdf;
use crate::carried::Carried;
use crate::config::{AcsConfig, FaultKind, RootComplexConfig};
use crate::counters::{Refusal, Target};
use crate::iommu::{Access, FaultReason, Iommu};
use crate::link::{Action, Packet};
use crate::memories::Memories;
use crate::tlp::Tlp;
use crate::topology::{Kind, Node, Topology};
use crate::Picoseconds;
use stellar_wire::pcie::AddressType;

/// Where a switch sends a memory request that came in through a downstream port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hop {
    Peer,
    Upstream,
}

/// The ACS decision of the downstream port that a request came in through; `peer` is the function under another
/// port of the same switch whose BAR it addresses (PCIe base specification, section 6.12.1.2).
fn acs_decision(acs: &AcsConfig, at: AddressType, peer: Option<Bdf>) -> Result<Hop, Refusal> {
    if at != AddressType::Untranslated && acs.translation_blocking {
        return Err(Refusal::AcsTranslationBlocking);
    }
    match peer {
        None => Ok(Hop::Upstream),
        Some(_) if at == AddressType::Translated && acs.direct_translated => Ok(Hop::Peer),
        Some(_) if acs.request_redirect => Ok(Hop::Upstream),
        Some(peer) if acs.egress_control && acs.egress_denied.contains(&peer) => {
            Err(Refusal::AcsEgressControl)
        }
        Some(_) => Ok(Hop::Peer),
    }
}

/// The parts of the fabric that routing needs.
pub(crate) struct Router<'a, M> {
    pub topology: &'a Topology,
    pub root_complex: &'a RootComplexConfig,
    pub gpu_latency_ps: &'a [Picoseconds],
    pub memories: &'a M,
    pub iommu: &'a mut Iommu,
    /// When each place for a write between root ports is free.
    pub peer_writes_free_at: &'a mut [Picoseconds],
}

impl<M: Memories> Router<'_, M> {
    /// The action of `node` for a packet that arrived at `now`, and the time from which it is allowed. Rewrites the address of a request that the
    /// root complex translates.
    pub fn route(
        &mut self,
        now: Picoseconds,
        node: Node,
        packet: &mut Packet,
    ) -> (Picoseconds, Action) {
        let ready_at = now + self.forwarding_latency(node);
        let tlp = match &packet.tlp {
            Carried::Memory(tlp) => tlp,
            Carried::Message(message) => {
                return (ready_at, or_refuse(message.next_hop(self.topology, node)));
            }
        };
        match node {
            Node::SwitchDownstream(device) => (ready_at, or_refuse(self.below_switch(device, tlp))),
            Node::SwitchUpstream(switch) => (ready_at, or_refuse(self.above_switch(switch, tlp))),
            Node::RootComplex => self.at_root_complex(now, packet),
            Node::Device(device) => self.at_device(now, device, tlp),
        }
    }

    fn forwarding_latency(&self, node: Node) -> Picoseconds {
        let switch = match node {
            Node::SwitchDownstream(device) => self.topology.devices[device].switch,
            Node::SwitchUpstream(switch) => switch,
            Node::RootComplex => return self.root_complex.latency_ps,
            Node::Device(_) => return 0,
        };
        self.topology.switches[switch].latency_ps
    }

    fn below_switch(&self, ingress: usize, tlp: &Tlp) -> Result<Action, Refusal> {
        let port = &self.topology.devices[ingress];
        let upstream = self.topology.switches[port.switch].up;
        let Some((address, at)) = tlp.memory_target() else {
            let requester = self.topology.function(tlp.requester());
            let below = requester.filter(|device| device.switch == port.switch);
            return Ok(Action::Forward(
                below.map_or(upstream, |device| device.down),
            ));
        };
        if port.acs.source_validation && tlp.requester().bus() != port.bdf.bus() {
            return Err(Refusal::AcsSourceValidation);
        }
        let owner = self.topology.bar_owner(address);
        let peer =
            owner.filter(|(index, device)| *index != ingress && device.switch == port.switch);
        match acs_decision(&port.acs, at, peer.map(|(_, device)| device.bdf))? {
            Hop::Upstream => Ok(Action::Forward(upstream)),
            Hop::Peer => Ok(Action::Forward(
                peer.map_or(upstream, |(_, peer)| peer.down),
            )),
        }
    }

    fn above_switch(&self, switch: usize, tlp: &Tlp) -> Result<Action, Refusal> {
        let (device, missing) = match tlp.memory_target() {
            Some((address, _)) => (
                self.topology.bar_owner(address).map(|(_, device)| device),
                Refusal::Unmapped,
            ),
            None => (
                self.topology.function(tlp.requester()),
                Refusal::UnexpectedCompletion,
            ),
        };
        let below = device.filter(|device| device.switch == switch);
        below
            .map(|device| Action::Forward(device.down))
            .ok_or(missing)
    }

    fn at_root_complex(&mut self, now: Picoseconds, packet: &mut Packet) -> (Picoseconds, Action) {
        let forwarded_at = now + self.root_complex.latency_ps;
        let Some((address, at)) = packet.asked else {
            let requester = self.topology.function(packet.tlp.requester());
            let action = requester
                .map(|device| Action::Forward(self.topology.switches[device.switch].down))
                .ok_or(Refusal::UnexpectedCompletion);
            return (forwarded_at, or_refuse(action));
        };
        let access = match packet.tlp.memory() {
            Some(Tlp::Write(_)) => Access::Write,
            _ => Access::Read,
        };
        let requester = packet.tlp.requester();
        let asks_translation = at == AddressType::TranslationRequest
            && packet.fault != Some(FaultKind::IommuFault)
            && packet.tlp.memory().is_some_and(is_translation_request);
        if asks_translation {
            let answer = self
                .iommu
                .answer_translation_request(now, requester, address);
            return match answer {
                Ok((entry, known_at)) => {
                    let ready_at = known_at + self.root_complex.completer.latency_ps;
                    (ready_at, Action::Translation(entry))
                }
                Err(reason) => (forwarded_at, Action::Refuse(Refusal::Iommu(reason))),
            };
        }
        let admitted = if packet.fault == Some(FaultKind::IommuFault) {
            let reason = FaultReason::NotPresent;
            Err(self
                .iommu
                .fault(now, requester, address, at, access, reason))
        } else {
            self.iommu.admit(now, requester, address, at, access)
        };
        let translation = match admitted {
            Ok(translation) => translation,
            Err(reason) => return (forwarded_at, Action::Refuse(Refusal::Iommu(reason))),
        };
        if let Some((_, device)) = self.topology.bar_owner(translation.address) {
            if !self.root_complex.peer_to_peer {
                let ready_at = translation.known_at + self.root_complex.latency_ps;
                return (ready_at, Action::Refuse(Refusal::PeerToPeerUnsupported));
            }
            let ready_at = self.forward_to_peer(translation.known_at, access);
            packet.tlp.retarget(translation.address);
            packet.hairpin = true;
            let down = self.topology.switches[device.switch].down;
            return (ready_at, Action::Forward(down));
        }
        let ready_at = translation.known_at + self.root_complex.completer.latency_ps;
        let len = packet.tlp.memory().map_or(0, Tlp::request_len);
        if !self
            .memories
            .contains(Target::Host, translation.address, len)
        {
            return (ready_at, Action::Refuse(Refusal::Unmapped));
        }
        packet.tlp.retarget(translation.address);
        (ready_at, Action::HostMemory)
    }

    /// When a request whose address is known at `known_at` goes back down. Writes leave in the order in which they came, so one that waits for its
    /// translation holds up the places of those behind it.
    fn forward_to_peer(&mut self, known_at: Picoseconds, access: Access) -> Picoseconds {
        let limit = self.root_complex.peer_writes;
        let youngest = self.peer_writes_free_at.iter().copied().max();
        let place = self.peer_writes_free_at.iter_mut().min();
        match (access, limit, place) {
            (Access::Write, Some(limit), Some(free_at)) => {
                let earliest = known_at.max(*free_at) + limit.latency_ps;
                *free_at = earliest.max(youngest.unwrap_or(0));
                *free_at
            }
            _ => known_at + self.root_complex.latency_ps,
        }
    }

    fn at_device(&self, now: Picoseconds, device: usize, tlp: &Tlp) -> (Picoseconds, Action) {
        let device = &self.topology.devices[device];
        match (device.kind, tlp) {
            (Kind::Nic(nic), Tlp::Completion(_)) => (now, Action::NicInbox(nic)),
            (Kind::Gpu(_), Tlp::Completion(_)) => {
                (now, Action::Refuse(Refusal::UnexpectedCompletion))
            }
            (Kind::Gpu(_), request)
                if matches!(
                    request.memory_target(),
                    Some((_, AddressType::TranslationRequest | AddressType::Reserved))
                ) =>
            {
                (now, Action::Refuse(Refusal::UnsupportedAddressType))
            }
            (Kind::Gpu(gpu), _) => (now + self.gpu_latency_ps[gpu], Action::GpuMemory(gpu)),
            (Kind::Nic(_), _) => (now, Action::Refuse(Refusal::Unmapped)),
        }
    }
}

fn or_refuse(decision: Result<Action, Refusal>) -> Action {
    decision.unwrap_or_else(Action::Refuse)
}
