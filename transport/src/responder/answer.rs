//! Answers and completions of one queue pair's receive side.

use stellar_wire::config::{MPR_UNIT, RECEIVE_WINDOW};
use stellar_wire::host::{Cqe, CqeOpcode, WcStatus};
use stellar_wire::mrc::{CcState, Entropy, Neth, PathHint, Peth, Seth};
use stellar_wire::time::{visit_period_log2, visit_step_log2, REPEATED_ANSWER_EPOCH_LOG2};
use stellar_wire::{Aeth, Syndrome};

use super::coalescer::{Arrival, Coalescer, Word};
use super::{Arrived, ImmCounter, Immediates, WimmExceeded};
use crate::requester::{CompletionQueue, QpIdentity};
use crate::rx::{AckBody, AckRequest, ControlBody, PacketHeaders, Psn, PsnTrack, QpMode};
use crate::time::Ticks;

/// A control packet ready to be framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub psn: Psn,
    pub body: ControlBody,
    /// Entropy value of the packet that is answered. The answer takes it as long as no entropy value is known to be good.
    pub reflected: Entropy,
}

/// Receive side of one queue pair, behind the lane.
#[derive(Clone, Debug)]
pub struct Responder {
    qp: QpIdentity,
    immediates: Immediates,
    counter: ImmCounter,
    coalescer: Coalescer,
    /// WRITEs with immediate make completions.
    completions: bool,
    /// First PSN missing before the current packet.
    expected: Psn,
    /// Packets accepted out of order. A SACK carries 15 bits of it.
    out_of_order: u64,
    /// Payload bytes accepted, modulo 2^32; a SACK carries bits 31:8.
    bytes: u32,
    /// RC: bytes of the message in progress, and messages completed (24 bits).
    message_bytes: u32,
    messages: u32,
    /// Packets that the peer may have in flight, in units of [`MPR_UNIT`].
    mpr: u8,
    /// The last answer to a duplicate that has nothing but the cumulative PSN to say: its epoch and this PSN.
    repeated: Option<(u16, Psn)>,
    /// Entropy value and time stamp of the newest packet accepted over MRC.
    newest: (Entropy, u16),
}

/// Offset, from the cumulative PSN, of the PSN that a SACK of a visit names. At most [`MAX_SACK_EVERY`](super::MAX_SACK_EVERY) - 1 packets are pending, so this one has mostly been reported before: a sender
/// that finds the time of transmission by the PSN does not take the wait for the visit for a round trip.
const OLD_PACKET: i16 = -63;

impl Responder {
    /// Length of an epoch of answers to duplicates ([`Self::repeats`]).
    pub const REPEATED: Ticks = Ticks(1 << REPEATED_ANSWER_EPOCH_LOG2);

    /// Makes a receive side that expects the PSN `first` and stashes up to `max_wimm` immediates. With `completions` it completes them. It sends a
    /// SACK for every `sack_every` packets (1 to [`MAX_SACK_EVERY`](super::MAX_SACK_EVERY)) that do not request one.
    pub fn new(
        qp: QpIdentity,
        first: Psn,
        max_wimm: u16,
        completions: bool,
        sack_every: u8,
    ) -> Self {
        Self {
            qp,
            immediates: Immediates::new(max_wimm),
            counter: ImmCounter::default(),
            coalescer: Coalescer::new(first, sack_every),
            completions,
            expected: first,
            out_of_order: 0,
            bytes: 0,
            message_bytes: 0,
            messages: 0,
            mpr: (RECEIVE_WINDOW / MPR_UNIT) as u8,
            repeated: None,
            newest: (Entropy::default(), 0),
        }
    }

    /// With a window of this many packets on its card, in place of [`RECEIVE_WINDOW`]. SACKs say it.
    #[must_use]
    pub const fn with_window(mut self, window: u32) -> Self {
        self.mpr = (window / MPR_UNIT) as u8;
        self
    }

    /// MRC packets accepted that did not arrive right behind the packet before.
    pub const fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    /// Counter of WRITEs with immediate.
    pub const fn counter(&self) -> &ImmCounter {
        &self.counter
    }

    /// Counter of WRITEs with immediate.
    pub fn counter_mut(&mut self) -> &mut ImmCounter {
        &mut self.counter
    }

