//! What the host answers.

use super::address::Port;
use super::attributes::GuestQpState;
use super::fields::{Malformed, Put, Take};
use super::paths::GuestPaths;
use super::request::Opcode;
use super::HEADER;
use crate::code_enum::code_enum;

code_enum! {
    /// How a request ended.
    pub enum Status {
        Ok = 0,
        /// The opcode is not defined.
        UnknownCommand = 1,
        /// The request is too short, or a field has a value that it must not have.
        Malformed = 2,
        /// The device has no object of that kind and number.
        BadHandle = 3,
        /// A guest address is not in the guest's memory, or not aligned.
        BadAddress = 4,
        /// The device already has its maximum number of objects of this kind.
        Quota = 5,
        /// All objects of this kind on the card are in use.
        Exhausted = 6,
        /// The queue pair cannot take that step in its state.
        BadState = 7,
        /// Other objects of the device need it: destroy them first.
        Busy = 8,
        /// Guest memory could not be pinned.
        NoMemory = 9,
        /// An attribute is outside of the card's range.
        Attribute = 10,
        /// The card did not execute an operation.
        Card = 11,
    }
}

/// How many objects of each kind a device may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestQuota {
    pub domains: u32,
    pub regions: u32,
    /// Pages of all regions together.
    pub pages: u32,
    pub completion_queues: u32,
    pub queue_pairs: u32,
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The device's number, which is its doorbell page's.
    pub device: u32,
    pub quota: GuestQuota,
    /// Offset of the doorbell page in the shared-memory region.
    pub doorbell_offset: u64,
    /// Addresses of the card's ports, in order of planes.
    pub ports: [Port; 2],
}

/// Counters of a device: its operations, and the refused ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuestCounters {
    /// Requests that ended well.
    pub done: u64,
    /// Requests that were answered with another status.
    pub refused: u64,
    /// Descriptor chains that could not be answered.
    pub unanswerable: u64,
    /// Doorbells the card refused: of queue pairs that are not the device's.
    pub doorbells_refused: u64,
    /// Accesses to the shared-memory region that were outside the doorbell page, or came after the device was removed.
    pub window_faults: u64,
}

code_enum! {
    /// What happened to a device's object.
    pub enum Event {
        /// A queue pair moved to the error state; the data is a [`crate::host::WcStatus`].
        QueuePairFatal = 1,
        /// A completion was lost; the data is its work request's identifier.
        CompletionLost = 2,
        /// A queue pair of someone else's was rung for.
        DoorbellRefused = 3,
    }
}

/// An event about an object of the guest's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestEvent {
    pub kind: Event,
    pub qp: u32,
    pub data: u64,
}

/// An answer, without its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The answer to requests that return nothing.
    Done,
    /// The number of the created object.
    Handle(u32),
    Device(DeviceInfo),
    State(GuestQpState),
    /// As many as the chain has space for.
    Paths(GuestPaths),
    Counters(GuestCounters),
    /// `None`: nothing has happened.
    Event(Option<GuestEvent>),
}

impl GuestQuota {
    const fn fields(&self) -> [u32; 5] {
        [
            self.domains,
            self.regions,
            self.pages,
            self.completion_queues,
            self.queue_pairs,
        ]
    }
}

impl GuestCounters {
    const fn fields(&self) -> [u64; 5] {
        [
            self.done,
            self.refused,
            self.unanswerable,
            self.doorbells_refused,
            self.window_faults,
        ]
    }
}

fn put_answer(answer: &Answer, out: &mut Put) {
    match answer {
        Answer::Done => {}
        Answer::Handle(handle) => {
            out.u32(*handle);
        }
        Answer::Device(info) => {
            out.u32(info.device);
            for field in info.quota.fields() {
                out.u32(field);
            }
            out.u64(info.doorbell_offset);
            info.ports.iter().for_each(|port| port.put(out));
        }
        Answer::State(state) => {
            out.u8(state.code());
        }
        Answer::Paths(paths) => paths.put(out),
        Answer::Counters(counters) => {
            for field in counters.fields() {
                out.u64(field);
            }
        }
        Answer::Event(None) => {
            out.u8(0).u32(0).u64(0);
        }
        Answer::Event(Some(event)) => {
            out.u8(event.kind.code()).u32(event.qp).u64(event.data);
        }
    }
}

fn take_answer(from: &mut Take<'_>, asked: Opcode) -> Result<Answer, Malformed> {
    Ok(match asked {
        Opcode::DeallocPd
        | Opcode::DeregisterMr
        | Opcode::DestroyCq
        | Opcode::ModifyQp
        | Opcode::UsePath
        | Opcode::DestroyQp => Answer::Done,
        Opcode::AllocPd | Opcode::RegisterMr | Opcode::CreateCq | Opcode::CreateQp => {
            Answer::Handle(from.u32()?)
        }
        Opcode::QueryDevice => Answer::Device(DeviceInfo {
            device: from.u32()?,
            quota: GuestQuota {
                domains: from.u32()?,
                regions: from.u32()?,
                pages: from.u32()?,
                completion_queues: from.u32()?,
                queue_pairs: from.u32()?,
            },
            doorbell_offset: from.u64()?,
            ports: [Port::take(from)?, Port::take(from)?],
        }),
        Opcode::QueryQp => Answer::State(from.code("state", GuestQpState::from_code)?),
        Opcode::QueryPaths => Answer::Paths(GuestPaths::take(from)?),
        Opcode::QueryCounters => Answer::Counters(GuestCounters {
            done: from.u64()?,
            refused: from.u64()?,
            unanswerable: from.u64()?,
            doorbells_refused: from.u64()?,
            window_faults: from.u64()?,
        }),
        Opcode::NextEvent => {
            let kind = from.code("event", |code| match code {
                0 => Some(None),
                code => Event::from_code(code).map(Some),
            })?;
            let (qp, data) = (from.u32()?, from.u64()?);
            Answer::Event(kind.map(|kind| GuestEvent { kind, qp, data }))
        }
    })
}

impl Answer {
    /// The bytes of an answer, or of a refusal, which has no fields.
    pub fn to_bytes(result: Result<&Self, Status>) -> Vec<u8> {
        let mut out = Put::default();
        let status = result.err().unwrap_or(Status::Ok);
        out.u16(status.code().into()).bytes(&[0; HEADER - 2]);
        if let Ok(answer) = result {
            put_answer(answer, &mut out);
        }
        out.0
    }

    /// Parses the answer to a request with opcode `asked`.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn from_bytes(bytes: &[u8], asked: Opcode) -> Result<Result<Self, Status>, Malformed> {
        let mut from = Take::new(bytes);
        let code = from.u16()?;
        from.bytes::<{ HEADER - 2 }>()?;
        let status = u8::try_from(code).ok().and_then(Status::from_code);
        match status {
            Some(Status::Ok) => take_answer(&mut from, asked).map(Ok),
            Some(status) => Ok(Err(status)),
            None => Err(Malformed::Field {
                field: "status",
                value: code.into(),
            }),
        }
    }
}
