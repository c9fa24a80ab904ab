//! The reference's result for a packet or a probe.

use rust_hdl::prelude::*;
use stellar_transport::rx::{
    self, AckBody, Psn, PsnTrack, QpMode, RcClass, RcOutcome, TrackedPacket,
};
use stellar_wire::hw::core::{DmaSegments, TranslatedToken};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::mrc::Meth;
use stellar_wire::{Position, Reth};

use crate::common::{headers, packet, probe, span};
use crate::psn_track::output::{ack_fields, outcome_fields, Command, Output};
use crate::psn_track::scenario::Pair;
use crate::psn_track::steps::Step;

/// Fills in the token of a packet. Returns the reference's result.
pub fn receive(pair: &mut Pair, step: &Step, count: u32, token: &mut TranslatedToken) -> Output {
    let Step::Packet {
        number,
        early,
        bad_frame,
        rc,
        late,
        access,
        length,
    } = *step
    else {
        unreachable!("only packets are received")
    };
    let psn = pair.psn(number);
    pair.past.push(psn);
    let positions = [
        Position::Only,
        Position::First,
        Position::Middle,
        Position::Last,
    ];
    let headers = rx::PacketHeaders {
        position: positions[count as usize % 4],
        reth: Some(Reth {
            dma_len: count << 8,
            ..Reth::default()
        }),
        immediate: (count % 3 == 1).then_some(!count),
        meth: Some(Meth {
            rqmsn: count as u16 ^ 0x5555,
            msn: count as u16,
        }),
        payload_length: length,
        ..headers(pair.context.mode, pair.number, psn, count)
    };
    let is_rc = pair.context.mode == QpMode::Rc;
    let (class, epsn, msn) = if is_rc { rc } else { (RcClass::NotRc, 0, 0) };
    let late = match (is_rc, class, late) {
        // MRC has no sequence of opcodes and nothing to refuse, and `rc_track` judges only packets it expects.
        (false, _, rx::DropReason::BadSequence | rx::DropReason::UnsupportedOpcode) => {
            rx::DropReason::None
        }
        (true, RcClass::Duplicate | RcClass::Gap | RcClass::GapAgain, _) => rx::DropReason::None,
        _ => late,
    };
    let early = match bad_frame {
        true => rx::DropReason::BadPayloadLength,
        false => early.unwrap_or(rx::DropReason::None),
    };
    let access = if length == 0 {
        rx::DropReason::None
    } else {
        access
    };
    let outcome = RcOutcome {
        reason: late,
        class,
        epsn: Psn::new(epsn),
        msn,
        address: rx::RcAddress::default(),
    };
    let verdict = pair.track.receive(&TrackedPacket {
        headers: &headers,
        qp_reason: early,
        rc: outcome,
        access_reason: access,
    });
    token.token = packet(&headers, count);
    if bad_frame {
        token.token.headers.reason = DropReason::BadPayloadLength;
    }
    token.qp = pair.context.to_hw();
    token.reason = if early == rx::DropReason::None {
        late
    } else {
        early
    };
    token.access_reason = access;
    token.rc_class = class;
    token.rc_epsn = u64::from(epsn).to_bits();
    token.rc_msn = u64::from(msn).to_bits();
    token.segments = DmaSegments {
        first_length: u64::from(length).to_bits(),
        first_address: u64::from(count).to_bits(),
        first_translated: count % 5 == 1,
        second_address: u64::from(!count).to_bits(),
        second_translated: false,
        has_third: count % 2 == 1,
        third_address: u64::from(count ^ 0x5555).to_bits(),
        third_translated: count % 3 == 1,
    };
    token.device = u64::from(count % 1000).to_bits();
    let to_peer = count % 5 == 1 || count % 3 == 1;
    let flush = to_peer || token.token.lane || !is_rc || verdict.answer.is_some();
    let accepted = verdict.reason == rx::DropReason::None;
    let bytes = if accepted { length.into() } else { 0 };
    let place = (bytes > 0).then(|| (58, bytes, to_words(token.segments), flush));
    let outcome = RxOutcome {
        qp: u64::from(pair.number).to_bits(),
        port: token.token.lane,
        accepted,
        mrc: !is_rc,
        position: token.token.headers.position,
        psn: u64::from(psn.value()).to_bits(),
        epsn: u64::from(if is_rc {
            epsn
        } else {
            pair.track.epsn().value()
        })
        .to_bits(),
        ack_req: headers.ack_req,
        has_immediate: headers.immediate.is_some(),
        immediate: u64::from(headers.immediate.unwrap_or_default()).to_bits(),
        msn: token.token.headers.msn,
        rqmsn: token.token.headers.rqmsn,
        dma_length: token.token.headers.dma_length,
        payload_length: u64::from(length).to_bits(),
        ack_valid: verdict.answer.is_some(),
        ..RxOutcome::default()
    };
    Output {
        command: Some(Command::Frame {
            lane: token.token.lane,
            reason: format!("{:?}", verdict.reason),
            bytes,
            span: to_words(span(count)),
            place,
        }),
        outcome: (accepted || verdict.answer.is_some()).then(|| outcome_fields(&to_words(outcome))),
        ack: verdict.answer.map(|body: AckBody| {
            let request = rx::AckRequest {
                body,
                reason: verdict.reason,
                qp: pair.number,
                ecn_ce: headers.ecn_ce,
                entropy: headers.entropy,
                timestamp: headers.timestamp,
            };
            ack_fields(&to_words(request.to_hw()))
        }),
    }
}

