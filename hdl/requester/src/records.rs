//! Records between the sequencer and its flows.

use rust_hdl::prelude::*;
use stellar_wire::hw::requester::{ControlPacket, RequesterConfig};
use stellar_wire::hw::{Psn, Qpn, SqIndex};
use stellar_wire::mtu::LENGTH_BITS;

use crate::silent_plane::PlaneLosses;

/// Width of the time before a tail probe, which is at most half of a timeout.
pub const TAIL_BITS: usize = 20;

/// Kind of an operation.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum OpKind {
    /// Transmit a packet or a burst on a port, if there is one.
    Transmit,
    Sack,
    /// Process a NACK, or a Transport ACK.
    Nack,
    /// Process an RC ACK or NAK.
    Ack,
    /// Expire packets that are late.
    Timer,
    /// Accept a new producer index.
    Doorbell,
    /// Fail a message, because the payload of a packet cannot be read.
    Fault,
    /// Flush the queue pair, because its receive side failed.
    Flush,
    /// Schedule the queue pair, because it may have work.
    Wake,
    /// Initialise the queue pair in one of the functional units.
    Configure,
}

/// The table that a configuration is for.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ConfigureKind {
    /// The requester's registers, and its transmit window.
    Requester,
    SendQueue,
    Spray,
    Nscc,
    /// Software denies or allows one path in the spray engine.
    PathUse,
}

/// What an RC queue pair has sent. PSNs `una` of [`RequesterState`] to `sent` - 1 may not have been received.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RcState {
    /// Next PSN to send. After go-back-N it is behind `sent`.
    pub to_send: Psn,
    /// Next new PSN.
    pub sent: Psn,
    /// RNR NAKs that were waited for since the last progress. It wraps if their number is not limited.
    pub rnr_retries: Bits<3>,
    /// The peer was not ready for the packet `una`. Nothing is sent until the deadline, or until there is progress.
    pub waits: Bit,
    /// Packets sent since the last one that requested an acknowledgement.
    pub pkts_since_ack_req: Bits<16>,
    pub paths: RcPathState,
}

/// The paths of an RC queue pair with a path policy, as far as the spray engine does not keep them (reference: `RcPaths`).
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RcPathState {
    /// The policy lets no data leave before this time, as it told last. Ticks of 8 ns.
    pub held: Bit,
    pub held_until: Bits<32>,
    /// A packet is timed: its acknowledgement tells a round trip. Its PSN, its time of transmission and its path.
    pub timed: Bit,
    pub timed_psn: Psn,
    pub timed_at: Bits<32>,
    pub timed_index: Bits<8>,
    /// The last round trip was that of a congested path.
    pub slow: Bit,
}

/// What the sequencer has to know of a queue pair's path policy.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PathPolicy {
    /// It sends probes.
    pub probes: Bit,
    /// It has several paths at a time, and takes none out of use.
    pub spreads: Bit,
    /// Every plane that is up has a path: the policy spreads, and software denies no path.
    pub keeps_all_paths: Bit,
    /// It learns from every acknowledgement, not only from those with a mark.
    pub hears_all: Bit,
}

/// Delays of the paths of an MRC queue pair (reference: `Estimate`). Times are in ticks of 8 ns.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct DelayState {
    /// There was a sample.
    pub known: Bit,
    /// Longest and shortest round trip of late.
    pub longest: Bits<16>,
    pub shortest: Bits<16>,
    /// A loss was spurious once.
    pub wary: Bit,
    /// What the last SACK told: a round trip, and a spurious loss. The next one adds it to the estimate.
    pub sampled: Bit,
    pub sample: Bits<16>,
    pub spurious: Bit,
    /// log2 of the factor of the time before the next tail probe.
    pub shift: Bits<3>,
    /// No more tail probes are sent until a packet is acknowledged.
    pub spent: Bit,
    /// Time from the transmission of a packet to the tail probe that asks for it.
    pub tail: Bits<TAIL_BITS>,
}

