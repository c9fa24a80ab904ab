//! The frames that a lane received, as a pcapng file with the outcome of each frame as a comment.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use anyhow::Context;
use sim_world::{Direction, PortCapture};

/// Picoseconds of a byte at 200 Gb/s.
const BYTE_PS: u64 = 40;

/// One frame with its verdict.
pub struct Noted<'a> {
    pub frame: &'a [u8],
    pub comment: String,
}

/// Writes frames in order. The times follow from the wire at 200 Gb/s.
pub fn write<'a>(path: &Path, frames: impl Iterator<Item = Noted<'a>>) -> anyhow::Result<()> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut capture = PortCapture::new(BufWriter::new(file), "lane")?;
    let mut bytes = 0u64;
    for noted in frames {
        capture.add(
            bytes * BYTE_PS,
            Direction::Inbound,
            noted.frame,
            &noted.comment,
        )?;
        bytes += noted.frame.len() as u64 + sim_cosim::WIRE_OVERHEAD;
    }
    capture.flush()?;
    Ok(())
}
