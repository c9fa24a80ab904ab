//! The reference for the bench: the expected outputs of every frame.

use std::collections::BTreeMap;

use rust_hdl::prelude::*;
use stellar_transport::rx::{
    check_qp, classify_frame, parse_control, AckBody, AckRequest, Addressing, ControlFrame,
    DropReason, FrameOutcome, PacketHeaders, PsnTrack, QpMode, RxConfig, RxLane, TableWrite,
};
use stellar_wire::hw::ack;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::receive::RxOutcome;
use stellar_wire::mrc::Entropy;
use stellar_wire::Opcode;

use crate::lanes::bench::{Bench, Event, Request, Tlp};
use crate::lanes::traffic::{mode, own, peer, DEVICE};

/// The fields that the kind of an outcome defines, each with its name.
type Fields = Vec<(&'static str, Vec<u32>)>;

/// An outcome, and the number of TLPs that its lane must have sent before.
struct Expected {
    fields: Fields,
    lane: usize,
    tlps: usize,
    /// They must have been flushed.
    flush: bool,
}

/// The reference, and the expected outputs.
pub struct Reference {
    pub lane: RxLane,
    /// Queue pairs with a peer.
    peers: Vec<u32>,
    outcomes: BTreeMap<u64, Vec<Expected>>,
    controls: [Vec<Fields>; 2],
    tlps: [Vec<Tlp>; 2],
    fences: Vec<[usize; 2]>,
    verdicts: BTreeMap<u64, u64>,
}

fn outcome_fields(words: &[u32]) -> Fields {
    let outcome = Record::<RxOutcome>::new(words);
    let mut names = vec!["qp", "port", "accepted", "ack_valid", "probe"];
    if outcome.bool("probe") {
        names.extend(["probe_id", "epsn"]);
    } else {
        names.extend([
            "mrc",
            "position",
            "psn",
            "ack_req",
            "has_immediate",
            "immediate",
            "msn",
            "rqmsn",
        ]);
        names.extend(["dma_length", "payload_length"]);
        if outcome.bool("mrc") {
            names.push("epsn");
        }
    }
    let mut fields: Fields = names
        .into_iter()
        .map(|name| (name, outcome.words(name)))
        .collect();
    if outcome.bool("ack_valid") {
        let words = outcome.words("ack");
        let ack = Record::<ack::AckRequest>::new(&words);
        let mut names = vec![
            "kind",
            "reason",
            "psn",
            "syndrome",
            "ecn_ce",
            "entropy",
            "has_timestamp",
        ];
        match ack.variant("kind").as_str() {
            "AckKind::Sack" => names.extend(["cack_psn", "bitmap_base", "bitmap"]),
            "AckKind::Nack" => {}
            _ => names.push("msn"),
        }
        if ack.bool("has_timestamp") {
            names.push("timestamp");
        }
        fields.extend(names.into_iter().map(|name| (name, ack.words(name))));
    }
    fields
}

fn control_fields(words: &[u32]) -> Fields {
    let record = Record::<stellar_wire::hw::requester::ControlPacket>::new(words);
    let mut names = vec!["kind", "qp", "port", "psn", "ecn_ce", "entropy"];
    names.extend(match record.variant("kind").as_str() {
        "ControlKind::Sack" => &["reflected", "seth", "cc_state"][..],
        "ControlKind::Nack" => &["reflected", "neth"],
        _ => &["aeth"],
    });
    names
        .into_iter()
        .map(|name| (name, record.words(name)))
        .collect()
}

impl Reference {
    pub fn new(peers: &[u32]) -> Self {
        Self {
            lane: RxLane::new(RxConfig::default()),
            peers: peers.to_vec(),
            outcomes: BTreeMap::new(),
            controls: Default::default(),
            tlps: Default::default(),
            fences: vec![],
            verdicts: BTreeMap::new(),
        }
    }

    /// Writes a table row in the hardware and in the reference.
    pub fn write(&mut self, bench: &mut Bench, write: TableWrite) {
        self.lane.write_table(&write).expect("a good table write");
        bench.requests.push_back(Request::Table(write));
    }

    pub fn fail(&mut self, bench: &mut Bench, qp: u32) {
        self.lane.fail_qp(qp);
        bench.requests.push_back(Request::Error(qp));
    }

    pub fn fence(&mut self, bench: &mut Bench) {
        self.fences.push([self.tlps[0].len(), self.tlps[1].len()]);
        bench.requests.push_back(Request::Fence);
    }

    /// Sends a frame to hardware and reference. Returns its outcome.
    pub fn send(&mut self, bench: &mut Bench, lane: usize, frame: Vec<u8>) -> DropReason {
        let addressing = Addressing {
            own: own(lane),
            peer: &|qp| self.peers.contains(&qp).then(|| peer(qp)),
        };
        let classified = classify_frame(&frame, false, self.lane.config());
        let classified = addressing.check(&frame, classified);
        let control = parse_control(&frame, self.lane.config());
        let reason = match control.filter(|_| addressing.is_for_us(&frame)) {
            Some(control) => self.control(lane, &control),
            None => self.data(lane, &frame, classified),
        };
        *self.verdicts.entry(reason.index().into()).or_insert(0) += 1;
        bench.send(lane, frame);
        reason
    }

    fn data(&mut self, lane: usize, frame: &[u8], classified: FrameOutcome) -> DropReason {
        let outcome = self.lane.receive_classified(frame, classified);
        let accepted = outcome.reason == DropReason::None;
        let mrc = outcome
            .headers
            .as_ref()
            .is_some_and(|h| h.mode == QpMode::Mrc);
        let to_peer = outcome.tlps.iter().any(|tlp| tlp.at != 0);
        let flush =
            !outcome.tlps.is_empty() && (mrc || to_peer || lane == 1 || outcome.ack.is_some());
        let count = outcome.tlps.len();
        let numbered = outcome.tlps.iter().zip(1..);
        self.tlps[lane].extend(numbered.map(|(tlp, number)| Tlp {
            header: to_words(WriteTlpHeader {
                ends: number == count,
                flush,
                device: DEVICE.to_bits(),
                ..tlp.to_hw()
            }),
            data: tlp.data.clone(),
        }));
        if let Some(headers) = outcome
            .headers
            .filter(|_| accepted || outcome.ack.is_some())
        {
            self.expect(lane, &headers, accepted, outcome.ack, flush);
        }
        outcome.reason
    }

    fn expect(
        &mut self,
        lane: usize,
        headers: &PacketHeaders,
        accepted: bool,
        ack: Option<AckRequest>,
        flush: bool,
    ) {
        let record = headers.to_hw();
        let track = self
            .lane
            .psn_track(headers.dest_qp)
            .expect("a known queue pair");
        let outcome = RxOutcome {
            qp: u64::from(headers.dest_qp).to_bits(),
            port: lane == 1,
            accepted,
            mrc: headers.mode == QpMode::Mrc,
            position: record.position,
            psn: record.psn,
            ack_req: record.ack_req,
            epsn: u64::from(track.epsn().value()).to_bits(),
            has_immediate: record.has_immediate,
            immediate: record.immediate,
            msn: record.msn,
            rqmsn: record.rqmsn,
            dma_length: record.dma_length,
            payload_length: record.payload_length,
            ack_valid: ack.is_some(),
            ack: ack.map(|ack| ack.to_hw()).unwrap_or_default(),
            ..RxOutcome::default()
        };
        self.push(lane, outcome, flush);
    }

    fn push(&mut self, lane: usize, outcome: RxOutcome, flush: bool) {
        let fields = outcome_fields(&to_words(outcome));
        let tlps = self.tlps[lane].len();
        let queue = self.outcomes.entry(outcome.qp.to_u64()).or_default();
        queue.push(Expected {
            fields,
            lane,
            tlps,
            flush,
        });
    }

    fn control(&mut self, lane: usize, control: &ControlFrame) -> DropReason {
        let qp = control.roce.bth.dest_qp;
        let known = self.peers.contains(&qp).then(|| peer(qp));
        let reason = control.reason(known.as_ref());
        if reason != DropReason::Control {
            return reason;
        }
        if control.roce.bth.opcode != Opcode::MrcProbe {
            let record = control.to_hw(lane == 1).expect("a control packet");
            self.controls[lane].push(control_fields(&to_words(record)));
            return reason;
        }
        let context = self.lane.tables().qp(qp);
        let headers = probe_headers(control, mode(qp));
        let refusal = check_qp(&headers, &context);
        let track = self.lane.psn_track(qp).expect("a known queue pair");
        if refusal != DropReason::None {
            return refusal;
        }
        if track.in_error() {
            return DropReason::WrongState;
        }
        let in_order = self.lane.rc_expected(qp).map(PsnTrack::new);
        let track = match (mode(qp), &in_order) {
            (QpMode::Rc, Some(in_order)) => in_order,
            _ => track,
        };
        let epsn = track.epsn();
        let (bitmap_base, bitmap) = track.bitmap_around(epsn);
        let peth = control.roce.ext.peth.expect("a probe");
        let request = AckRequest {
            body: AckBody::Sack {
                psn: epsn.previous(),
                cack_psn: epsn.previous(),
                bitmap_base,
                bitmap,
            },
            reason,
            qp,
            ecn_ce: control.ecn_ce,
            entropy: headers.entropy,
            timestamp: Some(peth.timestamp.tx_timestamp),
        };
        let outcome = RxOutcome {
            qp: u64::from(qp).to_bits(),
            port: lane == 1,
            epsn: u64::from(epsn.value()).to_bits(),
            ack_valid: true,
            ack: request.to_hw(),
            probe: true,
            probe_id: u64::from(peth.probe_id).to_bits(),
            ..RxOutcome::default()
        };
        self.push(lane, outcome, false);
        reason
    }

    /// Every expected output came, in order, and no other; no outcome or fence came before its TLPs.
    pub fn check(self, bench: &mut Bench) {
        assert_eq!(bench.verdicts, self.verdicts);
        for reason in DropReason::ALL {
            let count = self.verdicts.get(&reason.index().into()).copied();
            assert_eq!(
                bench.counter(reason.index()),
                count.unwrap_or_default(),
                "{reason}"
            );
        }
        assert_eq!(bench.tlps, self.tlps);
        for lane in 0..2 {
            let controls: Vec<_> = bench
                .controls
                .iter()
                .map(|words| control_fields(words))
                .filter(|fields| fields.contains(&("port", vec![lane as u32])))
                .collect();
            assert_eq!(controls, self.controls[lane]);
        }
        let mut found: BTreeMap<u64, Vec<&Event>> = BTreeMap::new();
        for event in &bench.outcomes {
            let qp = Record::<RxOutcome>::new(&event.words).u64("qp");
            found.entry(qp).or_default().push(event);
        }
        assert_eq!(
            found.keys().collect::<Vec<_>>(),
            self.outcomes.keys().collect::<Vec<_>>()
        );
        for (qp, expected) in &self.outcomes {
            assert_eq!(
                found[qp].len(),
                expected.len(),
                "outcomes of queue pair {qp}"
            );
            for (event, expected) in found[qp].iter().zip(expected) {
                assert_eq!(outcome_fields(&event.words), expected.fields);
                let before = if expected.flush {
                    event.flushed
                } else {
                    event.tlps
                };
                assert!(
                    before[expected.lane] >= expected.tlps,
                    "an outcome before its payload"
                );
            }
        }
        assert_eq!(bench.fences.len(), self.fences.len());
        for (event, tlps) in bench.fences.iter().zip(&self.fences) {
            assert!(
                (0..2).all(|lane| event.tlps[lane] >= tlps[lane]),
                "a fence before its TLPs"
            );
        }
    }
}

/// The fields of a probe that the checks of the queue pair use.
fn probe_headers(control: &ControlFrame, mode: QpMode) -> PacketHeaders {
    let roce = &control.roce;
    PacketHeaders {
        mode,
        refused: false,
        position: stellar_wire::Position::Only,
        reth: None,
        immediate: None,
        meth: None,
        timestamp: None,
        ack_req: false,
        solicited: false,
        retransmission: false,
        pkey: roce.bth.pkey,
        dest_qp: roce.bth.dest_qp,
        psn: stellar_transport::rx::Psn::new(roce.bth.psn),
        ecn_ce: control.ecn_ce,
        entropy: Entropy::of(&roce.ip, &roce.udp),
        payload_offset: 0,
        payload_length: 0,
    }
}
