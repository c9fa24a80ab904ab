//! What the responder keeps of a queue pair, and what travels between its stages.

use rust_hdl::prelude::*;
use stellar_wire::hw::messages::Completion;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::hw::requester::TxAnswer;
use stellar_wire::hw::responder::ResponderConfig;

/// Kind of an [`Operation`].
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum OperationKind {
    Packet,
    /// Starts the queue pair anew.
    Configure,
    /// Asks for an event when the counter of WRITEs with immediate reaches `threshold`.
    Arm,
}

/// One thing to do for one queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Operation {
    pub kind: OperationKind,
    pub qp: Bits<10>,
    pub outcome: RxOutcome,
    pub settings: ResponderConfig,
    pub threshold: Bits<32>,
}

/// Packets that were accepted and not told of.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Pending {
    pub count: Bits<6>,
    /// They are in this word of 64 PSNs, or before the cumulative PSN.
    pub word: Bits<18>,
    /// Bit i: PSN i of the word has arrived.
    pub bitmap: Bits<64>,
}

/// What a queue pair has not told of, and when it must.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Coalescing {
    /// Most packets that may be pending, 0 to 62.
    pub most: Bits<6>,
    /// Of words with an even and with an odd number.
    pub even: Pending,
    pub odd: Pending,
    /// What arrives from up to here is answered at once.
    pub urgent_to: Bits<24>,
}

/// A packet compared with a mark up to which packets are answered at once.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BesideMark {
    /// The packet lies up to it.
    pub late: Bit,
    /// Nothing is missing any more up to there.
    pub closes: Bit,
}

/// A packet compared with a word that may be pending.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BesideWord {
    /// The packet's word is another.
    pub differs: Bit,
    /// The cumulative PSN tells of the word.
    pub covered: Bit,
}

/// A packet compared with what is pending, but for the packet before it, and with that one.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Compared {
    /// The cumulative PSN lies beyond the packet.
    pub in_order: Bit,
    pub mark: BesideMark,
    /// The words pending of the packet's parity and of the other.
    pub own: BesideWord,
    pub other: BesideWord,
    /// The packet before it as the mark, and as a word pending.
    pub last_mark: BesideMark,
    pub last_word: BesideWord,
    /// Its word is of the packet's parity.
    pub last_is_own: Bit,
}

/// What the packet before has changed.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Changed {
    /// Its word is pending now, or has been told of with it.
    pub word: Bit,
    /// The mark up to which packets are answered at once is now its PSN.
    pub mark: Bit,
}

/// What becomes of a packet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Judged {
    /// It is answered at once.
    pub urgent: Bit,
    /// `urgent_to` moves up to it.
    pub extends: Bit,
    /// Another word of its parity is pending, and is told of.
    pub evicts: Bit,
    /// As many as may be are pending with it.
    pub full: Bit,
    /// More are pending in the word of the other parity.
    pub other_first: Bit,
    /// The cumulative PSN tells of that word.
    pub other_covered: Bit,
}

/// State of a queue pair's receive side.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ReceiveState {
    pub mrc: Bit,
    pub mtu_log2: Bits<4>,
    pub max_wimm: Bits<11>,
    pub completions: Bit,
    /// Nothing more is taken note of or answered until the queue pair is started anew.
    pub failed: Bit,
    /// First PSN missing (MRC).
    pub expected: Bits<24>,
    /// Words of the ring of received PSNs that hold packets of the window; the others read as zero.
    pub touched: Bits<32>,
    /// Packets accepted out of order, wrapping.
    pub out_of_order: Bits<15>,
    /// Payload bytes accepted, wrapping.
    pub bytes: Bits<32>,
    /// RC: bytes of the message in progress, and messages completed, wrapping.
    pub message_bytes: Bits<32>,
    pub messages: Bits<24>,
    /// RQMSN of the oldest WRITE with immediate not delivered.
    pub front: Bits<16>,
    /// Slots of the stash in use, by the low bits of the RQMSN.
    pub held: Bits<16>,
    /// WRITEs with immediate that are whole, wrapping.
    pub count: Bits<32>,
    /// An event is due when `count` reaches `threshold`.
    pub armed: Bit,
    pub threshold: Bits<32>,
    pub coalescing: Coalescing,
}

