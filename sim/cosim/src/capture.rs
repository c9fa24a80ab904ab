//! Captured frames, and the tables that a lane needs to stand in for the machine that received them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::{DataLink, PcapError};
use stellar_transport::rx::{Psn, QpMode, QpRow, QpState};
use stellar_wire::{mtu::MAX_PAYLOAD, RoceFrame};
use thiserror::Error;

/// A capture that cannot be read.
#[derive(Debug, Error)]
pub enum CaptureError {
    #[error("cannot open capture {path}: {source}")]
    Open {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("capture {path} is not a readable pcap or pcapng file: {reason}")]
    Format { path: PathBuf, reason: String },
    #[error("capture {path} has link type {link}; only Ethernet (1) can be replayed")]
    LinkType { path: PathBuf, link: u32 },
}

/// A memory region that RDMA WRITEs of a capture address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    pub rkey: u32,
    pub va: u64,
    pub length: u64,
}

/// Frames of a capture, and what its WRITEs address.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Frames from the destination address to the last byte captured.
    pub frames: Vec<Vec<u8>>,
    /// Contexts of the queue pairs that receive WRITEs, by number.
    pub qps: BTreeMap<u32, QpRow>,
    pub buffers: Vec<Buffer>,
}

/// Block type of a pcapng section header, the same in both byte orders.
const PCAPNG_MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Protection domain given to everything a capture addresses.
pub const CAPTURE_PD: u32 = 7;

/// What a file holds: all its packets must have one link type.
struct Packets {
    link: DataLink,
    frames: Vec<Vec<u8>>,
}

fn read_pcap(file: impl Read) -> Result<Packets, PcapError> {
    let mut reader = PcapReader::new(file)?;
    let link = reader.header().datalink;
    let mut frames = vec![];
    while let Some(packet) = reader.next_packet() {
        frames.push(packet?.data.into_owned());
    }
    Ok(Packets { link, frames })
}

fn read_pcapng(file: impl Read) -> Result<Packets, PcapError> {
    let mut reader = PcapNgReader::new(file)?;
    let mut packets = Packets {
        link: DataLink::ETHERNET,
        frames: vec![],
    };
    while let Some(block) = reader.next_block() {
        match block? {
            Block::InterfaceDescription(interface) if interface.linktype != DataLink::ETHERNET => {
                packets.link = interface.linktype;
            }
            Block::EnhancedPacket(packet) => packets.frames.push(packet.data.into_owned()),
            Block::SimplePacket(packet) => packets.frames.push(packet.data.into_owned()),
            _ => {}
        }
    }
    Ok(packets)
}

impl Capture {
    /// Reads a pcap or pcapng file and learns queue pairs, first PSNs, path MTUs and buffers from its WRITE packets.
    ///
    /// # Errors
    /// See [`CaptureError`].
    pub fn read(path: &Path) -> Result<Self, CaptureError> {
        let open_error = |source| CaptureError::Open {
            path: path.into(),
            source,
        };
        let mut file = BufReader::new(File::open(path).map_err(open_error)?);
        let ng = file
            .fill_buf()
            .map_err(open_error)?
            .starts_with(&PCAPNG_MAGIC);
        let frames = if ng {
            read_pcapng(file)
        } else {
            read_pcap(file)
        };
        match frames {
            Ok(Packets {
                link: DataLink::ETHERNET,
                frames,
            }) => Ok(Self::learn(frames)),
            Ok(Packets { link, .. }) => Err(CaptureError::LinkType {
                path: path.into(),
                link: link.into(),
            }),
            Err(error) => Err(CaptureError::Format {
                path: path.into(),
                reason: error.to_string(),
            }),
        }
    }

    /// Learns the tables from `frames`.
    pub fn learn(frames: Vec<Vec<u8>>) -> Self {
        let mut qps: BTreeMap<u32, QpRow> = BTreeMap::new();
        let mut spans: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for frame in frames.iter().filter_map(|f| RoceFrame::parse(f).ok()) {
            if !frame.bth.opcode.is_write() {
                continue;
            }
            let mode = if frame.bth.opcode.is_mrc_data() {
                QpMode::Mrc
            } else {
                QpMode::Rc
            };
            let context = qps.entry(frame.bth.dest_qp).or_insert(QpRow {
                state: QpState::Ready,
                mode,
                pd: CAPTURE_PD,
                pkey: 0xffff,
                mtu_log2: 8,
                initial_psn: Psn::new(frame.bth.psn),
                remote_write: true,
            });
            // First and middle packets are exactly as long as the path MTU; of a single packet it is at least the payload.
            let mtu = frame
                .payload
                .len()
                .next_power_of_two()
                .clamp(256, MAX_PAYLOAD);
            context.mtu_log2 = context.mtu_log2.max(mtu.trailing_zeros() as u8);
            if let Some(reth) = frame.ext.reth {
                let end = reth.va + u64::from(reth.dma_len).max(1);
                let span = spans.entry(reth.rkey).or_insert((reth.va, end));
                *span = (span.0.min(reth.va), span.1.max(end));
            }
        }
        let buffers = spans
            .into_iter()
            .map(|(rkey, (va, end))| Buffer {
                rkey,
                va,
                length: end - va,
            })
            .collect();
        Self {
            frames,
            qps,
            buffers,
        }
    }
}
