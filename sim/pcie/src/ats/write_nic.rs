//! A NIC that writes what arrives on its line into memory.

use std::collections::VecDeque;

use super::cache::{page_of, Answered, PAGE};
use super::line::Line;
use super::translator::State;
use super::{LineConfig, Message, TranslationEntry, Translator, WritePacket};
use crate::bdf::Bdf;
use crate::fabric::{Fabric, PortId};
use crate::fabric_error::FabricError;
use crate::memories::Memories;
use crate::tlp::{Completion, FlowClass, MemRead, MemWrite, Tlp};
use crate::Picoseconds;
use stellar_wire::pcie::{AddressType, CompletionStatus};

/// The NIC without its translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteNicConfig {
    /// Its port at the fabric.
    pub port: PortId,
    /// Its function.
    pub function: Bdf,
    /// Its line.
    pub line: LineConfig,
    /// Packets that wait for their translation or for the link. Translations are requested for all of them, the oldest first.
    pub buffer: usize,
    /// Largest payload of a TLP in bytes, a power of two.
    pub max_payload: usize,
}

/// A packet that was not written, or only in part, because a page of it may not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedWrite {
    /// When the NIC gave it up.
    pub time: Picoseconds,
    /// The packet's address.
    pub iova: u64,
    /// The packet's length in bytes.
    pub len: usize,
}

struct Waiting {
    packet: WritePacket,
    /// A page of it may not be written.
    is_denied: bool,
}

/// The NIC. It writes packets in the order of their arrival, and every TLP with a translation that was valid when the TLP left.
pub struct WriteNic {
    config: WriteNicConfig,
    translator: Translator,
    line: Line,
    buffer: VecDeque<Waiting>,
    /// Bytes of the oldest packet that have left.
    sent: usize,
    /// Packets at the front of the buffer whose translations are known or requested.
    looked_up: usize,
    /// ITags of invalidations that are to be completed.
    invalidated: u32,
    failed: Vec<FailedWrite>,
}

impl WriteNic {
    /// An idle NIC.
    ///
    /// # Panics
    /// If the buffer has no place, or the largest payload is no power of two from 64 to 4,096.
    pub fn new(config: WriteNicConfig, translator: Translator) -> Self {
        assert!(config.buffer > 0, "a NIC has to buffer a packet");
        let payload = config.max_payload;
        assert!(
            payload.is_power_of_two() && (64..=4096).contains(&payload),
            "{payload} bytes of payload: a power of two from 64 to 4,096"
        );
        Self {
            line: Line::new(config.line),
            config,
            translator,
            buffer: VecDeque::new(),
            sent: 0,
            looked_up: 0,
            invalidated: 0,
            failed: Vec::new(),
        }
    }

    /// The translation, for its counters.
    pub const fn translator(&self) -> &Translator {
        &self.translator
    }

    /// The packets that failed since the last call.
    pub fn take_failed(&mut self) -> Vec<FailedWrite> {
        std::mem::take(&mut self.failed)
    }

    /// Runs NIC and fabric until the time `until`, or until nothing happens any more. `packets` are those that arrive on the line, one behind the other.
    ///
    /// # Errors
    /// What the fabric refuses, such as a port whose link is down.
    pub fn run<M: Memories>(
        &mut self,
        fabric: &mut Fabric<M>,
        packets: &mut dyn Iterator<Item = WritePacket>,
        until: Picoseconds,
    ) -> Result<(), FabricError> {
        loop {
            let now = fabric.now();
            self.fill_buffer(now, packets);
            self.receive(fabric)?;
            self.send(fabric)?;
            self.complete_invalidations(fabric)?;
            self.request_translations(fabric)?;
            if self.has_room() {
                self.line.begin(now, packets);
            }
            let event = fabric.next_event().unwrap_or(Picoseconds::MAX);
            let line = self.line.next_time().filter(|_| self.has_room());
            let next = event.min(line.unwrap_or(Picoseconds::MAX));
            if next == Picoseconds::MAX {
                return Ok(());
            }
            if next > until {
                return fabric.advance(until.max(now));
            }
            fabric.advance(next.max(now))?;
        }
    }

    fn has_room(&self) -> bool {
        self.buffer.len() < self.config.buffer
    }

    /// Takes packets from the line.
    fn fill_buffer(&mut self, now: Picoseconds, packets: &mut dyn Iterator<Item = WritePacket>) {
        while self.has_room() {
            self.line.begin(now, packets);
            let Some(packet) = self.line.arrive(now) else {
                return;
            };
            self.buffer.push_back(Waiting {
                packet,
                is_denied: false,
            });
        }
    }

    /// Takes answers to translation requests, and invalidations.
    fn receive<M: Memories>(&mut self, fabric: &mut Fabric<M>) -> Result<(), FabricError> {
        let port = self.config.port;
        while let Some(received) = fabric.take_received(port)? {
            if let Tlp::Completion(completion) = &received.tlp {
                self.answered(completion);
            }
        }
        while let Some(message) = fabric.take_message(port)? {
            let Message::InvalidateRequest(request) = message else {
                continue;
            };
            if let Some(atc) = self.translator.atc_mut() {
                atc.invalidate(request.iova, request.len);
            }
            self.looked_up = 0;
            self.invalidated |= 1 << request.tag;
        }
        Ok(())
    }

