//! Steps of a burst.

use hdl_macros::hdl_fn;
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

/// What the step after a step depends on, unless the burst begins.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Endings {
    /// `Idle`: the message of the first packet is requested; or nothing is sent.
    pub starts: Bit,
    pub sends_nothing: Bit,
    /// `LookupMessage`: the message is there, and its packets may be sent.
    pub is_found: Bit,
    /// `MeasureSpace`: the congestion window is known.
    pub cwnd_known: Bit,
    /// `Admit`: the burst is collected from now on.
    pub collects: Bit,
    /// `LookupMessage`, `Admit`: nothing is sent.
    pub gives_up: Bit,
    /// `Collect`: the spray engine found no path.
    pub no_path: Bit,
    /// `Send`: all packets have left.
    pub ends: Bit,
}

/// Returns the step after `step`. Levels: 2.
#[hdl_fn]
pub fn next_step(step: BurstStep, endings: Endings) -> BurstStep {
    match step {
        BurstStep::Idle => {
            if endings.starts {
                BurstStep::LookupMessage
            } else if endings.sends_nothing {
                BurstStep::SendNothing
            } else {
                BurstStep::Idle
            }
        }
        BurstStep::LookupMessage => {
            if endings.is_found {
                BurstStep::MeasureSpace
            } else if endings.gives_up {
                BurstStep::Idle
            } else {
                BurstStep::LookupMessage
            }
        }
        BurstStep::MeasureSpace => {
            if endings.cwnd_known {
                BurstStep::CountPackets
            } else {
                BurstStep::MeasureSpace
            }
        }
        BurstStep::CountPackets => BurstStep::Admit,
        BurstStep::Admit => {
            if endings.collects {
                BurstStep::Collect
            } else if endings.gives_up {
                BurstStep::Idle
            } else {
                BurstStep::Admit
            }
        }
        BurstStep::SendNothing => BurstStep::Idle,
        BurstStep::Collect => {
            if endings.no_path {
                BurstStep::SendNothing
            } else {
                BurstStep::Collect
            }
        }
        BurstStep::Send => {
            if endings.ends {
                BurstStep::Idle
            } else {
                BurstStep::Send
            }
        }
    }
}
