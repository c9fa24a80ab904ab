//! What the responder keeps of a queue pair, and what travels between its stages.

use rust_hdl::prelude::*;
use stellar_wire::config::RECEIVE_RING;
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::hw::{Psn, Qpn};

use crate::count_records::CountedPacket;

/// Kind of an [`Operation`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum OperationKind {
    Packet,
    /// Initialises the queue pair.
    Configure,
    /// Arms an event for when the counter of WRITEs with immediate reaches `threshold`.
    Arm,
    /// Acknowledges packets that have been pending since the visit before.
    Visit,
    /// Forgets what is pending: it is from before a reset.
    Forget,
}

/// An operation on one queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Operation {
    pub kind: OperationKind,
    pub qp: Qpn,
    pub outcome: RxOutcome,
    pub settings: ResponderConfig,
    pub threshold: Bits<32>,
}

/// Packets that were accepted and that no SACK has reported yet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Pending {
    pub count: Bits<6>,
    /// The packets are in this word of 64 PSNs, or before the cumulative PSN.
    pub word: Bits<18>,
    /// Bit i: PSN i of the word has arrived.
    pub bitmap: Bits<64>,
}

/// The pending packets of a queue pair, and when a SACK must report them.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Coalescing {
    /// Maximum number of pending packets, 0 to 62.
    pub max_pending: Bits<6>,
    /// Pending packets in words with an even number, and in words with an odd number.
    pub even: Pending,
    pub odd: Pending,
    /// A packet up to this PSN is acknowledged at once.
    pub sack_now_until: Psn,
    /// Packets have been pending since the last visit or longer.
    pub aged: Bit,
}

/// What the SACK of a visit reflects: the newest packet that was accepted over MRC.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Newest {
    pub entropy: Bits<32>,
    /// Its time stamp, or 0.
    pub timestamp: Bits<16>,
}

/// What a visit does.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Visited {
    /// Pending packets of a word are acknowledged.
    pub tells: Bit,
    pub told: Pending,
    /// What is pending afterwards.
    pub coalescing: Coalescing,
}

/// A packet compared with `sack_now_until`, the PSN up to which packets are acknowledged at once.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct VsUrgentPsn {
    /// The PSN of the packet is not beyond it.
    pub late: Bit,
    /// No PSN up to it is missing any more.
    pub closes: Bit,
}

/// A packet compared with a word that may be pending.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct VsPendingWord {
    /// The packet belongs to another word, if one half of their numbers differs.
    pub lower_differs: Bit,
    pub upper_differs: Bit,
    /// The cumulative PSN covers the word.
    pub covered: Bit,
}

/// A packet compared with the pending packets. The packet immediately before it is not yet among these, so it is compared separately.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Compared {
    /// The cumulative PSN is beyond the packet.
    pub in_order: Bit,
    pub urgent_psn: VsUrgentPsn,
    /// The packet compared with each pending word. Which one has its own parity is considered a stage later, because the words come late, from a block RAM.
    pub even: VsPendingWord,
    pub odd: VsPendingWord,
    /// The packet immediately before, compared as if it were `sack_now_until` and a pending word.
    pub last_urgent: VsUrgentPsn,
    pub last_word: VsPendingWord,
    /// The word of the packet immediately before has the same parity as this packet's word.
    pub last_is_own: Bit,
}

/// The changes that the packet immediately before makes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Changed {
    /// The word of the packet is pending now, or the packet's SACK has reported the word.
    pub word: Bit,
    /// `sack_now_until` is now the PSN of the packet.
    pub urgent_psn: Bit,
}

/// The decision on the acknowledgement of a packet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct SackDecision {
    /// The packet is acknowledged at once.
    pub urgent: Bit,
    /// `sack_now_until` advances to the PSN of the packet.
    pub extends: Bit,
    /// Another word of the same parity is pending, and a SACK reports it.
    pub evicts: Bit,
    /// With the packet, the number of pending packets reaches the limit.
    pub full: Bit,
    /// The word of the other parity has more pending packets.
    pub other_first: Bit,
    /// The cumulative PSN covers that word.
    pub other_covered: Bit,
}

/// A bit for each word of a ring of received PSNs.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RingWords {
    pub bits: Bits<RECEIVE_RING>,
}

/// Greatest log2 of the immediates that a queue pair can stash.
pub const MOST_SLOT_BITS: usize = 8;
/// Greatest log2 of the entries of the stash: those that a row can name.
pub const MOST_STASH_BITS: usize = 16;

/// A bit for each slot that a queue pair's part of the stash can have.
pub type Slots = Bits<256>;

/// The part of the stash that is a queue pair's: 2^`log2` entries from `first` on. A message is in the one that the low bits of its RQMSN name.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct StashPart {
    pub first: Bits<16>,
    pub log2: Bits<4>,
}

/// State of a queue pair's receive side.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReceiveState {
    pub mrc: Bit,
    pub mtu_log2: Bits<4>,
    pub max_wimm: Bits<11>,
    pub part: StashPart,
    pub completions: Bit,
    /// The queue pair is in error: packets change nothing and are not acknowledged until it is configured again.
    pub failed: Bit,
    /// First PSN missing (MRC).
    pub expected: Psn,
    /// Words of the ring of received PSNs that contain packets of the window. The others count as zero.
    pub touched: RingWords,
    /// Packets accepted out of order, wrapping.
    pub out_of_order: Bits<15>,
    /// Payload bytes accepted, wrapping.
    pub bytes: Bits<32>,
    /// RC: bytes of the message in progress, and messages completed, wrapping.
    pub message_bytes: Bits<32>,
    pub messages: Bits<24>,
    /// RQMSN of the oldest WRITE with immediate that is not delivered yet.
    pub front: Bits<16>,
    /// Its last PSN, if it is in the stash.
    pub front_last: Psn,
    /// Messages that are in the stash, by the low bits of the RQMSN.
    pub held: Slots,
    pub coalescing: Coalescing,
    pub repeated: Repeated,
    pub newest: Newest,
}

