//! The effect of each event.

use std::collections::VecDeque;

use crate::bdf::Bdf;
use crate::completer;
use crate::counters::{PlacedWrite, Refusal, Report, Route, Target};
use crate::events::Event;
use crate::fabric::{Fabric, Received};
use crate::link::{next_in_order, Action, Held, LinkId, Packet};
use crate::routing::Router;
use crate::tlp::{Completion, FlowClass, MemRead, MemWrite, Tlp};
use crate::tlp_check;
use crate::topology::Node;
use crate::Picoseconds;

impl Fabric {
    pub(crate) fn handle(&mut self, event: Event) {
        match event {
            Event::LinkFree(link) => self.transmit(link),
            Event::Arrival(link) => self.arrive(link),
            Event::Release(link) => {
                self.release(link);
            }
            Event::Credit(link, class) => {
                self.links[link.0].credit(class);
                self.transmit(link);
            }
            Event::Room(link) => self.wake(link),
        }
    }

    /// Starts to send on `link` if possible.
    pub(crate) fn transmit(&mut self, link: LinkId) {
        let now = self.now;
        if let Some(departure) = self.links[link.0].start(now) {
            self.events
                .schedule(departure.link_free_at, Event::LinkFree(link));
            self.events
                .schedule(departure.arrives_at, Event::Arrival(link));
            if !self.links[link.0].waiters.is_empty() {
                self.events.schedule(now, Event::Room(link));
            }
        }
    }

    /// Checks a TLP that reached the receiver of `link`, decides its target and buffers it.
    fn arrive(&mut self, link: LinkId) {
        let now = self.now;
        let Some(mut packet) = self.links[link.0].land() else {
            return;
        };
        let node = self.links[link.0].receiver;
        let class = packet.tlp.class();
        let max_payload = self.links[link.0].config.max_payload;
        let (ready_at, action) = match tlp_check::check(&packet.tlp, max_payload) {
            Err(why) => (now, Action::Refuse(Refusal::Malformed(why))),
            Ok(()) => Router {
                topology: &self.topology,
                root_complex: &self.root_complex,
                gpu_latency_ps: &self.gpu_latency_ps,
                host: &self.host,
                iommu: &mut self.iommu,
            }
            .route(now, node, &mut packet),
        };
        self.links[link.0].held.push_back(Held {
            packet,
            class,
            ready_at,
            action,
        });
        self.events.schedule(ready_at, Event::Release(link));
    }

    /// Lets everything leave the receive buffer of `link` that can; returns whether anything did.
    fn release(&mut self, link: LinkId) -> bool {
        let mut progress = false;
        loop {
            let held = &self.links[link.0].held;
            let mut blocked_by = Vec::new();
            let next = next_in_order(held.iter().map(|held| held.class), |index, class| {
                let held = &held[index];
                let (next_link, class) = match &held.action {
                    _ if held.ready_at > self.now => return false,
                    Action::Forward(next_link) => (*next_link, class),
                    Action::Respond(_) => (self.links[link.0].reverse, FlowClass::Completion),
                    _ => return true,
                };
                let room = self.links[next_link.0].has_room(class);
                if !room {
                    blocked_by.push(next_link);
                }
                room
            });
            let Some(index) = next else {
                for next_link in blocked_by {
                    let waiters = &mut self.links[next_link.0].waiters;
                    if !waiters.contains(&link) {
                        waiters.push(link);
                    }
                }
                return progress;
            };
            progress = true;
            if let Some(mut held) = self.links[link.0].held.remove(index) {
                match self.act(link, held.action, held.packet) {
                    None => {
                        let returned_at = self.now + self.links[link.0].config.latency_ps;
                        self.events
                            .schedule(returned_at, Event::Credit(link, held.class));
                    }
                    Some((packet, action)) => {
                        held.packet = packet;
                        held.action = action;
                        self.links[link.0].held.insert(index, held);
                    }
                }
            }
        }
    }

    /// Executes the decision for a packet in the receive buffer of `link`. Returns the packet, with the remaining work, if it must stay there.
    fn act(&mut self, link: LinkId, action: Action, packet: Packet) -> Option<(Packet, Action)> {
        match action {
            Action::Forward(next_link) => {
                self.send(next_link, packet);
                None
            }
            Action::NicInbox(nic) => {
                self.inboxes[nic].push_back(Received {
                    time: self.now,
                    tlp: packet.tlp,
                });
                None
            }
            Action::HostMemory => self.access(link, Target::Host, packet),
            Action::GpuMemory(gpu) => self.access(link, Target::Gpu(gpu), packet),
            Action::Refuse(refusal) => self.refuse(link, refusal, packet),
            Action::Respond(mut completions) => {
                if let Some(completion) = completions.pop_front() {
                    let completion = Packet {
                        tlp: Tlp::Completion(completion),
                        hairpin: false,
                    };
                    self.send(self.links[link.0].reverse, completion);
                }
                (!completions.is_empty()).then_some((packet, Action::Respond(completions)))
            }
        }
    }

