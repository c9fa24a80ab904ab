//! What happens at each place of the fabric when its time comes.

use arrayvec::ArrayVec;

use crate::carried::Carried;
use crate::class_queues::CLASSES;
use crate::config::RequestKind;
use crate::counters::{Location, Refusal, Report, Target};
use crate::fabric::{Fabric, Received};
use crate::link::{Action, Flying, Held, LinkId, Packet};
use crate::memories::Memories;
use crate::responder::Answer;
use crate::routing::Router;
use crate::tlp::{FlowClass, Tlp};
use crate::topology::{Kind, Node};
use crate::Picoseconds;
use stellar_wire::host::config_space::aer::HeaderLog;

impl<M: Memories> Fabric<M> {
    /// Lets everything happen up to time `limit`.
    pub(crate) fn run(&mut self, limit: Picoseconds) {
        while let Some((at, place)) = self.calendar.next().filter(|(at, _)| *at <= limit) {
            self.now = at;
            match place.checked_sub(self.links.len()) {
                None => self.process(LinkId(place)),
                Some(port) => self.expire(port),
            }
        }
    }

    /// Does what is due at a link.
    fn process(&mut self, link: LinkId) {
        self.arrive(link);
        self.serve(link);
        let now = self.now;
        let this = &mut self.links[link.0];
        this.transmit(now);
        let next = if this.has_freed {
            self.wake(link);
            self.links[link.0].next_time(now)
        } else {
            this.next_time(now)
        };
        self.calendar.set(link.0, next);
    }

    /// Something has changed at a link outside of its turn. What it was scheduled for before may be due in this very moment, so its time only becomes
    /// earlier.
    pub(crate) fn hasten(&mut self, link: LinkId) {
        let next = self.links[link.0].next_time(self.now);
        self.calendar.hasten(link.0, next);
    }

    /// Decides the targets of the TLPs that have reached the receiver of `link`, and buffers them.
    pub(crate) fn arrive(&mut self, link: LinkId) {
        while let Some(landed) = self.links[link.0].land(self.now) {
            let Flying {
                arrives_at,
                mut packet,
                cost,
                malformed,
            } = landed;
            let node = self.links[link.0].receiver;
            let (ready_at, action) = match malformed {
                Some(why) => (arrives_at, Action::Refuse(Refusal::Malformed(why))),
                None => {
                    self.inject(node, &mut packet);
                    Router {
                        topology: &self.topology,
                        root_complex: &self.root_complex,
                        gpu_latency_ps: &self.gpu_latency_ps,
                        memories: &self.memories,
                        iommu: &mut self.iommu,
                        peer_writes_free_at: &mut self.peer_writes_free_at,
                    }
                    .route(arrives_at, node, &mut packet)
                }
            };
            let held = Held {
                packet,
                cost,
                ready_at,
                action,
            };
            self.links[link.0].held.push(cost.class, held);
        }
    }

    /// Decides whether a request has a fault, where it leaves the switches.
    fn inject(&mut self, node: Node, packet: &mut Packet) {
        let at_root = match node {
            Node::RootComplex => true,
            Node::Device(device) => {
                let is_gpu = matches!(self.topology.devices[device].kind, Kind::Gpu(_));
                if packet.hairpin || !is_gpu {
                    return;
                }
                false
            }
            Node::SwitchDownstream(_) | Node::SwitchUpstream(_) => return,
        };
        if let Some(tlp) = packet.tlp.memory() {
            packet.fault = self.faults.decide(tlp, at_root);
        }
    }

    /// Lets everything leave the receive buffer of `link`, and its responder, that can; returns whether anything did.
    #[inline]
    fn serve(&mut self, link: LinkId) -> bool {
        let this = &self.links[link.0];
        if this.held.is_empty() && this.responder.is_idle() {
            return false;
        }
        if this.responder.is_idle() {
            // What is released may be for the responder.
            let progress = self.release(link);
            let responds = !self.links[link.0].responder.is_idle() && self.respond(link);
            return progress || responds;
        }
        self.show_writes(link);
        let mut progress = false;
        loop {
            let could_read = self.links[link.0].responder.has_room();
            progress |= self.release(link);
            progress |= self.respond(link);
            // Reads that have been answered may leave their places to others.
            if could_read || !self.links[link.0].responder.has_room() {
                return progress;
            }
        }
    }

    /// Lets everything leave the receive buffer of `link` that can; returns whether anything did.
    fn release(&mut self, link: LinkId) -> bool {
        let now = self.now;
        let mut progress = false;
        loop {
            let this = &self.links[link.0];
            if this.held.is_empty() {
                return progress;
            }
            let mut blocked_by = ArrayVec::<_, CLASSES>::new();
            let leaves = this.held.find(|class, held| {
                if held.ready_at > now {
                    return false;
                }
                match held.action {
                    Action::Forward(next) => {
                        let room = self.links[next.0].has_room(class);
                        if !room {
                            blocked_by.push(next);
                        }
                        room
                    }
                    // A read needs its place among those that are being answered.
                    _ => class != FlowClass::NonPosted || this.responder.has_room(),
                }
            });
            let Some(held) = leaves.and_then(|class| self.links[link.0].held.pop(class)) else {
                for next in blocked_by {
                    self.wait_for(next, link);
                }
                return progress;
            };
            progress = true;
            self.act(link, held.action, held.packet);
            self.links[link.0].give_back(now, held.cost);
        }
    }

