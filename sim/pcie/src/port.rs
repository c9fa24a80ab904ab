//! State of a NIC's function at its port.

use std::collections::VecDeque;

use crate::ats::Message;
use crate::fabric::Received;
use crate::tlp::{Completion, MemRead};
use crate::Picoseconds;
use stellar_wire::pcie::{AddressType, CompletionStatus};

/// Tags of a function: 10 bits.
const TAGS: usize = 1 << 10;

/// A read without all of its completions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// Address in the request.
    pub address: u64,
    /// AT of the request.
    pub at: AddressType,
    /// Bytes it asked for.
    pub bytes: u64,
    /// Bytes of double words that have not come.
    missing: usize,
    /// Number of the read, to tell it from later ones with its tag.
    number: u64,
}

/// A NIC's function: what has arrived for it, and its reads.
pub(crate) struct Port {
    pub inbox: VecDeque<Received>,
    /// Messages of ATS that have arrived.
    pub messages: VecDeque<Message>,
    /// Bus Master Enable: the function may send requests.
    pub is_master: bool,
    timeout: Picoseconds,
    tags: Vec<Option<Pending>>,
    /// Deadline, tag and number of each read in the order of submission. Some have been completed.
    deadlines: VecDeque<(Picoseconds, u16, u64)>,
    submitted: u64,
}

impl Port {
    pub fn new(timeout: Picoseconds) -> Self {
        Self {
            inbox: VecDeque::new(),
            messages: VecDeque::new(),
            is_master: true,
            timeout,
            tags: vec![None; TAGS],
            deadlines: VecDeque::new(),
            submitted: 0,
        }
    }

    /// Whether a read with this tag is outstanding. Tags of more than 10 bits do not exist.
    pub fn is_outstanding(&self, tag: u16) -> Option<bool> {
        self.tags.get(usize::from(tag)).map(Option::is_some)
    }

    /// A read is submitted. Its tag must be free.
    pub fn ask(&mut self, now: Picoseconds, read: &MemRead, bytes: u64) {
        let number = self.submitted;
        self.submitted += 1;
        self.tags[usize::from(read.tag)] = Some(Pending {
            address: read.address,
            at: read.at,
            bytes,
            missing: 4 * usize::from(read.dwords),
            number,
        });
        let deadline = now.saturating_add(self.timeout);
        self.deadlines.push_back((deadline, read.tag, number));
    }

    /// A completion arrives. Returns whether a read waits for it.
    pub fn complete(&mut self, completion: &Completion) -> bool {
        let tag = self.tags.get_mut(usize::from(completion.tag));
        let Some(slot) = tag else { return false };
        let Some(pending) = slot else { return false };
        let is_last = completion.status != CompletionStatus::Successful
            || pending.missing <= completion.data.len();
        if is_last {
            *slot = None;
        } else {
            pending.missing -= completion.data.len();
        }
        true
    }

    /// The tag and the state of a read whose time is over; it is no longer outstanding.
    pub fn expire(&mut self, now: Picoseconds) -> Option<(u16, Pending)> {
        if self.next_time() > now {
            return None;
        }
        let (_, tag, _) = self.deadlines.pop_front()?;
        Some((tag, self.tags[usize::from(tag)].take()?))
    }

    /// The next time at which a read times out.
    pub fn next_time(&mut self) -> Picoseconds {
        while let Some(&(deadline, tag, number)) = self.deadlines.front() {
            let pending = &self.tags[usize::from(tag)];
            if pending.is_some_and(|pending| pending.number == number) {
                return deadline;
            }
            self.deadlines.pop_front();
        }
        Picoseconds::MAX
    }

    /// Function-level reset: the function forgets its reads and what has arrived for it, and is no bus master.
    pub fn reset(&mut self) {
        self.inbox.clear();
        self.messages.clear();
        self.is_master = false;
        self.tags.fill(None);
        self.deadlines.clear();
    }
}
