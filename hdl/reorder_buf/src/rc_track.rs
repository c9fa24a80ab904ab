//! Reliable connection order: expected PSN, message in progress, running address.

use hdl_macros::hdl;
use hdl_primitives::{QuickBypassRam, TokenFlowSnk, TokenFlowSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{AddressedToken, QpToken, RcClass};
use stellar_wire::hw::frame::{DropReason, Position};
use stellar_wire::hw::{Psn, Qpn};
use stellar_wire::mtu::LENGTH_BITS;

use crate::rc_length::{path_mtu, payload_fits};
use crate::token_kind::{is_packet, row_of, writes_qp};

/// Cycles from `in_` to `out`.
pub const LATENCY: usize = 3;

/// Cycles between two tokens of one queue pair of which one is an RC packet or writes the context: the time to read, decide and write the state.
pub const SPACING: usize = 3;

/// Order state of one queue pair (2^`Q` rows).
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RcState {
    /// PSN of the next packet in order.
    pub epsn: Psn,
    /// Messages completed: AETH.MSN.
    pub msn: Bits<24>,
    /// The first packet of a message was accepted, and its last packet was not.
    pub in_message: Bit,
    /// Address of the next payload of the message.
    pub va: Bits<64>,
    pub rkey: Bits<32>,
    /// Bytes of the message not yet received.
    pub left: Bits<32>,
    /// A NAK was sent for the open gap.
    pub nak_sent: Bit,
}

/// A token whose state is being read, and the checks that need only the packet: register after the stage `lookup`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct LookupReg {
    token: QpToken,
    /// RC packet without a reason so far: the only kind that touches the state.
    is_rc: Bit,
    /// MRC data packet without a reason so far: its length rules are checked here.
    is_mrc: Bit,
    writes_qp: Bit,
    row: Qpn,
    starts: Bit,
    ends: Bit,
    fits: Bit,
    mtu: Bits<32>,
}

/// A token compared with its state, with the results for both outcomes: register after the stage `compare`.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct CompareReg {
    looked_up: LookupReg,
    state: RcState,
    expected: Bit,
    behind: Bit,
    in_sequence: Bit,
    /// More bytes of the message are left than the path MTU; exactly those of the packet.
    more_left: Bit,
    exact_left: Bit,
    va: Bits<64>,
    rkey: Bits<32>,
    next_epsn: Psn,
    next_msn: Bits<24>,
    next_va: Bits<64>,
    next_left: Bits<32>,
}

/// Tracks the packets of reliable connections, and checks the payload lengths of both modes. A probe changes nothing; it takes the expected PSN along.
///
/// It takes one token per cycle. Two tokens of one queue pair are at least [`SPACING`] cycles apart, except MRC packets, which change nothing here. A
/// token that writes a queue pair's context carries that context in `qp` (from `qp_fetch`) and initialises its state.
///
/// The state is read in cycle t, compared in t + 1 (`compare`) and written in t + 2 (`decide`).
/// Levels planned: `lookup` 6 (decode MTU, compare, choose by position), `compare` 3, behind a block RAM (32-bit equality; adders on carry chains),
/// `decide` 6 (length, class, reason, choice of outcome).
#[derive(LogicBlock, Default)]
pub struct RcTrack<const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    pub in_: TokenFlowSnk<QpToken>,
    pub out: TokenFlowSrc<AddressedToken>,

    states: QuickBypassRam<RcState, Q>,
    looked_up_valid: DFF<Bit>,
    looked_up: DFF<LookupReg>,
    compared_valid: DFF<Bit>,
    compared: DFF<CompareReg>,
    decided_valid: DFF<Bit>,
    decided: DFF<AddressedToken>,
}