    fn wait_for(&mut self, next: LinkId, link: LinkId) {
        let waiters = &mut self.links[next.0].waiters;
        if !waiters.contains(&link) {
            waiters.push(link);
        }
    }

    /// Executes the decision for a packet that leaves the receive buffer of `link`.
    fn act(&mut self, link: LinkId, action: Action, packet: Box<Packet>) {
        match action {
            Action::Forward(next) if !self.links[next.0].is_up => {
                self.refuse(link, Refusal::LinkDown, packet);
            }
            Action::Forward(next) => self.send(next, packet),
            Action::NicInbox(nic) => self.deliver(link, nic, packet),
            Action::HostMemory => self.access(link, Target::Host, packet),
            Action::GpuMemory(gpu) => self.access(link, Target::Gpu(gpu), packet),
            Action::Translation(entry) => self.answer_translation(link, entry, &packet),
            Action::InvalidationDone => self.invalidation_done(&packet),
            Action::Refuse(refusal) => self.refuse(link, refusal, packet),
        }
    }

    pub(crate) fn send(&mut self, link: LinkId, packet: Box<Packet>) {
        let now = self.now;
        let this = &mut self.links[link.0];
        this.enqueue(packet);
        this.transmit(now);
        let next = this.next_time(now);
        self.calendar.hasten(link.0, next);
    }

    /// A completion or a message reaches a NIC.
    fn deliver(&mut self, link: LinkId, nic: usize, packet: Box<Packet>) {
        let time = self.now;
        let port = &mut self.ports[nic];
        if let Some(Tlp::Completion(completion)) = packet.tlp.memory() {
            if !port.complete(completion) {
                return self.refuse(link, Refusal::UnexpectedCompletion, packet);
            }
        }
        match packet.tlp {
            Carried::Memory(tlp) => port.inbox.push_back(Received { time, tlp }),
            Carried::Message(message) => port.messages.push_back(message),
        }
        self.reschedule_port(nic);
    }

    /// Sends completions that are ready, as far as there is space; returns whether it sent any.
    fn respond(&mut self, link: LinkId) -> bool {
        let now = self.now;
        let back = self.links[link.0].reverse;
        let mut progress = false;
        while let Some(index) = self.links[link.0].responder.next_read(now) {
            if !self.links[back.0].has_room(FlowClass::Completion) {
                self.wait_for(back, link);
                break;
            }
            progress = true;
            self.look_up(link, index);
            let Some(Answer::Completions(completions)) = self.links[link.0].responder.answer(index)
            else {
                break;
            };
            let next = completions.pop_front();
            if completions.is_empty() {
                self.links[link.0].responder.remove(index);
            }
            if let Some(completion) = next {
                self.act(
                    link,
                    Action::Forward(back),
                    Packet::new(Tlp::Completion(completion)),
                );
            }
        }
        progress
    }

    /// Lets the receive buffers that wait for space on `link` try again. Those that made no progress are first next time.
    fn wake(&mut self, link: LinkId) {
        let this = &mut self.links[link.0];
        if this.waiters.is_empty() {
            this.has_freed = false;
            return;
        }
        let mut woken = std::mem::take(&mut self.woken);
        while std::mem::take(&mut self.links[link.0].has_freed) {
            std::mem::swap(&mut woken, &mut self.links[link.0].waiters);
            // Those that are served stay.
            woken.retain(|&waiter| {
                // What has arrived at a switch may be ready by now.
                if self.links[waiter.0].lands_late() {
                    self.arrive(waiter);
                }
                let is_served = self.serve(waiter);
                self.hasten(waiter);
                is_served
            });
            let waiters = &mut self.links[link.0].waiters;
            if waiters.len() > 1 {
                waiters.sort_by_key(|waiter| woken.contains(waiter));
            }
            woken.clear();
        }
        self.woken = woken;
    }

    /// Reads of a port whose time is over.
    fn expire(&mut self, port: usize) {
        let now = self.now;
        while let Some((_, read)) = self.ports[port].expire(now) {
            let bdf = self.topology.devices[port].bdf;
            self.record(Report {
                time: now,
                location: Location::Device(bdf),
                requester: bdf,
                kind: Some(RequestKind::Read),
                address: Some(read.address),
                at: Some(read.at),
                bytes: read.bytes,
                header: HeaderLog::default(),
                refusal: Refusal::CompletionTimeout,
            });
        }
        self.reschedule_port(port);
    }

    pub(crate) fn reschedule_port(&mut self, port: usize) {
        let next = self.ports[port].next_time();
        self.calendar.set(self.links.len() + port, next);
    }
}
