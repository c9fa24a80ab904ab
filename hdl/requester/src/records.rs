//! What travels between the sequencer and its flows.

use rust_hdl::prelude::*;
use stellar_wire::hw::requester::{ControlPacket, RequesterConfig};

/// What the sequencer does next.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum JobKind {
    /// The next packet for a port, if there is one.
    Transmit,
    /// A burst that was leaving has ended early.
    Retract,
    Sack,
    Nack,
    /// RC ACK or NAK.
    Ack,
    /// Packets may be late.
    Timer,
    /// A new producer index.
    Doorbell,
    /// The payload of a packet cannot be read.
    Fault,
    /// The receive side failed: everything is flushed.
    Flush,
    /// Something may have changed for the queue pair: it is scheduled.
    Wake,
    /// A server starts the queue pair anew.
    Configure,
}

/// Which table a configuration is for.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ConfigureKind {
    /// The requester's registers and, with them, its window.
    Requester,
    SendQueue,
    Spray,
    Nscc,
}

/// What an RC queue pair has sent. PSNs `una` of [`RequesterState`] to `sent` - 1 may be unreceived.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RcState {
    /// PSN of the packet to send: behind `sent` after going back.
    pub to_send: Bits<24>,
    /// PSN of the next new packet.
    pub sent: Bits<24>,
    /// Timeouts and sequence NAKs since the last progress.
    pub retries: Bits<8>,
    /// Packets since one that asked for an acknowledgement.
    pub silent: Bits<16>,
}

/// State of a queue pair beside its servers'.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RequesterState {
    /// In error: nothing is sent or taken in any more.
    pub failed: Bit,
    /// First PSN not known to be received.
    pub una: Bits<24>,
    /// MRC: the receiver's last word on its window, in packets.
    pub mpr: Bits<11>,
    /// No timer expires before `deadline`; none at all unless armed.
    pub armed: Bit,
    /// Ticks of 8 ns.
    pub deadline: Bits<32>,
    /// MRC: a probe that is due, until the port of its plane can take it.
    pub probe: Bit,
    pub probe_index: Bits<8>,
    pub probe_entropy: Bits<32>,
    /// The policy of its paths is one that probes.
    pub may_probe: Bit,
    pub rc: RcState,
}

/// One operation, and the queue pair as it was before: stable while a flow works.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Job {
    pub kind: JobKind,
    pub qp: Bits<10>,
    /// `Transmit`, `Retract`.
    pub port: Bit,
    /// `Doorbell`: producer index; `Fault`: send queue index.
    pub slot: Bits<16>,
    /// `Configure`.
    pub configure: ConfigureKind,
    /// Time of the operation, ticks of 8 ns.
    pub now: Bits<32>,
    /// `Sack`, `Nack`, `Ack`.
    pub control: ControlPacket,
    pub settings: RequesterConfig,
    pub state: RequesterState,
}

/// How an operation goes on when its flow is through.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Next {
    Nothing,
    /// Messages before the window complete.
    Complete,
    /// The same, and the message table has been asked already.
    Completing,
    /// The queue pair fails.
    Fail,
    /// Messages before the window complete, and the one that is the oldest then fails, and the queue pair with it.
    FailOldest,
}

/// What a flow did.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Outcome {
    pub state: RequesterState,
    /// `Transmit`: a packet left.
    pub served: Bit,
    /// `Transmit`: whether one leaves is told beside, when it is known; `Retract`: it was.
    pub told: Bit,
    pub then: Next,
    /// `Complete`, `FailOldest`: first PSN not known to be received.
    pub una: Bits<24>,
    /// `Fail`: a message is to blame.
    pub blame: Bit,
    pub slot: Bits<16>,
    /// `Fail`, `FailOldest`: status of its completion.
    pub status: Bits<8>,
}

/// What the flows count, as pulses.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Counted {
    /// Data packets sent, and of them those sent again.
    pub packet: Bit,
    pub retransmission: Bit,
    /// Of these two, which come while operations of other queue pairs do; 0 without them.
    pub sent_qp: Bits<10>,
    pub probe: Bit,
    pub sack: Bit,
    pub sack_out_of_window: Bit,
    pub sack_inconsistent: Bit,
    pub stale_sack: Bit,
    pub ecn_mark: Bit,
    pub probe_answer: Bit,
    pub early_loss: Bit,
    pub timeout: Bit,
    pub nack_trimmed: Bit,
    pub nack_recoverable: Bit,
    pub nack_fatal: Bit,
    pub nack_ignored: Bit,
    pub ack: Bit,
    pub nak: Bit,
    pub ack_ignored: Bit,
    /// Packets held for lost that were acknowledged.
    pub spurious: Bits<11>,
}

/// A queue pair that went to error.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Failure {
    pub qp: Bits<10>,
    /// Code of the [`stellar_wire::host::WcStatus`] behind it.
    pub status: Bits<8>,
}
