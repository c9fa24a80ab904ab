//! The whole receive lane, one frame at a time.

use std::collections::BTreeMap;

use super::{
    check_qp, check_region, classify_frame, look_up_pages, write_tlps, AckRequest, Counters,
    DropReason, PacketHeaders, Pieces, PsnTrack, QpRow, RcAddress, RcTrack, RxConfig, TableError,
    TableWrite, Tables, TrackedPacket, WriteTlp,
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

/// The fate of one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RxOutcome {
    /// `None`: accepted.
    pub reason: DropReason,
    /// Headers of a good frame, whatever the fate of the packet.
    pub headers: Option<PacketHeaders>,
    /// Set for an accepted packet that has payload.
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
    tracking: BTreeMap<u32, Tracking>,
    counters: Counters,
}

impl RxLane {
    /// A lane with empty tables.
    pub fn new(config: RxConfig) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Writes a table entry. Writing a queue pair's context also starts its packet tracking anew at its initial PSN.
    ///
    /// # Errors
    /// Those of [`Tables::write`].
    pub fn write_table(&mut self, write: &TableWrite) -> Result<(), TableError> {
        self.tables.write(write)?;
        if let TableWrite::Qp { index, context } = *write {
            let tracking = Tracking {
                rc: RcTrack::new(context.initial_psn),
                psn: PsnTrack::new(context.initial_psn),
            };
            self.tracking.insert(index, tracking);
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
        self.tracking.get(&qp).map(|tracking| &tracking.psn)
    }

    /// Its counters.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Receives a frame, given from the destination MAC address to the iCRC, that the MAC found good.
    pub fn receive(&mut self, frame: &[u8]) -> RxOutcome {
        self.receive_from_mac(frame, false)
    }

    /// As [`Self::receive`], for a frame that the MAC found good or bad.
    pub fn receive_from_mac(&mut self, frame: &[u8], mac_error: bool) -> RxOutcome {
        let classified = classify_frame(frame, mac_error, &self.config);
        let outcome = match classified.headers {
            Some(headers) => self.receive_packet(&headers, headers.payload(frame)),
            None => RxOutcome {
                reason: classified.reason,
                ..RxOutcome::default()
            },
        };
        self.counters.count(&outcome);
        outcome
    }

    fn receive_packet(&mut self, headers: &PacketHeaders, payload: &[u8]) -> RxOutcome {
        let context = self.tables.qp(headers.dest_qp);
        let qp_reason = check_qp(headers, &context);
        // A context that was written has tracking: without it the queue pair is unknown.
        let Some(tracking) = self
            .tracking
            .get_mut(&headers.dest_qp)
            .filter(|_| qp_reason == DropReason::None)
        else {
            return RxOutcome {
                reason: qp_reason,
                headers: Some(*headers),
                ..RxOutcome::default()
            };
        };
        let rc = tracking.rc.receive(&context, headers);
        let access = translate(&self.tables, &context, headers, rc.address);
        let verdict = tracking.psn.receive(&TrackedPacket {
            headers,
            qp_reason,
            rc,
            access_reason: *access.as_ref().err().unwrap_or(&DropReason::None),
        });
        let place = access
            .ok()
            .filter(|pieces| verdict.reason == DropReason::None && !pieces.is_empty())
            .map(|pieces| Placement {
                offset: headers.payload_offset,
                length: headers.payload_length,
                pieces,
            });
        let tlps = place.as_ref().map_or_else(Vec::new, |place| {
            write_tlps(&place.pieces, payload, self.config.max_payload)
        });
        RxOutcome {
            reason: verdict.reason,
            headers: Some(*headers),
            place,
            tlps,
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

/// Pieces of memory a payload goes to: none if it is empty, whatever its key and address are.
fn translate(
    tables: &Tables,
    context: &QpRow,
    headers: &PacketHeaders,
    target: RcAddress,
) -> Result<Pieces, DropReason> {
    if headers.payload_length == 0 {
        return Ok(Pieces::new());
    }
    let region = check_region(tables, context, headers, target)?;
    look_up_pages(tables, &region, target.va, headers.payload_bytes())
}
