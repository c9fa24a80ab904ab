//! Counters of the queue pairs, as the card shows them.

use stellar_wire::host::{QpCounter, QpCounters};
use stellar_wire::mrc::{NackReason, PathHint};
use stellar_wire::{NakCode, Syndrome};

use super::{Endpoint, Memory};
use crate::responder::Answer;
use crate::rx::{ControlBody, DropReason, PacketHeaders};

/// The counter of a packet about which the lane has decided. `answered`: a packet that breaks a rule of the transport is answered, unless the rule is one of the
/// frame: then no queue pair counts it.
const fn counter_of(reason: DropReason, answered: bool) -> Option<QpCounter> {
    match reason {
        DropReason::None => Some(QpCounter::PacketsReceived),
        DropReason::Duplicate => Some(QpCounter::Duplicates),
        DropReason::PsnGap => Some(QpCounter::PsnGaps),
        DropReason::PsnOutsideWindow => Some(QpCounter::OutsideWindow),
        DropReason::BadPayloadLength | DropReason::BadSequence | DropReason::UnsupportedOpcode
            if answered =>
        {
            Some(QpCounter::InvalidRequests)
        }
        DropReason::BadKey
        | DropReason::WrongPd
        | DropReason::NoWriteRight
        | DropReason::OutOfBounds
        | DropReason::InvalidPage => Some(QpCounter::AccessRefused),
        DropReason::PageAbsent => Some(QpCounter::PagesAbsent),
        DropReason::WrongState => Some(QpCounter::WrongState),
        DropReason::WrongMode | DropReason::BadPkey => Some(QpCounter::Refused),
        _ => None,
    }
}

/// Counters of the receive side of a queue pair: those that are not zero, which are few.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceiveCounts(Vec<(QpCounter, u64)>);

impl ReceiveCounts {
    /// Asks for the memory of the counters ([`stellar_fetch`]).
    pub fn fetch(&self) {
        stellar_fetch::fetch_at(&self.0, 0);
    }

    /// Counts `count` more.
    #[inline]
    fn add(&mut self, counter: QpCounter, count: u64) {
        if count > 0 {
            self.add_some(counter, count);
        }
    }

    fn add_some(&mut self, counter: QpCounter, count: u64) {
        if let Some((_, value)) = self.0.iter_mut().find(|(of, _)| *of == counter) {
            *value += count;
        } else {
            self.0.push((counter, count));
        }
    }
}

impl<M: Memory> Endpoint<M> {
    /// Every counter of a queue pair, as the card's registers show it.
    pub fn all_qp_counters(&self, number: u32) -> Option<QpCounters> {
        let qp = self.qps.get(number)?;
        let mut all = QpCounters::default();
        for &(counter, value) in &qp.received.0 {
            all.set(counter, value);
        }
        all.set(QpCounter::OutOfOrder, qp.responder.out_of_order());
        qp.requester.counters().put(&mut all);
        Some(all)
    }

    /// Counts a data packet for its queue pair.
    pub(super) fn count_data(
        &mut self,
        headers: &PacketHeaders,
        reason: DropReason,
        answered: bool,
    ) {
        let Some(qp) = self.qps.get_mut(headers.dest_qp) else {
            return;
        };
        let Some(counter) = counter_of(reason, answered) else {
            return;
        };
        qp.received.add(counter, 1);
        if counter == QpCounter::PacketsReceived {
            let bytes = headers.payload_length.into();
            qp.received.add(QpCounter::BytesReceived, bytes);
        }
        if !matches!(counter, QpCounter::WrongState | QpCounter::Refused) {
            qp.received.add(QpCounter::EcnMarked, headers.ecn_ce.into());
        }
    }

    /// Counts a probe that is answered.
    pub(super) fn count_probe(&mut self, number: u32, ecn_ce: bool) {
        if let Some(qp) = self.qps.get_mut(number) {
            qp.received.add(QpCounter::ProbesReceived, 1);
            qp.received.add(QpCounter::EcnMarked, ecn_ce.into());
        }
    }

    /// Counts an answer that is sent.
    pub(super) fn count_answer(&mut self, number: u32, answer: &Answer) {
        let Some(qp) = self.qps.get_mut(number) else {
            return;
        };
        let counter = match &answer.body {
            ControlBody::Ack(aeth) => match aeth.syndrome {
                Syndrome::Nak(NakCode::PsnSequenceError) => QpCounter::NaksSequence,
                Syndrome::Nak(NakCode::InvalidRequest) => QpCounter::NaksInvalid,
                Syndrome::Nak(NakCode::RemoteAccessError) => QpCounter::NaksAccess,
                _ => QpCounter::AcksSent,
            },
            ControlBody::Sack { seth, .. } => {
                let echoes = seth.path_hint == PathHint::SkipOnce;
                qp.received.add(QpCounter::EcnEchoed, echoes.into());
                QpCounter::SacksSent
            }
            ControlBody::Nack(neth) if neth.reason == NackReason::UnexpectedEvent => {
                QpCounter::NacksUnexpected
            }
            ControlBody::Nack(_) => QpCounter::NacksOutsideWindow,
            // It is not the answer to a packet, and the card sends no Transport ACK.
            ControlBody::Probe(_) | ControlBody::TransportAck(_) => return,
        };
        qp.received.add(counter, 1);
    }
}
