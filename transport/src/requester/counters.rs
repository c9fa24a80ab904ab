//! Counters of a requester.

use stellar_wire::host::{QpCounter, QpCounters};

/// Counters of one queue pair's requester. The hardware's have 48 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequesterCounters {
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Payload bytes of these packets.
    pub bytes: u64,
    /// Data packets sent again.
    pub retransmissions: u64,
    /// Timers that expired: per packet in MRC, per queue pair in RC.
    pub timeouts: u64,
    /// Packets found lost by early loss detection.
    pub early_losses: u64,
    /// Packets marked as lost that were acknowledged before they were sent again.
    pub spurious_losses: u64,
    /// SACKs that were in order.
    pub sacks: u64,
    /// Number of these SACKs that came after a newer SACK which already acknowledged the same packets.
    pub stale_sacks: u64,
    /// SACKs ignored: they are about a window long past.
    pub sacks_out_of_window: u64,
    /// SACKs that were ignored, because they acknowledge PSNs that were never sent.
    pub sacks_inconsistent: u64,
    /// SACKs with a congestion mark.
    pub ecn_marks: u64,
    /// NACKs by effect: the packet was trimmed.
    pub nacks_trimmed: u64,
    /// The receiver lacked a resource or window.
    pub nacks_recoverable: u64,
    /// The receiver's queue pair failed.
    pub nacks_fatal: u64,
    /// NACKs ignored: not about the last transmission of a packet in flight, or of an unknown reason.
    pub nacks_ignored: u64,
    /// Probes sent.
    pub probes: u64,
    /// Answers to probes.
    pub probe_answers: u64,
    /// RC ACKs in order.
    pub acks: u64,
    /// RC NAKs in order, RNR NAKs among them.
    pub naks: u64,
    /// RC ACKs and NAKs that were ignored, because their PSN is not in flight.
    pub acks_ignored: u64,
}

/// Selects one counter.
type Select = fn(&mut RequesterCounters) -> &mut u64;

/// The counters of the card, and those of the reference.
const COUNTERS: [(QpCounter, Select); 20] = [
    (QpCounter::PacketsSent, |of| &mut of.packets),
    (QpCounter::BytesSent, |of| &mut of.bytes),
    (QpCounter::Retransmissions, |of| &mut of.retransmissions),
    (QpCounter::Timeouts, |of| &mut of.timeouts),
    (QpCounter::EarlyLosses, |of| &mut of.early_losses),
    (QpCounter::SpuriousLosses, |of| &mut of.spurious_losses),
    (QpCounter::Sacks, |of| &mut of.sacks),
    (QpCounter::StaleSacks, |of| &mut of.stale_sacks),
    (QpCounter::SacksOutOfWindow, |of| {
        &mut of.sacks_out_of_window
    }),
    (QpCounter::SacksInconsistent, |of| {
        &mut of.sacks_inconsistent
    }),
    (QpCounter::EcnReported, |of| &mut of.ecn_marks),
    (QpCounter::NacksTrimmed, |of| &mut of.nacks_trimmed),
    (QpCounter::NacksRecoverable, |of| &mut of.nacks_recoverable),
    (QpCounter::NacksFatal, |of| &mut of.nacks_fatal),
    (QpCounter::NacksIgnored, |of| &mut of.nacks_ignored),
    (QpCounter::ProbesSent, |of| &mut of.probes),
    (QpCounter::ProbeAnswers, |of| &mut of.probe_answers),
    (QpCounter::Acks, |of| &mut of.acks),
    (QpCounter::Naks, |of| &mut of.naks),
    (QpCounter::AcksIgnored, |of| &mut of.acks_ignored),
];

impl RequesterCounters {
    /// Sets the requester's counters among those of a queue pair.
    pub fn put(mut self, all: &mut QpCounters) {
        for (counter, select) in COUNTERS {
            all.set(counter, *select(&mut self));
        }
    }
}

impl From<&QpCounters> for RequesterCounters {
    fn from(all: &QpCounters) -> Self {
        let mut counters = Self::default();
        for (counter, select) in COUNTERS {
            *select(&mut counters) = all.get(counter);
        }
        counters
    }
}