    fn send(&mut self, link: LinkId, packet: Packet) {
        self.links[link.0].enqueue(packet);
        self.transmit(link);
    }

    /// Writes to or reads from memory.
    fn access(&mut self, link: LinkId, target: Target, packet: Packet) -> Option<(Packet, Action)> {
        let route = match target {
            Target::Host => Route::Host,
            Target::Gpu(_) if packet.hairpin => Route::Hairpin,
            Target::Gpu(_) => Route::PeerDirect,
        };
        let bytes = packet.tlp.addressed_bytes();
        let done = match &packet.tlp {
            Tlp::Write(write) => self.write(target, route, write).then(VecDeque::new),
            Tlp::Read(read) => self.read(link, target, read),
            Tlp::Completion(_) => None,
        };
        let Some(completions) = done else {
            return self.refuse(link, Refusal::Unmapped, packet);
        };
        if completions.is_empty() {
            self.counters.count_write(route, bytes);
            return None;
        }
        self.counters.count_read(route, bytes);
        Some((packet, Action::Respond(completions)))
    }

    /// Writes the enabled bytes; false if they are not all in this memory.
    fn write(&mut self, target: Target, route: Route, write: &MemWrite) -> bool {
        let (memory, base) = match target {
            Target::Host => (&mut self.host, 0),
            Target::Gpu(gpu) => {
                let gpu = &mut self.gpus[gpu];
                (&mut gpu.memory, gpu.bar.base)
            }
        };
        let address = write.address - base;
        let Ok(ranges) = memory.write_be(address, &write.data, write.first_be, write.last_be)
        else {
            return false;
        };
        if let Some(log) = &mut self.writes {
            log.extend(ranges.into_iter().map(|range| PlacedWrite {
                time: self.now,
                requester: write.requester,
                route,
                target,
                address: range.start,
                len: range.end - range.start,
            }));
        }
        true
    }

    /// The completions of a read; `None` if its bytes are not all in this memory.
    fn read(&self, link: LinkId, target: Target, read: &MemRead) -> Option<VecDeque<Completion>> {
        let (memory, base, bdf, config) = match target {
            Target::Host => {
                let root = &self.root_complex;
                (&self.host, 0, root.bdf, &root.completer)
            }
            Target::Gpu(gpu) => {
                let gpu = &self.gpus[gpu];
                (&gpu.memory, gpu.bar.base, gpu.bdf, &gpu.completer)
            }
        };
        let len = usize::from(read.dwords) * 4;
        let data = memory.read(read.address - base, len).ok()?;
        let max_payload = self.links[link.0].config.max_payload;
        Some(completer::successful(bdf, config, max_payload, read, &data))
    }

    /// Counts and reports a refusal. A read with a trustworthy header stays in the buffer to be answered.
    fn refuse(
        &mut self,
        link: LinkId,
        refusal: Refusal,
        packet: Packet,
    ) -> Option<(Packet, Action)> {
        let node = self.links[link.0].receiver;
        let bytes = packet.tlp.addressed_bytes();
        let target = packet.tlp.memory_target();
        self.counters.count_refused(refusal, bytes);
        self.report(Report {
            time: self.now,
            location: self.topology.location(node),
            requester: packet.tlp.requester(),
            address: target.map(|(address, _)| address),
            at: target.map(|(_, at)| at),
            bytes,
            refusal,
        });
        let answer = match (&packet.tlp, refusal) {
            (_, Refusal::Malformed(_)) => return None,
            (Tlp::Read(read), _) => completer::unsupported(self.completer_at(node), read),
            _ => return None,
        };
        Some((packet, Action::Respond(VecDeque::from([answer]))))
    }

    fn completer_at(&self, node: Node) -> Bdf {
        match node {
            Node::SwitchDownstream(device) => {
                self.topology.switches[self.topology.devices[device].switch].bdf
            }
            Node::SwitchUpstream(switch) => self.topology.switches[switch].bdf,
            Node::RootComplex => self.root_complex.bdf,
            Node::Device(device) => self.topology.devices[device].bdf,
        }
    }

    /// Lets the receive buffers that wait for space on `link` try again. Those that made no progress are first next time.
    fn wake(&mut self, link: LinkId) {
        let waiters = std::mem::take(&mut self.links[link.0].waiters);
        let served: Vec<LinkId> = waiters.into_iter().filter(|w| self.release(*w)).collect();
        self.links[link.0]
            .waiters
            .sort_by_key(|w| served.contains(w));
    }

    pub(crate) fn run(&mut self, limit: Picoseconds) {
        while let Some((at, event)) = self.events.pop_due(limit) {
            self.now = at;
            self.handle(event);
        }
    }
}
