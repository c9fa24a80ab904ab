//! Reliable connection order: expected PSN, message in progress, running address.

use hdl_macros::hdl;
use hdl_primitives::ram::BypassRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{AddressedToken, QpToken, RcClass};
use stellar_wire::hw::frame::{DropReason, Position};
use stellar_wire::mtu::LENGTH_BITS;

use crate::rc_length::{path_mtu, payload_fits};
use crate::token_kind::{is_packet, row_of, writes_qp};

/// Clocks from `in_valid` to `out_valid`.
pub const LATENCY: usize = 3;

/// Cycles between two tokens of one queue pair of which one is an RC packet or writes the context: the time to read, decide and write the state.
pub const SPACING: usize = 3;

/// Order state of one queue pair (1,024 rows).
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RcState {
    /// PSN of the next packet in order.
    pub epsn: Bits<24>,
    /// Messages completed: AETH.MSN.
    pub msn: Bits<24>,
    /// A first packet was accepted, its last was not yet.
    pub in_message: Bit,
    /// Address of the next payload of the message.
    pub va: Bits<64>,
    pub rkey: Bits<32>,
    /// Bytes of the message not yet received.
    pub left: Bits<32>,
    /// A NAK was sent for the open gap.
    pub nak_sent: Bit,
}

/// A token whose state is being read, and the checks that need only the packet: register after the stage `look`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Looked {
    token: QpToken,
    /// RC packet without a reason so far: the only kind that touches the state.
    is_rc: Bit,
    /// MRC data packet without a reason so far: its length rules are checked here.
    is_mrc: Bit,
    writes_qp: Bit,
    row: Bits<10>,
    starts: Bit,
    ends: Bit,
    fits: Bit,
    mtu: Bits<32>,
}

/// A token compared with its state, with the results for both outcomes: register after the stage `judge`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Judged {
    looked: Looked,
    state: RcState,
    expected: Bit,
    behind: Bit,
    in_sequence: Bit,
    fits: Bit,
    va: Bits<64>,
    rkey: Bits<32>,
    next_epsn: Bits<24>,
    next_msn: Bits<24>,
    next_va: Bits<64>,
    next_left: Bits<32>,
}

/// Tracks the packets of reliable connections, and checks the payload lengths of both modes.
///
/// One token per clock; two tokens of one queue pair at least [`SPACING`] clocks apart, but for MRC packets, which change nothing here. A
/// token that writes a queue pair's context carries that context in `qp` (from `qp_fetch`) and initialises its state.
///
/// The state is read in cycle t, visible in t + 1 (`judge`) and written in t + 2 (`decide`).
/// Levels planned: `look` 6 (decode MTU, compare, choose by position), `judge` 5 (24-bit equality; adders on carry chains),
/// `decide` 4 (class, reason, choice of outcome).
#[derive(LogicBlock, Default)]
pub struct RcTrack {
    pub clock: Signal<In, Clock>,
    // From qp_fetch.
    pub in_valid: Signal<In, Bit>,
    pub in_token: Signal<In, QpToken>,
    // To mr_check.
    pub out_valid: Signal<Out, Bit>,
    pub out_token: Signal<Out, AddressedToken>,

    states: BypassRam<RcState, 10>,
    looked_valid: DFF<Bit>,
    looked: DFF<Looked>,
    judged_valid: DFF<Bit>,
    judged: DFF<Judged>,
    decided_valid: DFF<Bit>,
    decided: DFF<AddressedToken>,
}

