//! tshark, configured to read RoCEv2 packets without guesses.

use std::path::Path;
use std::process::Command;

/// Protocols that tshark guesses in the payload of RC packets. For such a packet it would show no iCRC.
const GUESSES: [&str; 7] = [
    "rpcordma",
    "smb_direct",
    "smc",
    "nvme-rdma",
    "lnet",
    "iser",
    "fcoib",
];

/// A tshark that prints these fields of every packet of a capture, one line each, separated by tabs. It does not guess the payload's protocol.
pub fn tshark(capture: &Path, fields: &[&str]) -> Command {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args(["-n", "-T", "fields"]);
    command.args(["--disable-heuristic", "eth_over_ib"]);
    for guess in GUESSES {
        command.args(["--disable-protocol", guess]);
    }
    for field in fields {
        command.args(["-e", field]);
    }
    command
}