    fn answered(&mut self, completion: &Completion) {
        let entry = match completion.status {
            CompletionStatus::Successful => TranslationEntry::from_bytes(&completion.data),
            _ => None,
        };
        let atc = self.translator.atc_mut();
        match atc.and_then(|atc| atc.answer(completion.tag, entry)) {
            Some(Answered::Denied(page)) => self.deny(page),
            Some(Answered::Discarded) => self.looked_up = 0,
            Some(Answered::Cached) | None => {}
        }
    }

    /// The packets that wait for this page fail. Later ones ask again.
    fn deny(&mut self, page: u64) {
        for waiting in &mut self.buffer {
            waiting.is_denied |= pages(&waiting.packet).any(|other| other == page);
        }
    }

    /// Requests the translations that packets in the buffer need, the oldest first.
    fn request_translations<M: Memories>(
        &mut self,
        fabric: &mut Fabric<M>,
    ) -> Result<(), FabricError> {
        let (now, port) = (fabric.now(), self.config.port);
        while let Some(waiting) = self.buffer.get(self.looked_up) {
            for page in pages(&waiting.packet) {
                if self.translator.find(page) != State::Missing {
                    continue;
                }
                let Some(atc) = self.translator.atc_mut() else {
                    continue;
                };
                let may_request = atc.may_request();
                if !may_request || !fabric.ready(now, port, FlowClass::NonPosted)? {
                    return Ok(());
                }
                if let Some(tag) = atc.request(page) {
                    fabric.submit(now, port, self.translation_request(tag, page))?;
                }
            }
            self.looked_up += 1;
        }
        Ok(())
    }

    fn translation_request(&self, tag: u16, page: u64) -> Tlp {
        Tlp::Read(MemRead {
            requester: self.config.function,
            tag,
            address: page,
            at: AddressType::TranslationRequest,
            first_be: 0xf,
            last_be: 0xf,
            dwords: (TranslationEntry::BYTES / 4) as u16,
        })
    }

    /// Sends TLPs of the oldest packets, as far as the link takes them and their translations are known.
    fn send<M: Memories>(&mut self, fabric: &mut Fabric<M>) -> Result<(), FabricError> {
        let (now, port) = (fabric.now(), self.config.port);
        while let Some(Waiting { packet, is_denied }) = self.buffer.front() {
            let iova = packet.iova + self.sent as u64;
            if *is_denied {
                self.fail(now);
                continue;
            }
            if !fabric.ready(now, port, FlowClass::Posted)? {
                return Ok(());
            }
            let (address, at) = match self.translator.find(iova) {
                State::Known(address, at) => (address, at),
                State::Pending => return Ok(()),
                State::Missing => {
                    // Others have displaced it since it was looked up.
                    self.looked_up = 0;
                    return Ok(());
                }
                State::Denied => {
                    self.fail(now);
                    continue;
                }
            };
            let limit = self.config.max_payload;
            let len = (limit - iova as usize % limit).min(packet.data.len() - self.sent);
            let bytes = &packet.data[self.sent..self.sent + len];
            let write = MemWrite::of_bytes(self.config.function, address, at, bytes)
                .expect("a piece of at most the largest payload does not cross 4 KiB");
            fabric.submit(now, port, Tlp::Write(write))?;
            self.translator.count_hit();
            self.sent += len;
            if self.sent == packet.data.len() {
                self.remove_oldest();
            }
        }
        Ok(())
    }

    fn fail(&mut self, time: Picoseconds) {
        if let Some(waiting) = self.remove_oldest() {
            let WritePacket { iova, data } = waiting.packet;
            let len = data.len();
            self.failed.push(FailedWrite { time, iova, len });
        }
    }

    fn remove_oldest(&mut self) -> Option<Waiting> {
        self.sent = 0;
        self.looked_up = self.looked_up.saturating_sub(1);
        self.buffer.pop_front()
    }

    /// Completes invalidations. What was sent with the old translations is before the completion in the queue of the link, and nothing else uses them:
    /// each TLP is translated when it leaves.
    fn complete_invalidations<M: Memories>(
        &mut self,
        fabric: &mut Fabric<M>,
    ) -> Result<(), FabricError> {
        let (now, port) = (fabric.now(), self.config.port);
        if self.invalidated != 0 && fabric.ready(now, port, FlowClass::Posted)? {
            fabric.complete_invalidations(now, port, self.invalidated)?;
            self.invalidated = 0;
        }
        Ok(())
    }
}

/// The pages that a packet touches.
fn pages(packet: &WritePacket) -> impl Iterator<Item = u64> {
    let first = page_of(packet.iova);
    let last = page_of(packet.iova + packet.data.len() as u64 - 1);
    (first..=last).step_by(PAGE as usize)
}
