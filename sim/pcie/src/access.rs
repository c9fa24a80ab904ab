//! Accesses to memory, and refusals.

use std::collections::VecDeque;
use std::iter::repeat_n;

use crate::bdf::Bdf;
use crate::byte_enables::enabled_ranges;
use crate::carried::Carried;
use crate::completer;
use crate::config::{CompleterConfig, FaultKind};
use crate::counters::{Flow, Location, PlacedWrite, Refusal, Report, Route, Target};
use crate::fabric::Fabric;
use crate::link::{LinkId, Packet};
use crate::memories::Memories;
use crate::responder::Answer;
use crate::tlp::{Completion, MemRead, Tlp};
use crate::topology::Node;
use stellar_wire::pcie::CompletionStatus;

impl<M: Memories> Fabric<M> {
    /// A request reaches a memory: a write becomes visible now or later, a read will be answered.
    pub(crate) fn access(&mut self, link: LinkId, target: Target, packet: Box<Packet>) {
        let now = self.now;
        let Some(tlp) = packet.tlp.memory() else {
            return;
        };
        match (packet.fault, tlp) {
            (Some(FaultKind::UnsupportedRequest), _) => {
                return self.refuse(link, Refusal::UnsupportedRequest, packet);
            }
            (Some(FaultKind::CompleterAbort), _) => {
                return self.refuse(link, Refusal::CompleterAbort, packet);
            }
            (Some(FaultKind::Poison), Tlp::Write(_)) => {
                return self.refuse(link, Refusal::Poisoned, packet);
            }
            _ => {}
        }
        let responder = &mut self.links[link.0].responder;
        match tlp {
            Tlp::Write(_) => {
                if let Some(packet) = responder.write(now, target, packet) {
                    self.write(link, target, packet);
                }
            }
            Tlp::Read(_) => {
                let late = match packet.fault {
                    Some(FaultKind::LateCompletion(late)) => late,
                    _ => 0,
                };
                responder.read(now, late, target, packet);
            }
            Tlp::Completion(_) => {}
        }
    }

    /// Executes the writes that have become visible.
    pub(crate) fn show_writes(&mut self, link: LinkId) {
        let now = self.now;
        while let Some((target, packet)) = self.links[link.0].responder.next_visible(now) {
            self.write(link, target, packet);
        }
    }

    /// Route and requester of a request that has reached memory, for the counters.
    fn flow(target: Target, packet: &Packet) -> Flow {
        let route = match target {
            Target::Host => Route::Host,
            Target::Gpu(_) if packet.hairpin => Route::Hairpin,
            Target::Gpu(_) => Route::PeerDirect,
        };
        Flow {
            requester: packet.tlp.requester(),
            route,
            is_translated: packet.is_translated(),
        }
    }

    /// Writes the enabled bytes.
    fn write(&mut self, link: LinkId, target: Target, mut packet: Box<Packet>) {
        let Carried::Memory(Tlp::Write(write)) = &mut packet.tlp else {
            return;
        };
        if !self.memories.write(target, write) {
            return self.refuse(link, Refusal::Unmapped, packet);
        }
        let flow = Self::flow(target, &packet);
        self.counters
            .count_write(flow, packet.tlp.addressed_bytes());
        if let (Some(log), Some(Tlp::Write(write))) = (&mut self.writes, packet.tlp.memory()) {
            let base = match target {
                Target::Host => 0,
                Target::Gpu(gpu) => self.gpus[gpu].bar.base,
            };
            let ranges = enabled_ranges(write.data.len() / 4, write.first_be, write.last_be);
            log.extend(ranges.into_iter().map(|range| PlacedWrite {
                time: self.now,
                requester: write.requester,
                route: flow.route,
                target,
                address: write.address - base + range.start as u64,
                len: range.len() as u64,
            }));
        }
    }

    /// Reads the memory for a request that is to be answered now, unless that was done before.
    pub(crate) fn look_up(&mut self, link: LinkId, index: usize) {
        let Some(answer) = self.links[link.0].responder.answer(index) else {
            return;
        };
        if matches!(answer, Answer::Completions(_)) {
            return;
        }
        let empty = Answer::Completions(VecDeque::new());
        let Answer::Asked(target, packet) = std::mem::replace(answer, empty) else {
            return;
        };
        let completions = self.complete(link, target, packet);
        if let Some(answer) = self.links[link.0].responder.answer(index) {
            *answer = Answer::Completions(completions);
        }
    }

