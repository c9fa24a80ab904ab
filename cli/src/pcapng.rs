//! What a lane received, as a pcapng file whose comments say what became of each frame.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::DataLink;

/// One frame with its verdict.
pub struct Noted<'a> {
    pub frame: &'a [u8],
    pub comment: String,
}

/// Writes frames in order, one nanosecond tick apart from each other's wire time at 200 Gb/s.
pub fn write<'a>(path: &Path, frames: impl Iterator<Item = Noted<'a>>) -> anyhow::Result<()> {
    let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut writer = PcapNgWriter::new(BufWriter::new(file))?;
    // Nanosecond time stamps.
    let interface = InterfaceDescriptionBlock {
        linktype: DataLink::ETHERNET,
        snaplen: 0,
        options: vec![InterfaceDescriptionOption::IfTsResol(9)],
    };
    writer.write_pcapng_block(interface)?;
    let mut bytes = 0u64;
    for noted in frames {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(bytes / 25),
            original_len: noted.frame.len() as u32,
            data: Cow::Borrowed(noted.frame),
            options: vec![EnhancedPacketOption::Comment(Cow::Owned(noted.comment))],
        };
        writer.write_pcapng_block(block)?;
        bytes += noted.frame.len() as u64 + sim_cosim::WIRE_OVERHEAD;
    }
    Ok(())
}
