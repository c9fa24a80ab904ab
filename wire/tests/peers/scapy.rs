//! scapy: reads the BTH, computes the iCRC.

use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stellar_wire::Opcode;

use crate::peers::{run, sample, transmitted_icrc, FRAMES};

/// The Python that has scapy.
fn python() -> PathBuf {
    env::var_os("STELLAR_PYTHON").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin/python"),
        PathBuf::from,
    )
}

#[test]
fn scapy_reads_the_same_bth_and_computes_the_same_icrc() {
    let sample = sample();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/scapy_fields.py");
    let python = python();
    let arguments = [script.as_os_str(), sample.capture.as_os_str()];
    let lines = run("Python with scapy", python.as_os_str(), &arguments);
    assert_eq!(lines.len(), FRAMES);
    for (index, line) in lines.iter().enumerate() {
        let (frame, bytes) = (&sample.frames[index], &sample.bytes[index]);
        let bth = &frame.bth;
        let found: Value = serde_json::from_str(line).expect("scapy_fields.py prints JSON");
        let mut expected = serde_json::json!({
            "sport": frame.udp.sport,
            "opcode": bth.opcode.code(),
            "solicited": u8::from(bth.solicited),
            "migreq": u8::from(bth.mig_req),
            "padcount": bth.pad_count,
            "version": bth.tver,
            "pkey": bth.pkey,
            "fecn": u8::from(bth.fecn),
            "becn": u8::from(bth.becn),
            "resv6": bth.resv6,
            "dqpn": bth.dest_qp,
            "ackreq": u8::from(bth.ack_req),
            "resv7": u8::from(bth.retransmit) << 5 | u8::from(bth.tseth_present) << 4 | bth.resv7,
            "psn": bth.psn,
            "icrc": transmitted_icrc(bytes),
            "computed_icrc": transmitted_icrc(bytes),
        });
        if bth.opcode == Opcode::RcAck {
            let aeth = frame.ext.aeth.expect("an ACK has an AETH");
            expected["syndrome"] = aeth.syndrome.to_byte().into();
            expected["msn"] = aeth.msn.into();
        }
        assert_eq!(
            found, expected,
            "frame {index}: scapy's and ours for {frame:?}"
        );
    }
}
