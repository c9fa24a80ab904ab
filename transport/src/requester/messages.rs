//! Messages between start and completion (hardware block `message_table`).

use std::collections::VecDeque;

use stellar_wire::host::{Cqe, CqeOpcode, WcStatus, Wqe, WqeOpcode};
use stellar_wire::rows::{BURST_BYTES, BURST_PACKETS, SHORT_MESSAGE};

use super::{CompletionQueue, Fetched, SendQueue, MAX_OUTSTANDING};
use crate::endpoint::Memory;
use crate::rx::Psn;

/// A message that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub wqe: Wqe,
    /// PSN of its first packet.
    pub first: Psn,
    /// Packets, 0 for a NOP, at most 2^23.
    pub packets: u32,
    /// Number among the messages sent, 24 bits.
    pub msn: u32,
    /// Number among the WRITEs with immediate; 0 in a message without.
    pub rqmsn: u16,
    /// Why it cannot be (wholly) sent.
    pub fault: Option<WcStatus>,
}

/// A queue pair's work in order: first the outstanding messages, then the entries that are still in the send queue.
///
/// A message that cannot be executed stops everything after it. The messages before it complete. Then it completes with its status, and the queue
/// pair is in the error state: [`Self::complete`] returns the status.
#[derive(Clone, Debug)]
pub struct Messages {
    queue: SendQueue,
    local_qp: u32,
    /// Maximum number of WRITEs with immediate in flight (MAX_WIMM).
    max_wimm: u16,
    under_way: VecDeque<Message>,
    /// Fetched, but not allowed to start yet.
    waiting: Option<Box<Fetched>>,
    next_msn: u32,
    next_rqmsn: u16,
    wimm: u16,
    /// Number of outstanding messages that have packets.
    with_packets: u32,
    stopped: bool,
}

impl Messages {
    /// Makes the messages of `queue`. There is no work yet.
    pub const fn new(queue: SendQueue, local_qp: u32, max_wimm: u16) -> Self {
        Self {
            queue,
            local_qp,
            max_wimm,
            under_way: VecDeque::new(),
            waiting: None,
            next_msn: 0,
            next_rqmsn: 0,
            wimm: 0,
            with_packets: 0,
            stopped: false,
        }
    }

    /// The queue they come from.
    pub const fn queue(&self) -> &SendQueue {
        &self.queue
    }

    /// The queue they come from.
    pub fn queue_mut(&mut self) -> &mut SendQueue {
        &mut self.queue
    }

    /// Asks for the memory of the message that packets leave of ([`stellar_fetch`]).
    pub fn fetch(&self) {
        if let Some(message) = self.under_way.back() {
            stellar_fetch::fetch(message);
        }
    }

    /// Returns the message with this send queue index, if it is outstanding.
    pub fn get(&self, slot: u16) -> Option<&Message> {
        let head = self.under_way.front()?.wqe.slot;
        self.under_way.get(usize::from(slot.wrapping_sub(head)))
    }

    /// Returns the outstanding message that a PSN belongs to.
    pub fn holding(&self, psn: Psn) -> Option<&Message> {
        // A message may have up to half of all PSNs. So the first PSN of the oldest message may lie so far back that a comparison modulo 2^24 fails; the
        // first PSNs of the others do not.
        let oldest = self.under_way.front()?.wqe.slot;
        let begun = |message: &Message| message.wqe.slot == oldest || !psn.is_behind(message.first);
        let last = &self.under_way[self.under_way.partition_point(begun) - 1];
        let is_over = psn.distance_from(last.first) >= last.packets && !psn.is_behind(last.first);
        (!is_over).then_some(last)
    }

    /// Returns the message that a new packet with PSN `next` belongs to: the last message if it has packets left, otherwise the next one from the
    /// queue. NOPs before it are started, and need nothing else. Returns `None` if there is no work, if none may start, or if [`MAX_OUTSTANDING`]
    /// messages are outstanding.
    pub fn current(&mut self, next: Psn, mtu: u32, memory: &mut dyn Memory) -> Option<Message> {
        self.advance(next, mtu, false, memory)
    }

    /// Does what [`Self::current`] does. With `only_short`, no entry of [`SHORT_MESSAGE`] bytes or more starts.
    fn advance(
        &mut self,
        next: Psn,
        mtu: u32,
        only_short: bool,
        memory: &mut dyn Memory,
    ) -> Option<Message> {
        loop {
            if self.stopped {
                return None;
            }
            if let Some(message) = self.under_way.back() {
                if next.distance_from(message.first) < message.packets {
                    return Some(*message);
                }
            }
            if self.under_way.len() >= MAX_OUTSTANDING {
                return None;
            }
            let fetched = match self.waiting.take().map(|fetched| *fetched) {
                Some(fetched) => fetched,
                None => self.queue.fetch(memory)?,
            };
            let immediate = fetched.wqe.opcode == WqeOpcode::WriteImm;
            // NOPs have no packets, so they can complete at once.
            let fenced = fetched.wqe.fence && self.with_packets > 0;
            let too_many = immediate && self.wimm >= self.max_wimm;
            let too_long = only_short && fetched.wqe.length >= SHORT_MESSAGE;
            if fetched.fault.is_none() && (fenced || too_many || too_long) {
                self.waiting = Some(Box::new(fetched));
                return None;
            }
            self.start(fetched, next, mtu);
        }
    }

