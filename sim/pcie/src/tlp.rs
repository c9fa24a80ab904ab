//! Transaction layer packets as the fabric sees them.

use stellar_wire::host::config_space::aer::HeaderLog;
use stellar_wire::pcie::{self, AddressType, CompletionStatus, DwSpan, MemOp, MemRequest};
use stellar_wire::WireError;

use crate::bdf::Bdf;
use crate::byte_enables::enabled_count;
use crate::config::RequestKind;

/// A posted memory write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemWrite {
    /// Function that sends the write.
    pub requester: Bdf,
    /// 10-bit tag; meaningless for a posted request but present on the wire.
    pub tag: u16,
    /// Byte address of the first DW; a multiple of 4.
    pub address: u64,
    /// Address type.
    pub at: AddressType,
    /// Byte enables of the first DW, bit 0 for the lowest byte.
    pub first_be: u8,
    /// Byte enables of the last DW; 0 when there is only one DW.
    pub last_be: u8,
    /// Payload, whole DWs in memory order.
    pub data: Vec<u8>,
}

/// A memory read request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemRead {
    /// Function that sends the request.
    pub requester: Bdf,
    /// 10-bit tag, which its completions repeat.
    pub tag: u16,
    /// Byte address of the first DW; a multiple of 4.
    pub address: u64,
    /// Address type.
    pub at: AddressType,
    /// Byte enables of the first DW.
    pub first_be: u8,
    /// Byte enables of the last DW; 0 when there is only one DW.
    pub last_be: u8,
    /// Length in DWs, 1 to 1,024.
    pub dwords: u16,
}

/// A completion, with data (CplD) when `data` is not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Function that completes.
    pub completer: Bdf,
    /// Function that sent the request; completions are routed by it.
    pub requester: Bdf,
    /// Tag of the request.
    pub tag: u16,
    /// Outcome.
    pub status: CompletionStatus,
    /// Bytes still to come for this request, this completion included: 1 to 4,096.
    pub byte_count: u16,
    /// Low 7 bits of the address of the first enabled byte in this completion.
    pub lower_address: u8,
    /// Payload, whole DWs; empty for a completion without data.
    pub data: Vec<u8>,
    /// EP bit: the payload is known to be wrong.
    pub poisoned: bool,
    /// The requester's PCIe block finds the payload damaged when it hands it over. No bit of the TLP says so.
    pub damaged: bool,
}

/// A transaction layer packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tlp {
    /// MWr.
    Write(MemWrite),
    /// MRd.
    Read(MemRead),
    /// Cpl or CplD.
    Completion(Completion),
}

/// Flow-control class; each has its own buffers and credits (PCIe base specification, section 2.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FlowClass {
    /// Memory writes.
    Posted,
    /// Memory reads.
    NonPosted,
    /// Completions.
    Completion,
}

impl FlowClass {
    /// All classes, in the order of their numbers.
    pub(crate) const ALL: [Self; 3] = [Self::Posted, Self::NonPosted, Self::Completion];
}

impl MemWrite {
    /// A write of `bytes` to byte address `address` (any alignment), padded to whole DWs with the byte enables
    /// that make it exact. Fails if the bytes cross a 4 KiB boundary; the maximum payload size is up to the caller.
    pub fn of_bytes(
        requester: Bdf,
        address: u64,
        at: AddressType,
        bytes: &[u8],
    ) -> Result<Self, WireError> {
        let span = DwSpan::new(address, bytes.len())?;
        let offset = (address - span.address) as usize;
        let mut data = vec![0; usize::from(span.length_dw) * 4];
        data[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(Self {
            requester,
            tag: 0,
            address: span.address,
            at,
            first_be: span.first_be,
            last_be: span.last_be,
            data,
        })
    }
}

impl MemRead {
    /// A read of `len` bytes at byte address `address` (any alignment); `len` 0 is the flush read. Fails if the
    /// bytes cross a 4 KiB boundary; the maximum read request size is up to the caller.
    pub fn of_bytes(
        requester: Bdf,
        tag: u16,
        address: u64,
        at: AddressType,
        len: usize,
    ) -> Result<Self, WireError> {
        let span = DwSpan::new(address, len)?;
        Ok(Self {
            requester,
            tag,
            address: span.address,
            at,
            first_be: span.first_be,
            last_be: span.last_be,
            dwords: span.length_dw,
        })
    }
}

/// STP framing token (4 bytes) plus LCRC (4 bytes) around each TLP on a 128b/130b link.
const LINK_OVERHEAD_BYTES: usize = 8;

impl Tlp {
    /// The flow-control class.
    pub fn class(&self) -> FlowClass {
        match self {
            Self::Write(_) => FlowClass::Posted,
            Self::Read(_) => FlowClass::NonPosted,
            Self::Completion(_) => FlowClass::Completion,
        }
    }