/// The newest entropy value of a plane that is known to be good.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct GoodPath {
    pub known: Bit,
    pub entropy: Bits<32>,
}

/// An operation beside the state of its queue pair.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Looked {
    pub operation: Operation,
    /// Before the operation, but for the one that it follows.
    pub state: ReceiveState,
    /// The operation before it is a packet of the same queue pair: its state, one stage ahead, is the newest.
    pub follows: Bit,
    /// An MRC packet that the stash cannot have to do with: accounting for it makes its state final.
    pub plain: Bit,
    /// All but the counts of CC_STATE.
    pub answer: TxAnswer,
    /// The answer says that the queue pair is in error.
    pub fatal: Bit,
    pub compared: Compared,
}

/// A packet accounted for: `state` is after it, but for what its immediate changes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Accounted {
    pub operation: Operation,
    pub state: ReceiveState,
    pub answer: TxAnswer,
    pub answers: Bit,
    /// The answer tells of a word that was pending.
    pub tells_pending: Bit,
    pub told: Pending,
    /// What the packet changes of what is pending.
    pub changed: Changed,
    /// The queue pair had failed before.
    pub ignored: Bit,
    /// The queue pair fails with this packet.
    pub fails: Bit,
    /// Too many WRITEs with immediate.
    pub exceeded: Bit,
    /// An MRC packet accepted.
    pub notes_psn: Bit,
    /// The last packet of an RC message.
    pub ends_message: Bit,
    /// As before, of a WRITE with immediate.
    pub delivers: Bit,
    /// The stash has to do with the packet: a WRITE with immediate arrives, is one packet nearer to whole, or may be delivered.
    pub stashes: Bit,
    /// The packet may belong to a message in the stash.
    pub counts_down: Bit,
}

/// An event: the counter of WRITEs with immediate of a queue pair has reached the armed threshold.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ThresholdReached {
    pub qp: Bits<10>,
    pub count: Bits<32>,
}

/// An operation that is through: what leaves.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Settled {
    /// After it.
    pub state: ReceiveState,
    pub answer: TxAnswer,
    pub answered: Bit,
    /// A WRITE with immediate over RC.
    pub completed: Bit,
    pub completion: Completion,
    /// `state.count` has reached the threshold.
    pub reached: Bit,
}

/// What the stash is told of a packet.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct StashRequest {
    pub qp: Bits<10>,
    pub psn: Bits<24>,
    /// First PSN missing after the packet.
    pub epsn: Bits<24>,
    pub mtu_log2: Bits<4>,
    pub completions: Bit,
    pub touched: Bits<32>,
    pub front: Bits<16>,
    pub held: Bits<16>,
    /// The packet ends a WRITE with immediate.
    pub has_immediate: Bit,
    /// The packet may belong to a message in the stash.
    pub counts_down: Bit,
    pub immediate: Bits<32>,
    /// Bytes of the message.
    pub length: Bits<32>,
    pub msn: Bits<16>,
    pub rqmsn: Bits<16>,
}

/// What became of it.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct StashResponse {
    /// All packets of a WRITE with immediate have arrived with this one.
    pub whole: Bit,
    pub front: Bits<16>,
    pub held: Bits<16>,
}

/// A WRITE with immediate whose last packet has arrived.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Stashed {
    pub immediate: Bits<32>,
    /// Bytes of the message.
    pub length: Bits<32>,
    pub msn: Bits<16>,
    /// First and last PSN of the message.
    pub first: Bits<24>,
    pub last: Bits<24>,
    /// Packets of the message that have not arrived.
    pub missing: Bits<11>,
}

/// PSNs to look up in the ring, by their low 11 bits.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct MissingQuery {
    pub qp: Bits<10>,
    pub touched: Bits<32>,
    pub from: Bits<11>,
    /// One after the last.
    pub to: Bits<11>,
    /// How many: 0 to 1,023.
    pub count: Bits<11>,
}
