//! The messages with which the root complex takes translations back.

use crate::bdf::Bdf;
use crate::counters::Refusal;
use crate::link::Action;
use crate::topology::{Kind, Node, Topology};

/// Header of a message (4 double words), framing and LCRC.
const HEADER_AND_FRAMING: usize = 24;

/// Invalidate Request: a message with data, routed by ID to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidateRequest {
    /// The root complex, which gets the completion.
    pub requester: Bdf,
    /// Function whose translations become invalid.
    pub device: Bdf,
    /// ITag, 0 to 31.
    pub tag: u8,
    /// First IO virtual address of the range, a multiple of its length.
    pub iova: u64,
    /// Length of the range in bytes: a power of two from 4,096 on.
    pub len: u64,
}

/// Invalidate Completion: a message without data, routed by ID to the root complex. It is a posted request, so it stays behind the writes that the
/// function sent before it, as far as they take the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidateCompletion {
    /// The function that no longer uses what was invalidated.
    pub device: Bdf,
    /// ITag vector: bit n completes the request with ITag n.
    pub tags: u32,
}

/// A message of ATS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// From the root complex to a device.
    InvalidateRequest(InvalidateRequest),
    /// From the device to the root complex.
    InvalidateCompletion(InvalidateCompletion),
}

impl Message {
    /// Requester ID: the sender.
    pub const fn requester(&self) -> Bdf {
        match self {
            Self::InvalidateRequest(request) => request.requester,
            Self::InvalidateCompletion(completion) => completion.device,
        }
    }

    /// Payload in bytes: the range of a request.
    pub const fn payload_len(&self) -> usize {
        match self {
            Self::InvalidateRequest(_) => 8,
            Self::InvalidateCompletion(_) => 0,
        }
    }

    /// Bytes that the message occupies on a link.
    pub const fn wire_len(&self) -> usize {
        HEADER_AND_FRAMING + self.payload_len()
    }

    /// What `node` does with the message.
    pub(crate) fn next_hop(&self, topology: &Topology, node: Node) -> Result<Action, Refusal> {
        match (self, node) {
            (Self::InvalidateRequest(request), Node::SwitchUpstream(switch)) => {
                let device = topology.function(request.device);
                let below = device.filter(|device| device.switch == switch);
                below.map(|device| Action::Forward(device.down))
            }
            (Self::InvalidateRequest(_), Node::Device(device)) => {
                match topology.devices[device].kind {
                    Kind::Nic(nic) => Some(Action::NicInbox(nic)),
                    Kind::Gpu(_) => None,
                }
            }
            (Self::InvalidateCompletion(_), Node::SwitchDownstream(device)) => {
                let switch = topology.devices[device].switch;
                Some(Action::Forward(topology.switches[switch].up))
            }
            (Self::InvalidateCompletion(_), Node::RootComplex) => Some(Action::InvalidationDone),
            _ => None,
        }
        .ok_or(Refusal::UnexpectedMessage)
    }
}