    /// The completions of a read.
    fn complete(
        &mut self,
        link: LinkId,
        target: Target,
        packet: Box<Packet>,
    ) -> VecDeque<Completion> {
        let Some(Tlp::Read(read)) = packet.tlp.memory() else {
            return VecDeque::new();
        };
        // Not by `vec!`: memory that the allocator has to clear costs it more than this.
        let mut data: Vec<u8> = repeat_n(0, usize::from(read.dwords) * 4).collect();
        let enabled = completer::enabled_bytes(read);
        let first = read.address + enabled.start as u64;
        // A flush reads nothing: it only comes behind the writes.
        let reads = !enabled.is_empty();
        if reads && !self.memories.read(target, first, &mut data[enabled]) {
            let refusal = Refusal::Unmapped;
            let answer = self.unsuccessful(link, refusal, read);
            self.record_refusal(link, refusal, &packet);
            return VecDeque::from([answer]);
        }
        let max_payload = self.links[link.0].config.max_payload;
        let (bdf, config) = self.completer(target);
        let mut completions = completer::successful(bdf, config, max_payload, read, data);
        let flow = Self::flow(target, &packet);
        self.counters.count_read(flow, packet.tlp.addressed_bytes());
        match packet.fault {
            Some(FaultKind::Poison) => {
                completions.iter_mut().for_each(|c| c.poisoned = true);
                self.record_refusal(link, Refusal::Poisoned, &packet);
            }
            Some(FaultKind::Corruption) => {
                completions.iter_mut().for_each(|c| c.damaged = true);
                self.record_refusal(link, Refusal::Corrupted, &packet);
            }
            Some(FaultKind::LostCompletion) => {
                completions.remove(self.faults.lose_one_of(completions.len()));
                self.record_refusal(link, Refusal::LostCompletion, &packet);
            }
            _ => {}
        }
        completions
    }

    fn completer(&self, target: Target) -> (Bdf, &CompleterConfig) {
        match target {
            Target::Host => (self.root_complex.bdf, &self.root_complex.completer),
            Target::Gpu(gpu) => (self.gpus[gpu].bdf, &self.gpus[gpu].completer),
        }
    }

    /// Counts and reports a refusal. A read with a trustworthy header will be answered.
    pub(crate) fn refuse(&mut self, link: LinkId, refusal: Refusal, packet: Box<Packet>) {
        self.record_refusal(link, refusal, &packet);
        let is_malformed = matches!(refusal, Refusal::Malformed(_));
        if let (Some(Tlp::Read(read)), false) = (packet.tlp.memory(), is_malformed) {
            let answer = self.unsuccessful(link, refusal, read);
            self.links[link.0]
                .responder
                .answer_without_memory(self.now, answer);
        }
    }

    fn unsuccessful(&self, link: LinkId, refusal: Refusal, read: &MemRead) -> Completion {
        let status = match refusal {
            Refusal::CompleterAbort => CompletionStatus::CompleterAbort,
            _ => CompletionStatus::UnsupportedRequest,
        };
        let completer = match self.links[link.0].receiver {
            Node::SwitchDownstream(device) => {
                self.topology.switches[self.topology.devices[device].switch].bdf
            }
            Node::SwitchUpstream(switch) => self.topology.switches[switch].bdf,
            Node::RootComplex => self.root_complex.bdf,
            Node::Device(device) => self.topology.devices[device].bdf,
        };
        completer::unsuccessful(completer, status, read)
    }

    /// Counts and reports what happened to a TLP at the receiver of `link`.
    pub(crate) fn record_refusal(&mut self, link: LinkId, refusal: Refusal, packet: &Packet) {
        let node = self.links[link.0].receiver;
        let location = self.topology.location(node);
        self.record_packet(location, refusal, packet);
    }

    /// Counts and reports what happened to a TLP.
    pub(crate) fn record_packet(&mut self, location: Location, refusal: Refusal, packet: &Packet) {
        self.record(Report {
            time: self.now,
            location,
            requester: packet.tlp.requester(),
            kind: packet.tlp.request_kind(),
            address: packet.asked.map(|(address, _)| address),
            at: packet.asked.map(|(_, at)| at),
            bytes: packet.tlp.addressed_bytes(),
            header: packet.tlp.header_log(),
            refusal,
        });
    }
}
