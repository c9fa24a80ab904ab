//! What tshark makes of a capture.

use std::path::Path;
use std::process::Command;

use anyhow::{bail, ensure, Context};

/// Protocols that tshark guesses at in the payload of RC packets, which are random bytes here.
const GUESSES: [&str; 7] = [
    "rpcordma",
    "smb_direct",
    "smc",
    "nvme-rdma",
    "lnet",
    "iser",
    "fcoib",
];

/// Checks that tshark reads as many packets of RoCEv2 as were seen on the wire, and finds none malformed.
pub fn check(capture: &Path, packets: u64) -> anyhow::Result<()> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args(["-n", "-T", "fields"]);
    command.args(["--disable-heuristic", "eth_over_ib"]);
    for guess in GUESSES {
        command.args(["--disable-protocol", guess]);
    }
    for field in [
        "frame.number",
        "infiniband.bth.opcode",
        "_ws.malformed",
        "infiniband.invariant.crc",
    ] {
        command.args(["-e", field]);
    }
    let output = command
        .output()
        .context("tshark cannot be started; ./stellar setup installs it")?;
    if !output.status.success() {
        bail!("tshark: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut read = 0;
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [number, opcode, malformed, icrc] = fields[..] else {
            bail!("tshark prints '{line}'");
        };
        ensure!(
            malformed.is_empty(),
            "tshark finds packet {number} of {} malformed",
            capture.display()
        );
        read += u64::from(!opcode.is_empty() && !icrc.is_empty());
    }
    ensure!(
        read == packets,
        "tshark reads {read} packets of RoCEv2 in {}, and {packets} were on the wire",
        capture.display()
    );
    Ok(())
}
