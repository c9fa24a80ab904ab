//! Counters of each queue pair.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use crate::header::fit;
use crate::record_enum::record_enum;
use crate::rows::QPN_BITS;

macro_rules! qp_counters {
    ($(#[$meta:meta])* pub enum $enum:ident { $($(#[doc = $doc:literal])+ $name:ident,)+ }) => {
        record_enum! {
            $(#[$meta])*
            pub enum $enum { $($(#[doc = $doc])+ $name),+ }
        }

        impl $enum {
            /// What it counts, for people.
            pub const fn description(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc, "\n"),+).trim_ascii(),)+
                }
            }
        }
    };
}

qp_counters! {
    /// What the card counts for each queue pair. The order is the number of the counter in [`super::registers::QP_COUNTER_SELECT`].
    ///
    /// The first 20 are the requester's: they restart at zero when its row is written. The others are the receive side's, which restarts when it becomes
    /// ready to receive. In the error state both keep what they have counted.
    pub enum QpCounter {
        /// Data packets sent, retransmissions included.
        PacketsSent,
        /// Payload bytes of these packets.
        BytesSent,
        /// Data packets sent again.
        Retransmissions,
        /// Timers that expired: per packet in MRC, per queue pair in RC.
        Timeouts,
        /// Packets found lost before their timer expired.
        EarlyLosses,
        /// Packets that were taken for lost, and acknowledged before they were sent again.
        SpuriousLosses,
        /// SACKs received that were in order.
        Sacks,
        /// Of these, SACKs behind a newer one that acknowledged the same packets.
        StaleSacks,
        /// SACKs ignored: they are about a window long past.
        SacksOutOfWindow,
        /// SACKs ignored: they acknowledge packets that were never sent.
        SacksInconsistent,
        /// SACKs that report a congestion mark (ECN CE) on the packet that they name.
        EcnReported,
        /// NACKs received because a switch trimmed the packet.
        NacksTrimmed,
        /// NACKs received because the receiver lacked a resource or window.
        NacksRecoverable,
        /// NACKs received because the receiver's queue pair failed, and Transport ACKs that refuse a request.
        NacksFatal,
        /// NACKs ignored: not about the last transmission of a packet in flight, or of an unknown reason; and all other Transport ACKs.
        NacksIgnored,
        /// Probes sent.
        ProbesSent,
        /// Answers to probes received.
        ProbeAnswers,
        /// RC ACKs received in order.
        Acks,
        /// RC NAKs received in order, RNR NAKs among them.
        Naks,
        /// RC ACKs and NAKs ignored, because their PSN is not in flight.
        AcksIgnored,
        /// Data packets accepted.
        PacketsReceived,
        /// Payload bytes of these packets.
        BytesReceived,
        /// Packets with a congestion mark (ECN CE): those accepted, answered or taken for lost.
        EcnMarked,
        /// Packets that had been received before.
        Duplicates,
        /// RC packets beyond the expected PSN.
        PsnGaps,
        /// MRC packets beyond the receive window.
        OutsideWindow,
        /// Requests that break a rule of the transport: opcode, order of opcodes, length. The queue pair fails.
        InvalidRequests,
        /// Requests for memory that the peer may not write: key, domain, right, bounds, page. The queue pair fails.
        AccessRefused,
        /// Packets for a page of an on-demand region that has no translation yet. They count as lost.
        PagesAbsent,
        /// Probes received.
        ProbesReceived,
        /// Packets dropped because the queue pair was not ready to receive, or in error.
        WrongState,
        /// Packets dropped because of their mode (RC or MRC) or P_Key.
        Refused,
        /// MRC packets accepted that did not arrive right behind the packet before (OOO_COUNT of CC_STATE).
        OutOfOrder,
        /// RC ACKs sent.
        AcksSent,
        /// RC NAKs sent because of a gap (PSN sequence error).
        NaksSequence,
        /// RC NAKs sent because of an invalid request.
        NaksInvalid,
        /// RC NAKs sent because of a remote access error.
        NaksAccess,
        /// SACKs sent.
        SacksSent,
        /// Of these, SACKs that report a congestion mark to the peer.
        EcnEchoed,
        /// NACKs sent because a packet was beyond the receive window (reason 11).
        NacksOutsideWindow,
        /// NACKs sent because the queue pair failed (reason 25, unexpected event).
        NacksUnexpected,
    }
}

/// First counters of the groups that the card keeps in a memory each. A group reaches to the next one.
pub mod group {
    use super::QpCounter;

    /// Packets that leave a requester engine.
    pub const SENT: usize = QpCounter::PacketsSent as usize;
    /// Operations of a requester engine.
    pub const OPERATIONS: usize = QpCounter::Timeouts as usize;
    /// Packets that the receive core accepts.
    pub const ACCEPTED: usize = QpCounter::PacketsReceived as usize;
    /// What else the receive core decides about packets.
    pub const DECIDED: usize = QpCounter::EcnMarked as usize;
    /// What the responder does.
    pub const RESPONDER: usize = QpCounter::OutOfOrder as usize;
    /// End of the last group.
    pub const END: usize = QpCounter::COUNT;
}

impl std::fmt::Display for QpCounter {
    /// The name of the variant, as reports print it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

/// What is written to [`super::registers::QP_COUNTER_SELECT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpCounterSelect {
    /// Queue pair, [`QPN_BITS`] bits.
    pub qp: u32,
    pub counter: QpCounter,
}

impl QpCounterSelect {
    /// Lowest bit of the queue pair.
    pub const QP_BIT: usize = 0;
    /// Lowest bit of the counter's number.
    pub const COUNTER_BIT: usize = 32;
    /// Bits of the counter's number. Those from [`super::PathCountSelect::FIRST`] on are paths.
    pub const COUNTER_BITS: usize = 9;

    /// The register's value.
    ///
    /// # Panics
    /// If the queue pair does not fit [`QPN_BITS`] bits.
    pub fn to_word(self) -> u64 {
        u64::from(fit("queue pair counter.qp", self.qp, QPN_BITS as u32)) << Self::QP_BIT
            | u64::from(self.counter.index()) << Self::COUNTER_BIT
    }
}

const _: () = assert!(QpCounter::COUNT <= super::PathCountSelect::FIRST as usize);

/// The counters of one queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpCounters([u64; QpCounter::COUNT]);

impl Default for QpCounters {
    fn default() -> Self {
        Self([0; QpCounter::COUNT])
    }
}

impl QpCounters {
    /// The value of a counter.
    pub const fn get(&self, counter: QpCounter) -> u64 {
        self.0[counter.index() as usize]
    }

    /// Sets the value of a counter.
    pub fn set(&mut self, counter: QpCounter, value: u64) {
        self.0[usize::from(counter.index())] = value;
    }

    /// Counts `count` more.
    pub fn add(&mut self, counter: QpCounter, count: u64) {
        self.0[usize::from(counter.index())] += count;
    }

    /// Every counter with its value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (QpCounter, u64)> + '_ {
        QpCounter::ALL
            .into_iter()
            .map(|counter| (counter, self.get(counter)))
    }

    /// Whether nothing was counted.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&value| value == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_fields_at_the_documented_places() {
        let select = QpCounterSelect {
            qp: 0x83ff,
            counter: QpCounter::ALL[QpCounter::COUNT - 1],
        };
        assert_eq!(select.to_word(), 0x28_0000_83ff);
    }

    #[test]
    #[should_panic(expected = "queue pair counter.qp")]
    fn a_queue_pair_that_does_not_fit_is_refused() {
        let counter = QpCounter::PacketsSent;
        let _ = QpCounterSelect {
            qp: 1 << QPN_BITS,
            counter,
        }
        .to_word();
    }

    #[test]
    fn counters_have_names_and_descriptions() {
        for counter in QpCounter::ALL {
            assert!(counter.description().ends_with('.'), "{counter}");
        }
        let groups = [group::SENT, group::OPERATIONS, group::ACCEPTED];
        assert_eq!(groups, [0, 3, 20]);
    }
}
