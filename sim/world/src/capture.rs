//! Captures: what passed the hosts' ports, as pcapng with times in nanoseconds.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::{DataLink, PcapError};
use sim_net::{ChannelId, Fabric, Frame, HostId, TapSide, Time};

use crate::WorldError;

/// Frames of one port: when, whether they left, and which.
type Frames = Arc<Mutex<Vec<(Time, bool, Frame)>>>;

/// Directions in the flags of a pcapng packet block (draft-ietf-opsawg-pcapng, `epb_flags`).
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

struct Port {
    interface: String,
    frames: Frames,
}

/// Every frame at the ports of some hosts. Frames a port sends have the time at which their preamble starts, frames it
/// receives that of their last bit.
pub struct Recorder {
    ports: Vec<Port>,
}

impl Recorder {
    /// Records at the ports of `hosts` from now on.
    ///
    /// # Errors
    /// [`WorldError`] if a port has no channel to record.
    pub fn attach(fabric: &mut Fabric, hosts: &[HostId]) -> Result<Self, WorldError> {
        let mut ports = Vec::new();
        for &id in hosts {
            let (name, count) = {
                let host = &fabric.topology().hosts()[id.0 as usize];
                (host.name.clone(), host.ports.len())
            };
            for port in 0..count {
                let Some(uplink) = fabric.topology().uplink(id, port) else {
                    continue;
                };
                let frames = Frames::default();
                for (channel, side) in [
                    (uplink, TapSide::Transmit),
                    (uplink.opposite(), TapSide::Receive),
                ] {
                    let frames = Arc::clone(&frames);
                    let sent = side == TapSide::Transmit;
                    let tap = move |_: ChannelId, time: Time, frame: &Frame| {
                        let mut frames = frames.lock().unwrap_or_else(PoisonError::into_inner);
                        frames.push((time, sent, frame.clone()));
                    };
                    fabric.set_tap(channel, side, Box::new(tap))?;
                }
                ports.push(Port {
                    interface: format!("{name}.p{port}"),
                    frames,
                });
            }
        }
        Ok(Self { ports })
    }

    /// One capture per port: interface name, and the bytes of its pcapng file.
    ///
    /// # Errors
    /// [`WorldError::Output`] if a block cannot be encoded.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>, WorldError> {
        let encode = |port: &Port| {
            let bytes = port.encode().map_err(|error| WorldError::Output {
                path: port.interface.clone(),
                reason: error.to_string(),
            })?;
            Ok((port.interface.clone(), bytes))
        };
        self.ports.iter().map(encode).collect()
    }

    /// Writes one file per port into `directory`, named after the interface.
    ///
    /// # Errors
    /// [`WorldError::Output`].
    pub fn write(&self, directory: &Path) -> Result<(), WorldError> {
        for (interface, bytes) in self.files()? {
            crate::report::write_file(&directory.join(format!("{interface}.pcapng")), &bytes)?;
        }
        Ok(())
    }
}

impl Port {
    fn encode(&self) -> Result<Vec<u8>, PcapError> {
        let mut writer = PcapNgWriter::new(Vec::new())?;
        writer.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(self.interface.as_str())),
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        })?;
        let mut frames = self
            .frames
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        frames.sort_by_key(|&(time, ..)| time);
        for (time, sent, frame) in &frames {
            writer.write_pcapng_block(EnhancedPacketBlock {
                interface_id: 0,
                timestamp: Duration::from_nanos(time / 1000),
                original_len: frame.len() as u32,
                data: Cow::Borrowed(frame.bytes()),
                options: vec![EnhancedPacketOption::Flags(if *sent {
                    OUTBOUND
                } else {
                    INBOUND
                })],
            })?;
        }
        Ok(writer.into_inner())
    }
}