/// Fills in the token of a probe. Returns the window as the reference has it.
pub fn ask(
    pair: &Pair,
    early: Option<rx::DropReason>,
    psn: u32,
    count: u32,
    token: &mut TranslatedToken,
) -> Output {
    let mode = pair.context.mode;
    let headers = headers(mode, pair.number, Psn::new(psn), count);
    token.token = probe(&headers, count);
    token.qp = pair.context.to_hw();
    let early = early.unwrap_or(rx::DropReason::None);
    token.reason = early;
    let refusal = if early == rx::DropReason::None && pair.track.in_error() {
        rx::DropReason::WrongState
    } else {
        early
    };
    let heard = refusal == rx::DropReason::None;
    let reason = if heard {
        rx::DropReason::Control
    } else {
        refusal
    };
    // RC has no window, but an expected PSN.
    let in_order = PsnTrack::new(Psn::new((psn ^ 0x5a_5a5a) & 0xff_ffff));
    token.rc_epsn = u64::from(in_order.epsn().value()).to_bits();
    let track = match mode {
        QpMode::Mrc => &pair.track,
        QpMode::Rc => &in_order,
    };
    let epsn = track.epsn();
    let (bitmap_base, bitmap) = track.bitmap_around(epsn);
    let request = rx::AckRequest {
        body: AckBody::Sack {
            psn: epsn.previous(),
            cack_psn: epsn.previous(),
            bitmap_base,
            bitmap,
        },
        reason,
        qp: pair.number,
        ecn_ce: headers.ecn_ce,
        entropy: headers.entropy,
        timestamp: Some(count as u16),
    };
    let outcome = RxOutcome {
        qp: u64::from(pair.number).to_bits(),
        port: token.token.lane,
        epsn: u64::from(epsn.value()).to_bits(),
        ack_valid: true,
        probe: true,
        probe_id: token.token.headers.msn,
        ..RxOutcome::default()
    };
    Output {
        command: Some(Command::Frame {
            lane: token.token.lane,
            reason: format!("{reason:?}"),
            bytes: 0,
            span: to_words(span(count)),
            place: None,
        }),
        ack: heard.then(|| ack_fields(&to_words(request.to_hw()))),
        outcome: heard.then(|| outcome_fields(&to_words(outcome))),
    }
}
