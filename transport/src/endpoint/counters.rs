//! Counters of the card besides those of the lane and the queue pairs.

/// Counters of a card. The hardware's have 48 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointCounters {
    /// Frames sent, by port.
    pub frames_sent: [u64; 2],
    /// Frames received, by port.
    pub frames_received: [u64; 2],
    /// Frames received on a port that is down.
    pub frames_while_down: u64,
    /// Of the frames sent: ACK, NAK, SACK and NACK.
    pub control_sent: u64,
    /// Control packets that are malformed.
    pub control_bad: u64,
    /// Control packets for a queue pair that does not exist or is in error.
    pub control_unknown_qp: u64,
    /// Control packets that are not from the queue pair's peer.
    pub control_foreign: u64,
    /// Doorbells for a queue pair of another page, or for none.
    pub doorbells_refused: u64,
    /// Doorbells with an impossible producer index.
    pub doorbells_bad: u64,
    /// Completions that found their queue full.
    pub completions_lost: u64,
    /// Events that found the queue full.
    pub events_lost: u64,
    /// Queue pairs that went to error.
    pub qp_errors: u64,
    /// WRITEs with immediate beyond what was agreed.
    pub wimm_exceeded: u64,
}
