//! What a link carries: a TLP of memory, or a message of ATS.

use crate::ats::Message;
use crate::bdf::Bdf;
use crate::config::RequestKind;
use crate::tlp::{FlowClass, Tlp};
use stellar_wire::host::config_space::aer::HeaderLog;

/// A TLP of any kind. [`Tlp`] has the kinds that a NIC submits and takes; the messages of ATS have calls of their own.
#[derive(Clone, Debug)]
pub(crate) enum Carried {
    Memory(Tlp),
    Message(Message),
}

impl From<Tlp> for Carried {
    fn from(tlp: Tlp) -> Self {
        Self::Memory(tlp)
    }
}

impl From<Message> for Carried {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

impl Carried {
    /// The memory request or completion, if it is one.
    pub fn memory(&self) -> Option<&Tlp> {
        match self {
            Self::Memory(tlp) => Some(tlp),
            Self::Message(_) => None,
        }
    }

    /// The flow-control class.
    pub fn class(&self) -> FlowClass {
        self.memory().map_or(FlowClass::Posted, Tlp::class)
    }

    /// Requester ID.
    pub fn requester(&self) -> Bdf {
        match self {
            Self::Memory(tlp) => tlp.requester(),
            Self::Message(message) => message.requester(),
        }
    }

    /// Kind of a memory request.
    pub fn request_kind(&self) -> Option<RequestKind> {
        self.memory().and_then(Tlp::request_kind)
    }

    /// Payload carried, in bytes.
    pub fn payload_len(&self) -> usize {
        match self {
            Self::Memory(tlp) => tlp.payload_len(),
            Self::Message(message) => message.payload_len(),
        }
    }

    /// Bytes that a memory request addresses, or a completion carries.
    pub fn addressed_bytes(&self) -> u64 {
        self.memory().map_or(0, Tlp::addressed_bytes)
    }

    /// The header of a memory request or a completion, as the header log of AER has it.
    pub fn header_log(&self) -> HeaderLog {
        self.memory()
            .map_or_else(HeaderLog::default, Tlp::header_log)
    }

    /// Bytes that it occupies on a link.
    pub fn wire_len(&self) -> usize {
        match self {
            Self::Memory(tlp) => tlp.wire_len(),
            Self::Message(message) => message.wire_len(),
        }
    }

    /// Replaces the address of a memory request by the physical one ([`Tlp::retarget`]).
    pub fn retarget(&mut self, physical: u64) {
        if let Self::Memory(tlp) = self {
            tlp.retarget(physical);
        }
    }
}
