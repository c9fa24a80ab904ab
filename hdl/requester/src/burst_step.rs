//! Steps of a burst.

use rust_hdl::prelude::*;

/// What `BurstFlow` does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum BurstStep {
    Idle,
    /// Waits for the message: of the retransmission, or of the first new packet. Computes the segment of the first packet.
    LookupMessage,
    /// Computes the remainder of the message, and the space in both windows.
    MeasureSpace,
    /// Computes the number of packets, and whether the first one may be sent.
    CountPackets,
    /// Waits until the spray engine is free and has processed all feedback, if the first packet may be sent.
    Admit,
    /// MRC: nothing is sent, because the queue pair is held while its path changes, or the spray engine found no path.
    SendNothing,
    /// The burst is collected.
    Collect,
    /// Sends a retransmission, or a burst over RC. The window may still process its request when the flow is done.
    Send,
}