    /// Records a packet that the lane has accepted. `track` is the state after it. Returns whether the immediate counter has reached its threshold.
    ///
    /// # Errors
    /// [`WimmExceeded`]: the queue pair must move to the error state, and the packet must be answered with a fatal NACK.
    pub fn accept(
        &mut self,
        packet: &PacketHeaders,
        track: &PsnTrack,
        cq: &mut CompletionQueue,
    ) -> Result<bool, WimmExceeded> {
        self.bytes = self.bytes.wrapping_add(packet.payload_length.into());
        match packet.mode {
            QpMode::Rc => Ok(self.accept_rc(packet, cq)),
            QpMode::Mrc => self.accept_mrc(packet, track, cq),
        }
    }

    fn accept_rc(&mut self, packet: &PacketHeaders, cq: &mut CompletionQueue) -> bool {
        if packet.position.starts() {
            self.message_bytes = 0;
        }
        // A message has at most 2^31 bytes, but a sender may break that rule.
        self.message_bytes = self
            .message_bytes
            .wrapping_add(packet.payload_length.into());
        if !packet.position.ends() {
            return false;
        }
        let msn = self.messages;
        self.messages = (msn + 1) % (1 << 24);
        let Some(immediate) = packet.immediate else {
            return false;
        };
        self.deliver(immediate, self.message_bytes, msn, cq);
        self.counter.increment()
    }

    fn accept_mrc(
        &mut self,
        packet: &PacketHeaders,
        track: &PsnTrack,
        cq: &mut CompletionQueue,
    ) -> Result<bool, WimmExceeded> {
        if packet.psn != self.expected {
            self.out_of_order += 1;
        }
        self.expected = track.epsn();
        let whole = self
            .immediates
            .arrive(packet, self.qp.mtu, |psn| track.received(psn))?;
        let reached = whole > 0 && self.counter.increment();
        while let Some(arrived) = self.immediates.deliver(self.expected) {
            let Arrived {
                immediate,
                length,
                msn,
                ..
            } = arrived;
            self.deliver(immediate, length, msn.into(), cq);
        }
        Ok(reached)
    }

    fn deliver(&self, immediate: u32, byte_len: u32, msn: u32, cq: &mut CompletionQueue) {
        if self.completions {
            cq.push(Cqe {
                status: WcStatus::Success,
                opcode: CqeOpcode::RecvRdmaWithImm,
                phase: false,
                qp: self.qp.local,
                wr_id: 0,
                byte_len,
                immediate,
                msn,
                sq_head: 0,
            });
        }
    }

    /// The acknowledgement to send now for an accepted packet, given the one that the lane requests.
    pub fn coalesce(&mut self, packet: &PacketHeaders, request: &AckRequest) -> Option<AckRequest> {
        let AckBody::Sack {
            psn,
            cack_psn,
            bitmap_base,
            bitmap,
        } = request.body
        else {
            return Some(*request);
        };
        self.newest = (request.entropy, request.timestamp.unwrap_or_default());
        let told = self.coalescer.arrive(&Arrival {
            psn,
            asks: packet.ack_req,
            ecn_ce: packet.ecn_ce,
            cack: cack_psn,
            word: Word {
                base: bitmap_base,
                bitmap,
            },
        })?;
        Some(AckRequest {
            body: AckBody::Sack {
                psn,
                cack_psn,
                bitmap_base: told.base,
                bitmap: told.bitmap,
            },
            ..*request
        })
    }

    /// When the pending packets are visited next, if there are any, in a card of 2^`queue_pair_bits` queue pairs.
    pub fn next_visit(&self, now: Ticks, queue_pair_bits: usize) -> Option<Ticks> {
        let period = 1 << visit_period_log2(queue_pair_bits);
        let offset = self.qp.local << visit_step_log2(queue_pair_bits);
        let gone = now.0.wrapping_sub(offset) % period;
        let pending = self.coalescer.is_pending();
        pending.then(|| now.plus(Ticks(period - gone)))
    }

    /// The port by which the answer to a visit leaves. They alternate: a port may be dead at the far end.
    pub const fn visit_port(now: Ticks, queue_pair_bits: usize) -> usize {
        (now.0 >> visit_period_log2(queue_pair_bits) & 1) as usize
    }

    /// Visits the pending packets. Returns the SACK of those that have been pending since the visit before.
    pub fn visit(&mut self) -> Option<Answer> {
        let cack = self.expected.previous();
        let told = self.coalescer.visit(cack)?;
        let (entropy, timestamp) = self.newest;
        let seth = Seth {
            ack_psn_offset: OLD_PACKET,
            entropy,
            ..self.seth(cack, told.base, told.bitmap)
        };
        Some(Answer {
            psn: cack,
            body: ControlBody::Sack {
                seth,
                cc: self.cc_state(Some(timestamp)),
            },
            reflected: entropy,
        })
    }