    /// Requester ID.
    pub fn requester(&self) -> Bdf {
        match self {
            Self::Write(write) => write.requester,
            Self::Read(read) => read.requester,
            Self::Completion(completion) => completion.requester,
        }
    }

    /// Payload carried, in bytes.
    pub fn payload_len(&self) -> usize {
        match self {
            Self::Write(write) => write.data.len(),
            Self::Read(_) => 0,
            Self::Completion(completion) => completion.data.len(),
        }
    }

    /// Bytes the request addresses: those enabled in a write or read, those carried by a completion.
    pub fn addressed_bytes(&self) -> u64 {
        match self {
            Self::Write(w) => enabled_count(w.data.len() / 4, w.first_be, w.last_be),
            Self::Read(r) => enabled_count(r.dwords.into(), r.first_be, r.last_be),
            Self::Completion(c) => c.data.len() as u64,
        }
    }

    /// Bytes this TLP occupies on a link: header (12 bytes, or 16 for an address of 4 GiB and above), payload,
    /// framing and LCRC. A 4-DW write costs 24 bytes on top of its payload, a completion 20.
    pub fn wire_len(&self) -> usize {
        let header = match self {
            Self::Write(MemWrite { address, .. }) | Self::Read(MemRead { address, .. }) => {
                if *address >> 32 == 0 {
                    12
                } else {
                    16
                }
            }
            Self::Completion(_) => 12,
        };
        header + self.payload_len() + LINK_OVERHEAD_BYTES
    }
}

impl MemWrite {
    /// Its header on the wire.
    pub fn header(&self) -> MemRequest {
        let span = DwSpan {
            address: self.address,
            length_dw: (self.data.len() / 4) as u16,
            first_be: self.first_be,
            last_be: self.last_be,
        };
        MemRequest {
            tag: self.tag,
            ..MemRequest::new(MemOp::Write, span, self.at, self.requester.id())
        }
    }
}

impl MemRead {
    /// Its header on the wire.
    pub fn header(&self) -> MemRequest {
        let span = DwSpan {
            address: self.address,
            length_dw: self.dwords,
            first_be: self.first_be,
            last_be: self.last_be,
        };
        MemRequest {
            tag: self.tag,
            ..MemRequest::new(MemOp::Read, span, self.at, self.requester.id())
        }
    }
}

impl Completion {
    /// Its header on the wire.
    pub fn header(&self) -> pcie::Completion {
        pcie::Completion {
            length_dw: (self.data.len() / 4) as u16,
            completer: self.completer.id(),
            status: self.status,
            byte_count_modified: false,
            byte_count: self.byte_count,
            requester: self.requester.id(),
            tag: self.tag,
            lower_address: self.lower_address,
            traffic_class: 0,
            attributes: pcie::Attributes::default(),
            digest: false,
            poisoned: self.poisoned,
        }
    }
}

impl Tlp {
    /// The header as the header log of AER has it. A malformed request of this model may have an address or a length that no header can express: the log has
    /// the address of the double word, and the nearest length.
    pub fn header_log(&self) -> HeaderLog {
        let of_request = |header: MemRequest| {
            HeaderLog::of_request(&MemRequest {
                address: header.address & !3,
                length_dw: header.length_dw.clamp(1, 1024),
                ..header
            })
        };
        match self {
            Self::Write(write) => of_request(write.header()),
            Self::Read(read) => of_request(read.header()),
            Self::Completion(completion) => HeaderLog::of_completion(&completion.header()),
        }
    }

    /// Address and AT of a memory request; `None` for a completion.
    pub fn memory_target(&self) -> Option<(u64, AddressType)> {
        match self {
            Self::Write(write) => Some((write.address, write.at)),
            Self::Read(read) => Some((read.address, read.at)),
            Self::Completion(_) => None,
        }
    }

    /// Kind of a memory request; `None` for a completion.
    pub fn request_kind(&self) -> Option<RequestKind> {
        match self {
            Self::Write(_) => Some(RequestKind::Write),
            Self::Read(_) => Some(RequestKind::Read),
            Self::Completion(_) => None,
        }
    }

    /// DW-granular length of the memory a request covers, in bytes; 0 for a completion.
    pub(crate) fn request_len(&self) -> usize {
        match self {
            Self::Write(write) => write.data.len(),
            Self::Read(read) => usize::from(read.dwords) * 4,
            Self::Completion(_) => 0,
        }
    }

    /// Replaces the address of a memory request by the physical address that the root complex found. It continues with AT = 00: below the root
    /// complex the address type has no meaning.
    pub(crate) fn retarget(&mut self, physical: u64) {
        let (address, at) = match self {
            Self::Write(write) => (&mut write.address, &mut write.at),
            Self::Read(read) => (&mut read.address, &mut read.at),
            Self::Completion(_) => return,
        };
        *address = physical;
        *at = AddressType::Untranslated;
    }
}
