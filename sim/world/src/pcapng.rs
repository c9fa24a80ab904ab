//! Writes a capture of one port as pcapng, with times in nanoseconds.

use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::{DataLink, PcapError};
use sim_net::Time;

/// Direction of a frame, as the port sees it (draft-ietf-opsawg-pcapng, `epb_flags`, bits 1:0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The port received it.
    Inbound = 1,
    /// The port sent it.
    Outbound = 2,
}

/// A capture of one port, which grows frame by frame.
pub struct PortCapture<W: Write>(PcapNgWriter<W>);

impl<W: Write> PortCapture<W> {
    /// Begins a capture of the port called `interface`.
    ///
    /// # Errors
    /// [`PcapError`] if nothing can be written.
    pub fn new(to: W, interface: &str) -> Result<Self, PcapError> {
        let mut writer = PcapNgWriter::new(to)?;
        writer.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(interface)),
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        })?;
        Ok(Self(writer))
    }

    /// Adds a frame, destination address to iCRC, at a time in picoseconds. An empty comment is left out.
    ///
    /// # Errors
    /// [`PcapError`] if it cannot be written.
    pub fn add(
        &mut self,
        time: Time,
        direction: Direction,
        frame: &[u8],
        comment: &str,
    ) -> Result<(), PcapError> {
        let mut options = vec![EnhancedPacketOption::Flags(direction as u32)];
        if !comment.is_empty() {
            options.push(EnhancedPacketOption::Comment(Cow::Borrowed(comment)));
        }
        self.0.write_pcapng_block(EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(time / 1000),
            original_len: frame.len() as u32,
            data: Cow::Borrowed(frame),
            options,
        })?;
        Ok(())
    }

    /// The writer of the capture.
    pub fn into_inner(self) -> W {
        self.0.into_inner()
    }

    /// Flushes the buffer.
    ///
    /// # Errors
    /// [`std::io::Error`].
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.0.get_mut().flush()
    }
}
