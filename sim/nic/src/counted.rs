//! What the card counts, by queue pair.

use hdl_requester::StatPulses;
use stellar_transport::requester::RequesterCounters;

use crate::field::Field;

/// Which of the counters.
pub type Counter = fn(&mut RequesterCounters) -> &mut u64;

/// The counters of the reference, by the fields that the card has for them.
const COUNTERS: [(&str, Counter); 19] = [
    ("packet", |to| &mut to.packets),
    ("retransmission", |to| &mut to.retransmissions),
    ("timeout", |to| &mut to.timeouts),
    ("early_loss", |to| &mut to.early_losses),
    ("spurious", |to| &mut to.spurious_losses),
    ("sack", |to| &mut to.sacks),
    ("stale_sack", |to| &mut to.stale_sacks),
    ("sack_out_of_window", |to| &mut to.sacks_out_of_window),
    ("sack_inconsistent", |to| &mut to.sacks_inconsistent),
    ("ecn_mark", |to| &mut to.ecn_marks),
    ("nack_trimmed", |to| &mut to.nacks_trimmed),
    ("nack_recoverable", |to| &mut to.nacks_recoverable),
    ("nack_fatal", |to| &mut to.nacks_fatal),
    ("nack_ignored", |to| &mut to.nacks_ignored),
    ("probe", |to| &mut to.probes),
    ("probe_answer", |to| &mut to.probe_answers),
    ("ack", |to| &mut to.acks),
    ("nak", |to| &mut to.naks),
    ("ack_ignored", |to| &mut to.acks_ignored),
];

/// Of them, those at the front are of the queue pair `sent_qp`.
const SENT: usize = 2;

/// Where they are in what the card shows in a clock.
pub struct CountedFields {
    counters: [(Field<StatPulses>, Counter); COUNTERS.len()],
    sent_qp: Field<StatPulses>,
}

impl CountedFields {
    /// Finds them.
    pub fn new() -> Self {
        Self {
            counters: COUNTERS.map(|(name, counter)| (Field::new(name), counter)),
            sent_qp: Field::new("sent_qp"),
        }
    }

    /// What was counted in one clock: queue pair, counter, by how much. `qp` is the queue pair of the operation, which a packet that leaves need not be of.
    pub fn of<'a>(
        &'a self,
        qp: u32,
        words: &'a [u32],
    ) -> impl Iterator<Item = (u32, Counter, u64)> + 'a {
        let all = self.counters.iter().enumerate();
        all.filter_map(move |(i, (field, counter))| {
            let count = field.get(words);
            let sender = || self.sent_qp.get(words) as u32;
            (count != 0).then(|| (if i < SENT { sender() } else { qp }, *counter, count))
        })
    }
}
