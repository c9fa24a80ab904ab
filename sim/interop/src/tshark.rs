//! Checks of a capture by tshark.

use std::path::Path;

use anyhow::{bail, ensure, Context};
use sim_world::tshark;

/// Checks that tshark finds as many RoCEv2 packets as the bridge saw, and none of them malformed.
pub fn check(capture: &Path, packets: u64) -> anyhow::Result<()> {
    let fields = [
        "frame.number",
        "infiniband.bth.opcode",
        "_ws.malformed",
        "infiniband.invariant.crc",
    ];
    let output = tshark(capture, &fields)
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