impl<const Q: usize> Logic for RcTrack<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            looked_up_valid,
            looked_up,
            compared_valid,
            compared,
            decided_valid,
            decided
        );
        self.states.clock.next = self.clock.val();

        // lookup: read the state; do the checks that need only the packet.
        let token = self.in_.token.val();
        let headers = token.token.headers;
        let takes_part = is_packet(token.token.kind) & (token.reason == DropReason::None);
        let row = row_of::<Q>(token.token);
        let mtu = path_mtu(token.qp.mtu_log2);
        self.states.read_address.next = row.get_bits::<Q>(0);
        self.looked_up_valid.d.next = self.in_.valid.val();
        self.looked_up.d.next = LookupReg {
            token,
            is_rc: takes_part & !headers.mrc & !headers.probe,
            is_mrc: takes_part & headers.mrc & !headers.probe,
            writes_qp: writes_qp::<Q>(token.token),
            row,
            starts: (headers.position == Position::First) | (headers.position == Position::Only),
            ends: (headers.position == Position::Last) | (headers.position == Position::Only),
            fits: payload_fits(headers, mtu),
            mtu,
        };

        // compare: compare the packet with the state.
        let looked_up = self.looked_up.q.val();
        let headers = looked_up.token.token.headers;
        let state = self.states.read_data.val();
        let payload = bit_cast::<32, LENGTH_BITS>(headers.payload_length);
        let ahead = headers.psn - state.epsn;
        let continues = looked_up.is_rc & !looked_up.starts & state.in_message;
        let va = if continues { state.va } else { headers.va };
        let left = if looked_up.starts {
            headers.dma_length
        } else {
            state.left
        };
        self.compared_valid.d.next = self.looked_up_valid.q.val();
        self.compared.d.next = CompareReg {
            looked_up,
            state,
            expected: headers.psn == state.epsn,
            behind: ahead.get_bit(23),
            in_sequence: looked_up.starts ^ state.in_message,
            more_left: state.left > looked_up.mtu,
            exact_left: state.left == payload,
            va,
            rkey: if continues { state.rkey } else { headers.rkey },
            next_epsn: state.epsn + 1,
            next_msn: state.msn + 1,
            next_va: va + bit_cast::<64, LENGTH_BITS>(headers.payload_length),
            next_left: left - payload,
        };

        // decide: class, reason, new state.
        let compared = self.compared.q.val();
        let looked_up = compared.looked_up;
        let state = compared.state;
        let is_expected = looked_up.is_rc & compared.expected;
        let fits_message = match looked_up.token.token.headers.position {
            Position::Middle => compared.more_left,
            Position::Last => compared.exact_left,
            _ => true,
        };
        let fits = looked_up.fits & (looked_up.is_mrc | fits_message);
        let refused = looked_up.token.token.headers.refused;
        let accepted = is_expected & compared.in_sequence & fits & !refused;
        let is_gap = looked_up.is_rc & !compared.expected & !compared.behind;
        let rc_class = if !looked_up.is_rc {
            RcClass::NotRc
        } else if compared.expected {
            RcClass::Expected
        } else if compared.behind {
            RcClass::Duplicate
        } else if state.nak_sent {
            RcClass::GapAgain
        } else {
            RcClass::Gap
        };
        let reason = if is_expected & refused {
            DropReason::UnsupportedOpcode
        } else if is_expected & !compared.in_sequence {
            DropReason::BadSequence
        } else if (is_expected | looked_up.is_mrc) & !fits {
            DropReason::BadPayloadLength
        } else {
            looked_up.token.reason
        };
        let completes = accepted & looked_up.ends;
        let next = RcState {
            epsn: if accepted {
                compared.next_epsn
            } else {
                state.epsn
            },
            msn: if completes {
                compared.next_msn
            } else {
                state.msn
            },
            in_message: if accepted {
                !looked_up.ends
            } else {
                state.in_message
            },
            va: if accepted { compared.next_va } else { state.va },
            rkey: if accepted { compared.rkey } else { state.rkey },
            left: if accepted {
                compared.next_left
            } else {
                state.left
            },
            nak_sent: !accepted & (state.nak_sent | is_gap),
        };
        let fresh = RcState {
            epsn: looked_up.token.qp.initial_psn,
            msn: bits::<24>(0),
            in_message: false,
            va: bits::<64>(0),
            rkey: bits::<32>(0),
            left: bits::<32>(0),
            nak_sent: false,
        };
        self.states.write_enable.next =
            self.compared_valid.q.val() & (looked_up.writes_qp | looked_up.is_rc);
        self.states.write_address.next = looked_up.row.get_bits::<Q>(0);
        self.states.write_data.next = if looked_up.writes_qp { fresh } else { next };
        self.decided_valid.d.next = self.compared_valid.q.val();
        self.decided.d.next = AddressedToken {
            token: looked_up.token.token,
            qp: looked_up.token.qp,
            reason,
            rc_class,
            rc_epsn: next.epsn,
            rc_msn: next.msn,
            va: compared.va,
            rkey: compared.rkey,
        };
        self.out.valid.next = self.decided_valid.q.val();
        self.out.token.next = self.decided.q.val();
    }
}