impl Logic for RcTrack {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            looked_valid,
            looked,
            judged_valid,
            judged,
            decided_valid,
            decided
        );
        self.states.clock.next = self.clock.val();

        // look: read the state; do the checks that need only the packet.
        let token = self.in_token.val();
        let headers = token.token.headers;
        let takes_part = is_packet(token.token.kind) & (token.reason == DropReason::None);
        let row = row_of(token.token);
        let mtu = path_mtu(token.qp.mtu_log2);
        self.states.read_address.next = row;
        self.looked_valid.d.next = self.in_valid.val();
        self.looked.d.next = Looked {
            token,
            is_rc: takes_part & !headers.mrc,
            is_mrc: takes_part & headers.mrc & !headers.probe,
            writes_qp: writes_qp(token.token),
            row,
            starts: (headers.position == Position::First) | (headers.position == Position::Only),
            ends: (headers.position == Position::Last) | (headers.position == Position::Only),
            fits: payload_fits(headers, mtu),
            mtu,
        };

        // judge: compare the packet with the state.
        let looked = self.looked.q.val();
        let headers = looked.token.token.headers;
        let state = self.states.read_data.val();
        let payload = bit_cast::<32, LENGTH_BITS>(headers.payload_length);
        let ahead = headers.psn - state.epsn;
        let continues = looked.is_rc & !looked.starts & state.in_message;
        let fits_message = match headers.position {
            Position::Middle => state.left > looked.mtu,
            Position::Last => state.left == payload,
            _ => true,
        };
        let va = if continues { state.va } else { headers.va };
        let left = if looked.starts {
            headers.dma_length
        } else {
            state.left
        };
        self.judged_valid.d.next = self.looked_valid.q.val();
        self.judged.d.next = Judged {
            looked,
            state,
            expected: headers.psn == state.epsn,
            behind: ahead.get_bit(23),
            in_sequence: looked.starts ^ state.in_message,
            fits: looked.fits & (looked.is_mrc | fits_message),
            va,
            rkey: if continues { state.rkey } else { headers.rkey },
            next_epsn: state.epsn + 1,
            next_msn: state.msn + 1,
            next_va: va + bit_cast::<64, LENGTH_BITS>(headers.payload_length),
            next_left: left - payload,
        };

        // decide: class, reason, new state.
        let judged = self.judged.q.val();
        let looked = judged.looked;
        let state = judged.state;
        let is_expected = looked.is_rc & judged.expected;
        let refused = looked.token.token.headers.refused;
        let accepted = is_expected & judged.in_sequence & judged.fits & !refused;
        let is_gap = looked.is_rc & !judged.expected & !judged.behind;
        let rc_class = if !looked.is_rc {
            RcClass::NotRc
        } else if judged.expected {
            RcClass::Expected
        } else if judged.behind {
            RcClass::Duplicate
        } else if state.nak_sent {
            RcClass::GapAgain
        } else {
            RcClass::Gap
        };
        let reason = if is_expected & refused {
            DropReason::UnsupportedOpcode
        } else if is_expected & !judged.in_sequence {
            DropReason::BadSequence
        } else if (is_expected | looked.is_mrc) & !judged.fits {
            DropReason::BadPayloadLength
        } else {
            looked.token.reason
        };
        let completes = accepted & looked.ends;
        let next = RcState {
            epsn: if accepted {
                judged.next_epsn
            } else {
                state.epsn
            },
            msn: if completes {
                judged.next_msn
            } else {
                state.msn
            },
            in_message: if accepted {
                !looked.ends
            } else {
                state.in_message
            },
            va: if accepted { judged.next_va } else { state.va },
            rkey: if accepted { judged.rkey } else { state.rkey },
            left: if accepted {
                judged.next_left
            } else {
                state.left
            },
            nak_sent: !accepted & (state.nak_sent | is_gap),
        };
        let fresh = RcState {
            epsn: looked.token.qp.initial_psn,
            msn: bits::<24>(0),
            in_message: false,
            va: bits::<64>(0),
            rkey: bits::<32>(0),
            left: bits::<32>(0),
            nak_sent: false,
        };
        self.states.write_enable.next =
            self.judged_valid.q.val() & (looked.writes_qp | looked.is_rc);
        self.states.write_address.next = looked.row;
        self.states.write_data.next = if looked.writes_qp { fresh } else { next };
        self.decided_valid.d.next = self.judged_valid.q.val();
        self.decided.d.next = AddressedToken {
            token: looked.token.token,
            qp: looked.token.qp,
            reason,
            rc_class,
            rc_epsn: next.epsn,
            rc_msn: next.msn,
            va: judged.va,
            rkey: judged.rkey,
        };
        self.out_valid.next = self.decided_valid.q.val();
        self.out_token.next = self.decided.q.val();
    }
}
