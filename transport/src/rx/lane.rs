//! The whole receive lane, one frame at a time.

use super::{
    check_qp, check_region, classify_frame, look_up_pages, write_tlps, AckRequest, Counters,
    DropReason, FrameOutcome, PacketHeaders, Pieces, Psn, PsnTrack, QpRow, RcAddress, RcTrack,
    RxConfig, TableError, TableWrite, Tables, TrackedPacket, WriteTlp,
};

/// Where an accepted packet's payload goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Bytes from the start of the (inner) IP header to the payload.
    pub offset: u8,
    /// Payload bytes, at least 1.
    pub length: u16,
    /// One to three.
    pub pieces: Pieces,
}

/// What the lane decides about the packet of a good frame, from its headers alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RxDecision {
    /// `None`: accepted.
    pub reason: DropReason,
    /// Set for an accepted packet that has payload, unless access is not checked.
    pub place: Option<Placement>,
    pub ack: Option<AckRequest>,
}

impl RxDecision {
    const fn drop(reason: DropReason) -> Self {
        Self {
            reason,
            place: None,
            ack: None,
        }
    }
}

/// The fate of one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RxOutcome {
    /// `None`: accepted.
    pub reason: DropReason,
    /// Headers of a good frame, whatever the fate of the packet.
    pub headers: Option<PacketHeaders>,
    /// Set for an accepted packet that has payload, unless access is not checked.
    pub place: Option<Placement>,
    /// The writes of `place`, in order.
    pub tlps: Vec<WriteTlp>,
    pub ack: Option<AckRequest>,
}

/// Packet tracking of one queue pair.
#[derive(Clone, Debug)]
struct Tracking {
    rc: RcTrack,
    psn: PsnTrack,
}

/// A receive lane.
#[derive(Clone, Debug, Default)]
pub struct RxLane {
    config: RxConfig,
    tables: Tables,
    /// Packet tracking by queue pair number, up to the highest number whose context was written.
    tracking: Vec<Option<Box<Tracking>>>,
    counters: Counters,
}

impl RxLane {
    /// A lane with the hardware's tables, empty.
    pub fn new(config: RxConfig) -> Self {
        Self::with_tables(config, Tables::default())
    }

    /// A lane with empty tables of another size.
    pub fn with_tables(config: RxConfig, tables: Tables) -> Self {
        Self {
            config,
            tables,
            ..Self::default()
        }
    }

    /// Writes a table entry. Writing a queue pair's context also restarts its packet tracking at its initial PSN.
    ///
    /// # Errors
    /// Those of [`Tables::write`].
    pub fn write_table(&mut self, write: &TableWrite) -> Result<(), TableError> {
        self.tables.write(write)?;
        if let TableWrite::Qp { index, context } = *write {
            let tracking = Tracking {
                rc: RcTrack::new(context.initial_psn),
                psn: PsnTrack::with_window(context.initial_psn, self.config.receive_window),
            };
            let index = index as usize;
            if self.tracking.len() <= index {
                self.tracking.resize(index + 1, None);
            }
            self.tracking[index] = Some(Box::new(tracking));
        }
        Ok(())
    }

    /// Puts a queue pair in state Error, its packet tracking as it is; see [`Tables::fail_qp`].
    pub fn fail_qp(&mut self, number: u32) {
        self.tables.fail_qp(number);
    }

    /// The tables as written so far.
    pub const fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Registers.
    pub const fn config(&self) -> &RxConfig {
        &self.config
    }

    /// Receive window and error state of a queue pair; `None` if its context was never written.
    pub fn psn_track(&self, qp: u32) -> Option<&PsnTrack> {
        Some(&self.tracking.get(qp as usize)?.as_ref()?.psn)
    }

    /// The PSN that a queue pair expects next over RC; `None` if its context was never written.
    pub fn rc_expected(&self, qp: u32) -> Option<Psn> {
        Some(self.tracking.get(qp as usize)?.as_ref()?.rc.expected_psn())
    }

    /// The lane's counters.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Receives a frame, given from the destination MAC address to the iCRC, that the MAC found good.
    pub fn receive(&mut self, frame: &[u8]) -> RxOutcome {
        self.receive_from_mac(frame, false)
    }

    /// Does what [`Self::receive`] does. `mac_error` says that the MAC found the frame bad.
    pub fn receive_from_mac(&mut self, frame: &[u8], mac_error: bool) -> RxOutcome {
        let classified = classify_frame(frame, mac_error, &self.config);
        self.receive_classified(frame, classified)
    }

    /// Does what [`Self::receive`] does with a frame that is classified already, as by [`super::Addressing::check`].
    pub fn receive_classified(&mut self, frame: &[u8], classified: FrameOutcome) -> RxOutcome {
        let Some(headers) = classified.headers else {
            self.refuse(classified.reason);
            return RxOutcome {
                reason: classified.reason,
                ..RxOutcome::default()
            };
        };
        let RxDecision { reason, place, ack } = self.receive_headers(&headers);
        let tlps = place.as_ref().map_or_else(Vec::new, |place| {
            let payload = headers.payload(frame);
            write_tlps(&place.pieces, payload, self.config.max_payload)
        });
        self.counters.tlps += tlps.len() as u64;
        RxOutcome {
            reason,
            headers: Some(headers),
            place,
            tlps,
            ack,
        }
    }

    /// Counts a frame that is not good.
    pub fn refuse(&mut self, reason: DropReason) {
        self.counters.count(&RxDecision::drop(reason));
    }

    /// Receives the packet of a good frame, given its headers. The caller places the payload.
    pub fn receive_headers(&mut self, headers: &PacketHeaders) -> RxDecision {
        let decision = self.decide(headers);
        self.counters.count(&decision);
        decision
    }

    #[inline(always)]
    fn decide(&mut self, headers: &PacketHeaders) -> RxDecision {
        let context = self.tables.qp(headers.dest_qp);
        let qp_reason = check_qp(headers, &context);
        // A context that was written has tracking: without it the queue pair is unknown.
        let tracking = self.tracking.get_mut(headers.dest_qp as usize);
        let Some(tracking) = tracking
            .and_then(Option::as_mut)
            .filter(|_| qp_reason == DropReason::None)
        else {
            return RxDecision::drop(qp_reason);
        };
        let rc = tracking.rc.receive(&context, headers);
        let access = translate(&self.tables, &context, headers, rc.address);
        let verdict = tracking.psn.receive(&TrackedPacket {
            headers,
            qp_reason,
            rc,
            access_reason: *access.as_ref().err().unwrap_or(&DropReason::None),
        });
        RxDecision {
            reason: verdict.reason,
            place: access
                .ok()
                .filter(|pieces| verdict.reason == DropReason::None && !pieces.is_empty())
                .map(|pieces| Placement {
                    offset: headers.payload_offset,
                    length: headers.payload_length,
                    pieces,
                }),
            ack: verdict.answer.map(|body| AckRequest {
                body,
                reason: verdict.reason,
                qp: headers.dest_qp,
                ecn_ce: headers.ecn_ce,
                entropy: headers.entropy,
                timestamp: headers.timestamp,
            }),
        }
    }
}

/// Pieces of memory a payload goes to: none if it is empty or access is not checked, whatever its key and address are.
fn translate(
    tables: &Tables,
    context: &QpRow,
    headers: &PacketHeaders,
    target: RcAddress,
) -> Result<Pieces, DropReason> {
    if headers.payload_length == 0 || !tables.checks_access() {
        return Ok(Pieces::new());
    }
    let region = check_region(tables, context, headers, target)?;
    look_up_pages(tables, &region, target.va, headers.payload_bytes())
}