    /// Takes the messages of `packets` new packets, the first of which has PSN `next`: what [`Self::current`] returns for one packet after the other. Appends each
    /// message to `taken`, with the number of these packets that belong to it. There may be fewer packets, or none. With `only_short`, no message of
    /// [`SHORT_MESSAGE`] bytes or more starts.
    pub fn take(
        &mut self,
        next: Psn,
        packets: u32,
        only_short: bool,
        mtu: u32,
        memory: &mut dyn Memory,
        taken: &mut Vec<(Message, u32)>,
    ) {
        let mut count = 0;
        while count < packets {
            let psn = next.plus(count);
            let Some(message) = self.advance(psn, mtu, only_short, memory) else {
                break;
            };
            let left = message.packets - psn.distance_from(message.first);
            let here = left.min(packets - count);
            taken.push((message, here));
            count += here;
        }
    }

    fn start(&mut self, Fetched { wqe, fault }: Fetched, first: Psn, mtu: u32) {
        let mut message = Message {
            wqe,
            first,
            packets: 0,
            msn: self.next_msn,
            rqmsn: 0,
            fault,
        };
        if fault.is_some() {
            self.stopped = true;
        } else if wqe.opcode != WqeOpcode::Nop {
            message.packets = wqe.length.div_ceil(mtu).max(1);
            self.next_msn = (self.next_msn + 1) % (1 << 24);
            self.with_packets += 1;
        }
        if message.packets > 0 && wqe.opcode == WqeOpcode::WriteImm {
            message.rqmsn = self.next_rqmsn;
            self.next_rqmsn = self.next_rqmsn.wrapping_add(1);
            self.wimm += 1;
        }
        if self.under_way.len() == self.under_way.capacity() {
            // One more, not four or twice as many: most queue pairs have one message under way.
            self.under_way.reserve_exact(1);
        }
        self.under_way.push_back(message);
    }

    /// Returns how many packets a burst that begins with this message has at most, and whether all of its other messages have to be short.
    pub fn burst_limit(message: &Message, mtu: u32) -> (u32, bool) {
        let full = (BURST_BYTES / mtu).min(BURST_PACKETS);
        if full < BURST_PACKETS && message.wqe.length < SHORT_MESSAGE {
            (BURST_PACKETS, true)
        } else {
            (full, false)
        }
    }

    /// Records that a message cannot be continued. Nothing after it starts. A message that has completed in the meantime is not affected.
    pub fn fault(&mut self, slot: u16, status: WcStatus) {
        let Some(head) = self.under_way.front().map(|message| message.wqe.slot) else {
            return;
        };
        let index = usize::from(slot.wrapping_sub(head));
        if let Some(message) = self.under_way.get_mut(index) {
            message.fault.get_or_insert(status);
            self.stopped = true;
        }
    }

    /// Completes, in order, every message whose packets all have PSNs before `una`.
    ///
    /// # Errors
    /// The slot and status of a message that cannot be executed, once it is the oldest.
    pub fn complete(&mut self, una: Psn, cq: &mut CompletionQueue) -> Result<(), (u16, WcStatus)> {
        while let Some(oldest) = self.under_way.front() {
            if let Some(status) = oldest.fault {
                return Err((oldest.wqe.slot, status));
            }
            if una.distance_from(oldest.first) < oldest.packets {
                break;
            }
            let Some(message) = self.under_way.pop_front() else {
                break;
            };
            self.with_packets -= u32::from(message.packets > 0);
            if message.wqe.opcode == WqeOpcode::WriteImm {
                self.wimm -= 1;
            }
            if message.wqe.signaled {
                cq.push(self.completion(&message, WcStatus::Success));
            }
        }
        Ok(())
    }

    /// Completes everything with an error: the message `failed` with `status`, the others, those not fetched yet
    /// included, as flushed. An entry that cannot be read has the work request identifier 0.
    pub fn flush(
        &mut self,
        failed: Option<(u16, WcStatus)>,
        memory: &mut dyn Memory,
        cq: &mut CompletionQueue,
    ) {
        self.stopped = true;
        while let Some(message) = self.under_way.pop_front() {
            let status = match failed {
                Some((slot, status)) if slot == message.wqe.slot => status,
                _ => WcStatus::WrFlushErr,
            };
            cq.push(self.completion(&message, status));
        }
        let mut next = self.waiting.take().map(|fetched| *fetched);
        while let Some(fetched) = next.or_else(|| self.queue.fetch(memory)) {
            next = None;
            let message = Message {
                wqe: fetched.wqe,
                first: Psn::default(),
                packets: 0,
                msn: self.next_msn,
                rqmsn: 0,
                fault: None,
            };
            cq.push(self.completion(&message, WcStatus::WrFlushErr));
        }
    }

    fn completion(&self, message: &Message, status: WcStatus) -> Cqe {
        let wqe = &message.wqe;
        Cqe {
            status,
            opcode: match wqe.opcode {
                WqeOpcode::Nop => CqeOpcode::Nop,
                WqeOpcode::Write => CqeOpcode::Write,
                WqeOpcode::WriteImm => CqeOpcode::WriteImm,
            },
            phase: false,
            qp: self.local_qp,
            wr_id: wqe.wr_id,
            byte_len: wqe.length,
            immediate: 0,
            msn: message.msn,
            sq_head: wqe.slot.wrapping_add(1),
        }
    }
}
