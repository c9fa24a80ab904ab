//! Statistics pulses at the card's verification ports, summed by queue pair: tests compare them with the counters that software reads.

use hdl_requester::StatPulses;
use sim_bfm::Field;
use stellar_transport::requester::RequesterCounters;

/// Selects one counter of a requester.
pub type Counter = fn(&mut RequesterCounters) -> &mut u64;

/// The counters of the reference, with the names of the card's fields.
const COUNTERS: [(&str, Counter); 20] = [
    ("packet", |to| &mut to.packets),
    ("bytes", |to| &mut to.bytes),
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

/// This number of counters at the start of the list belongs to the queue pair `sent_qp`.
const SENT: usize = 3;

/// The fields of the counters in the card's output.
pub struct CountedFields {
    counters: [(Field<StatPulses>, Counter); COUNTERS.len()],
    sent_qp: Field<StatPulses>,
}

impl CountedFields {
    /// Looks up the fields.
    pub fn new() -> Self {
        Self {
            counters: COUNTERS.map(|(name, counter)| (Field::new(name), counter)),
            sent_qp: Field::new("sent_qp"),
        }
    }

    /// The counts of one cycle: queue pair, counter, increment. `qp` is the queue pair of the operation; a packet that leaves may belong to another
    /// one.
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
