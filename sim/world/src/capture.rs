//! Captures of the hosts' ports, as pcapng with times in nanoseconds.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pcap_file::PcapError;
use sim_net::{ChannelId, Fabric, Frame, HostId, TapSide, Time};

use crate::pcapng::{Direction, PortCapture};
use crate::WorldError;

/// Frames of one port: time, whether the port sent it, and the bytes.
type Frames = Arc<Mutex<Vec<(Time, bool, Frame)>>>;

struct Port {
    interface: String,
    frames: Frames,
}

/// Every frame at the ports of some hosts. A frame that a port sends has the time at which its preamble starts, a frame that it receives the time of
/// its last bit.
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
        let mut frames = self
            .frames
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        frames.sort_by_key(|&(time, ..)| time);
        let mut capture = PortCapture::new(Vec::new(), &self.interface)?;
        for (time, sent, frame) in &frames {
            let direction = if *sent {
                Direction::Outbound
            } else {
                Direction::Inbound
            };
            capture.add(*time, direction, frame.bytes(), "")?;
        }
        Ok(capture.into_inner())
    }
}