/// The last answer to a duplicate that has nothing but the cumulative PSN to say.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Repeated {
    /// There is one.
    pub valid: Bit,
    /// The number of its epoch of 8.2 us.
    pub epoch: Bits<16>,
    pub cumulative: Psn,
}

/// The number of an epoch of 262 us: it wraps after 17 s.
pub type Epoch = Bits<16>;

/// The newest entropy value of a plane that is known to be good.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct GoodPath {
    pub known: Bit,
    pub entropy: Bits<32>,
    /// The epoch in which it was noted.
    pub epoch: Epoch,
}

/// A value as it was noted, and whether it still lives: it does in the epoch of its note, and in the next one.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct FoundPath {
    pub known: Bit,
    pub of_this_epoch: Bit,
    pub of_epoch_before: Bit,
    pub entropy: Bits<32>,
}

/// An operation with the state of its queue pair: register of the stage `lookup`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct LookupReg {
    pub operation: Operation,
    /// State before the operation, without the changes of the operation immediately before it.
    pub state: ReceiveState,
    /// The operation before it is a packet of the same queue pair: the newest state is forwarded from the next stage.
    pub follows: Bit,
    /// An MRC packet: the operation behind it takes the state that it leaves when it commits.
    pub forwards: Bit,
    /// The headers, without the counts of CC_STATE, on the path of the packet.
    pub answer: TxAnswer,
    /// The good path of the port that the acknowledgement leaves by.
    pub good: FoundPath,
    /// The acknowledgement reports that the queue pair is in error.
    pub fatal: Bit,
    pub compared: Compared,
    /// The answer to a duplicate, if its acknowledgement has nothing but the cumulative PSN to say.
    pub repeats: Repeated,
}

/// A packet after the stage `update_state`. `state` contains its changes; those by the stash follow as they happen.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct UpdateReg {
    pub operation: Operation,
    pub state: ReceiveState,
    pub answer: TxAnswer,
    pub answers: Bit,
    /// The SACK reports a word that was pending, not the word of the packet.
    pub sacks_pending: Bit,
    pub sacked: Pending,
    /// How the packet changes the pending packets.
    pub changed: Changed,
    /// The queue pair was already in error.
    pub ignored: Bit,
    /// The packet moves the queue pair to the error state.
    pub fails: Bit,
    /// The RQMSN is beyond the stash.
    pub exceeded: Bit,
    /// The packet is an accepted MRC packet.
    pub notes_psn: Bit,
    /// The first missing PSN is beyond the packet.
    pub in_order: Bit,
    /// It did not arrive right behind the packet before.
    pub out_of_order: Bit,
    /// The packet is the last one of an RC message.
    pub ends_message: Bit,
    /// The packet is the last one of an RC WRITE with immediate.
    pub delivers: Bit,
    /// A WRITE with immediate that is the next one, and whole, arrives over MRC: it is delivered without a place in the stash.
    pub passes: Bit,
    /// The last packet of a WRITE with immediate arrives over MRC before packets that precede it: it is stored in the stash.
    pub stores: Bit,
    /// Of these, the oldest message that has not been delivered. A packet without immediate reads it in the cycle before its turn.
    pub stores_front: Bit,
    /// The message behind that one. A WRITE with immediate reads it in the cycle before its turn.
    pub stores_behind: Bit,
    /// The packet waits for the stash, because messages in it can be delivered.
    pub stashes: Bit,
    /// What the stash does for it.
    pub stash_work: StashWork,
    /// What the counter of WRITEs with immediate is told.
    pub counted: CountedPacket,
}

/// The outputs of a finished operation.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Committed {
    /// State after the operation.
    pub state: ReceiveState,
    pub answer: TxAnswer,
    pub answered: Bit,
    /// A WRITE with immediate over RC.
    pub completed: Bit,
    pub completion: Completion,
}

/// What a packet requires of the stash, beside storing its message.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct StashWork {
    /// The packet is delivered itself, and the message behind it is in the stash.
    pub passes: Bit,
    /// The oldest message is in the stash, and everything before it has arrived.
    pub delivers: Bit,
    /// The oldest message has not been read in the cycle before.
    pub seeks: Bit,
}

/// A packet before the stash. It stays until the stash is done; only `front` and `held` advance with each message that is delivered.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct StashRequest {
    pub work: StashWork,
    pub qp: Qpn,
    pub part: StashPart,
    pub psn: Psn,
    /// First PSN missing after the packet.
    pub epsn: Psn,
    pub completions: Bit,
    /// State of the queue pair with this packet.
    pub front: Bits<16>,
    pub held: Slots,
    pub immediate: Bits<32>,
    /// Bytes of the message.
    pub length: Bits<32>,
    pub msn: Bits<16>,
    /// Where its message is in the stash.
    pub slot: Bits<16>,
}

/// A WRITE with immediate whose last packet has arrived.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Stashed {
    pub immediate: Bits<32>,
    /// Bytes of the message.
    pub length: Bits<32>,
    pub msn: Bits<16>,
    /// Last PSN of the message.
    pub last: Psn,
}