/// State of a queue pair in the sequencer. The functional units keep the rest.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RequesterState {
    /// The queue pair is in the error state: it sends nothing and processes no control packets.
    pub failed: Bit,
    /// First PSN that is not known to be received.
    pub una: Psn,
    /// MRC: the maximum number of packets in flight that the receiver allowed last.
    pub mpr: Bits<13>,
    /// A timer is armed. No packet expires before `deadline`.
    pub armed: Bit,
    /// Ticks of 8 ns.
    pub deadline: Bits<32>,
    /// Retries since the last progress.
    pub retries: Bits<8>,
    /// MRC: if there were retries, no further one is spent before this time.
    pub next_retry: Bits<32>,
    /// MRC.
    pub losses: PlaneLosses,
    /// A probe is due, and waits for the port of its plane.
    pub probe: Bit,
    pub probe_index: Bits<8>,
    /// Its answer tells early loss detection what is lost.
    pub probe_is_tail: Bit,
    pub probe_entropy: Bits<32>,
    pub path_policy: PathPolicy,
    pub delays: DelayState,
    /// MRC: number of newest packets of which none requests a SACK, below `ASK_AFTER`.
    pub unasked: Bits<4>,
    pub rc: RcState,
}

/// An operation that was chosen, and has not started.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Pick {
    pub kind: OpKind,
    pub qp: Qpn,
    /// `Transmit`.
    pub port: Bit,
    /// `Doorbell`: producer index; `Fault`: send queue index.
    pub slot: SqIndex,
    /// `Configure`.
    pub configure: ConfigureKind,
    /// `Fault`: a burst found that it cannot read a payload.
    pub is_unreadable: Bit,
}

/// One operation, and the queue pair: its registers, and its state as it was written last.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Op {
    pub kind: OpKind,
    pub qp: Qpn,
    /// `Transmit`.
    pub port: Bit,
    /// `Doorbell`: producer index; `Fault`: send queue index.
    pub slot: SqIndex,
    /// `Configure`.
    pub configure: ConfigureKind,
    /// Time of the operation, ticks of 8 ns.
    pub now: Bits<32>,
    /// `Sack`, `Nack`, `Ack`.
    pub control: ControlPacket,
    pub settings: RequesterConfig,
    pub state: RequesterState,
}

/// What follows when the flow is done.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum NextAction {
    Nothing,
    /// Messages before the window complete.
    Complete,
    /// Messages before the window complete; the flow has already issued the request to the message table.
    Completing,
    /// The queue pair moves to the error state.
    Fail,
    /// Messages before the window complete. Then the oldest remaining message fails, and the queue pair moves to the error state.
    FailOldest,
}

/// Result of a flow.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct OpResult {
    pub state: RequesterState,
    /// `Transmit`: a packet was sent.
    pub packet_sent: Bit,
    /// `Transmit`: the operation is tried again, so the scheduler must not deactivate the queue pair.
    pub tried_again: Bit,
    pub next_action: NextAction,
    /// `Complete`, `FailOldest`: first PSN that is not known to be received.
    pub una: Psn,
    /// `Fail`: the message `slot` caused the failure.
    pub failed_slot_valid: Bit,
    pub slot: SqIndex,
    /// `Fail`, `FailOldest`: status of the completion of the message that failed.
    pub status: Bits<8>,
}

/// Statistics pulses of the flows.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct StatPulses {
    /// A data packet was sent; it was a retransmission.
    pub packet: Bit,
    pub retransmission: Bit,
    /// Queue pair of these two and of `bytes`, which come while operations of other queue pairs are executed. It is 0 without them.
    pub sent_qp: Qpn,
    /// Payload bytes of the packet, 0 without one.
    pub bytes: Bits<LENGTH_BITS>,
    /// The packet is of MRC, and took the path with this index.
    pub on_path: Bit,
    pub sent_index: Bits<8>,
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
    /// Packets acknowledged that had been marked lost.
    pub spurious: Bits<13>,
    /// A packet that is taken for lost counts for its path, which has this index. The queue pair is that of the operation. The index is 0 while none is examined.
    pub lost_on_path: Bit,
    pub lost_index: Bits<8>,
    /// A SACK of this queue pair reflects the path with this index with a congestion mark. It comes some cycles after the SACK, so beside another operation. Both are 0
    /// without one.
    pub marked_path: Bit,
    pub marked_qp: Qpn,
    pub marked_index: Bits<8>,
}

/// A queue pair that moved to the error state.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Failure {
    pub qp: Qpn,
    /// Code of the [`stellar_wire::host::WcStatus`] that caused it.
    pub status: Bits<8>,
}
