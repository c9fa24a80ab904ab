//! Counters of the card beside those of received packets.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use crate::record_enum::record_enum;

record_enum! {
    /// What a port and the PCIe endpoint beside it count. The order is the index of the counter.
    pub enum PortCounter {
        /// Acknowledgements that were dropped, because their port was down, or did not send while 512 others waited.
        AnswersDropped,
        /// Frames that were dropped or cut, because the link was down.
        FramesDropped,
        /// Frames that were not sent, because their payload could not be read.
        FramesLeftOut,
        /// Failed reads of payload whose report was dropped. The packet is sent again, and fails again.
        FaultReportsDropped,
        /// Reads of payload that were not completed in time.
        PayloadReadTimeouts,
        /// Completions that failed a read of payload: UR, CA, another status, poisoned or malformed.
        PayloadReadsFailed,
        /// Completions of payload with an error at their end, or with too many or too few beats.
        PayloadReadsDamaged,
        /// Completions that no read of payload waits for.
        PayloadUnexpected,
        /// Reads of queue entries that were not completed in time.
        EntryReadTimeouts,
        /// Completions that failed a read of queue entries.
        EntryReadsFailed,
        /// Completions of queue entries with an error at their end, or with too many or too few beats.
        EntryReadsDamaged,
        /// Completions that no read of queue entries waits for.
        EntriesUnexpected,
        /// Reads that tell when writes are in memory, and failed.
        FlushReadsFailed,
        /// The same that were not completed in time.
        FlushReadTimeouts,
        /// Requests of the host that are not supported: reads of doorbell pages, and all that neither read nor write memory.
        HostRequestsRefused,
        /// Beats of the host's requests that the PCIe block marked as damaged. What they write is dropped.
        HostRequestsDamaged,
        /// Failed flush reads whose event was dropped. Their queue pairs fail all the same.
        FlushReportsDropped,
        /// Writes that were dropped, because the PCIe link of the endpoint was down.
        WritesDropped,
        /// Received frames that were dropped at the crossing from the clock of the MAC, because it was full, or cut there, because they were too long.
        ReceiveOverruns,
    }
}

record_enum! {
    /// What the card counts once, beside received packets: queues of the host, doorbells, acknowledgements. The order is the index of the counter.
    pub enum CardCounter {
        /// Completions that were written.
        CompletionsWritten,
        /// Completions that were lost, because their ring was full or not there.
        CompletionsLost,
        /// Consumer indices of completion queues that were refused, because the ring has no such entry.
        ConsumersRefused,
        /// Events that were written.
        EventsWritten,
        /// Events that were lost, because the ring was full or not there.
        EventsLost,
        /// Consumer indices of the event queue that were refused.
        EventConsumersRefused,
        /// MSI-X messages. One that a mask has taken back counts again when it is sent.
        InterruptsSent,
        /// Doorbells and consumer indices of a page that does not own the queue pair.
        DoorbellsNotOwned,
        /// Writes to a doorbell page of less than 64 bits.
        DoorbellsShort,
        /// Writes to a place of a doorbell page that has no meaning.
        DoorbellsMisplaced,
        /// Producer indices of even queue pairs that were refused, because they are beyond the send queue.
        ProducersRefusedEven,
        /// The same of odd queue pairs.
        ProducersRefusedOdd,
        /// Acknowledgements of RC.
        AcksSent,
        /// Negative acknowledgements of RC.
        NaksSent,
        /// Selective acknowledgements of MRC.
        SacksSent,
        /// Negative acknowledgements of MRC.
        NacksSent,
        /// WRITEs with immediate beyond those that a queue pair may have outstanding.
        ImmediatesExceeded,
        /// Packets of queue pairs in the error state, which are not acknowledged.
        PacketsIgnored,
    }
}

/// Bit of [`super::registers::COUNTER_SELECT`]: a [`CardCounter`], in the bits below [`PORT_BIT`].
pub const OF_CARD_BIT: usize = 7;
const _: () = assert!(CardCounter::COUNT <= 1 << PORT_BIT);

impl CardCounter {
    /// Value of [`super::registers::COUNTER_SELECT`] for this counter.
    pub const fn select(self) -> u8 {
        1 << OF_CARD_BIT | self.index()
    }
}

impl std::fmt::Display for CardCounter {
    /// The name of the variant, as reports print it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}

/// Bit of [`super::registers::COUNTER_SELECT`]: a [`PortCounter`], in the bits below [`PORT_BIT`]. Otherwise a `DropReason`.
pub const OF_PORT_BIT: usize = 6;
/// Bit of the port, 0 or 1.
pub const PORT_BIT: usize = 5;
const _: () = assert!(PortCounter::COUNT <= 1 << PORT_BIT);

impl PortCounter {
    /// Value of [`super::registers::COUNTER_SELECT`] for this counter of `port`, 0 or 1.
    pub const fn select(self, port: u8) -> u8 {
        assert!(port < 2, "the card has ports 0 and 1");
        1 << OF_PORT_BIT | port << PORT_BIT | self.index()
    }
}

impl std::fmt::Display for PortCounter {
    /// The name of the variant, as reports print it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(self, f)
    }
}