    /// Whether the acknowledgement of a packet that was not accepted is left out. All that the acknowledgement of a duplicate before the cumulative PSN says is this PSN, and another
    /// one of the same epoch has said it. Otherwise packets that someone sends again and again would keep the card busy with answers.
    pub fn repeats(&mut self, request: &AckRequest, now: Ticks) -> bool {
        let cumulative = match request.body {
            AckBody::Ack { psn, .. } => psn,
            AckBody::Sack { psn, cack_psn, .. } if !cack_psn.is_behind(psn) => cack_psn,
            _ => return false,
        };
        let epoch = (now.0 / Self::REPEATED.0) as u16;
        let said = Some((epoch, cumulative));
        self.repeated.replace((epoch, cumulative)) == said
    }

    /// Headers of an answer.
    pub fn answer(&self, request: &AckRequest) -> Answer {
        let body = match request.body {
            AckBody::Ack { msn, .. } => ControlBody::Ack(Aeth {
                msn,
                ..Aeth::default()
            }),
            AckBody::Nak { msn, code, .. } => ControlBody::Ack(Aeth {
                syndrome: Syndrome::Nak(code),
                msn,
            }),
            AckBody::Sack {
                psn,
                cack_psn,
                bitmap_base,
                bitmap,
            } => ControlBody::Sack {
                seth: Seth {
                    path_hint: path_hint(request.ecn_ce),
                    ack_psn_offset: offset(psn, cack_psn).unwrap_or(0),
                    entropy: request.entropy,
                    ..self.seth(cack_psn, bitmap_base, bitmap)
                },
                cc: self.cc_state(request.timestamp),
            },
            AckBody::Nack { psn, reason } => ControlBody::Nack(Neth {
                reason,
                entropy: request.entropy,
                src_context: self.qp.local as u16,
                dst_context: self.qp.peer as u16,
                nack_psn: psn.value(),
                tx_timestamp: request.timestamp.unwrap_or_default(),
                ..Neth::default()
            }),
        };
        Answer {
            psn: request.body.psn(),
            body,
            reflected: request.entropy,
        }
    }

    /// Answer to a probe that took the path `entropy`, marked or not: a SACK with the state of the window.
    pub fn answer_probe(
        &self,
        probe: &Peth,
        entropy: Entropy,
        ecn_ce: bool,
        track: &PsnTrack,
    ) -> Answer {
        let (base, bitmap) = track.bitmap_around(track.epsn());
        let seth = Seth {
            path_hint: path_hint(ecn_ce),
            probe_response: true,
            ack_psn_offset: probe.probe_id as i16,
            entropy,
            ..self.seth(track.epsn().previous(), base, bitmap)
        };
        Answer {
            psn: track.epsn().previous(),
            body: ControlBody::Sack {
                seth,
                cc: self.cc_state(Some(probe.timestamp.tx_timestamp)),
            },
            reflected: entropy,
        }
    }

    /// SETH of a window: contexts, cumulative PSN and bitmap.
    fn seth(&self, cack: Psn, base: Psn, bitmap: u64) -> Seth {
        // A duplicate may be so old that its distance has no code. The 64 packets up to the cumulative one have arrived
        // in any case, so the SACK names those.
        let (sack_offset, bitmap) =
            offset(base, cack).map_or((-63, u64::MAX), |offset| (offset, bitmap));
        Seth {
            src_context: self.qp.local as u16,
            dst_context: self.qp.peer as u16,
            cack_psn: cack.value(),
            mpr: self.mpr,
            sack_offset,
            bitmap,
            ..Seth::default()
        }
    }

    fn cc_state(&self, timestamp: Option<u16>) -> CcState {
        CcState {
            tx_timestamp: timestamp.unwrap_or_default(),
            ooo_count: (self.out_of_order % (1 << 15)) as u16,
            restore_cwnd: false,
            rcv_cwnd_pen: 0,
            rcvd_bytes: self.bytes >> 8,
        }
    }
}

const fn path_hint(ecn_ce: bool) -> PathHint {
    if ecn_ce {
        PathHint::SkipOnce
    } else {
        PathHint::Good
    }
}

/// The signed 16-bit distance from `origin` to a PSN, if there is one.
fn offset(psn: Psn, origin: Psn) -> Option<i16> {
    let ahead = psn.distance_from(origin) as i32;
    let signed = if psn.is_behind(origin) {
        ahead - Psn::MODULUS as i32
    } else {
        ahead
    };
    signed.try_into().ok()
}
