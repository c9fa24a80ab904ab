//! Requests of a guest's driver.

use super::attributes::Step;
use super::fields::{Malformed, Put, Take};
use super::HEADER;
use crate::code_enum::code_enum;

code_enum! {
    /// The kind of a request.
    pub enum Opcode {
        QueryDevice = 1,
        AllocPd = 2,
        DeallocPd = 3,
        RegisterMr = 4,
        DeregisterMr = 5,
        CreateCq = 6,
        DestroyCq = 7,
        CreateQp = 8,
        ModifyQp = 9,
        QueryQp = 10,
        DestroyQp = 11,
        QueryCounters = 12,
        NextEvent = 13,
        UsePath = 14,
        QueryPaths = 15,
    }
}

/// A memory region of whole pages of guest memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterMr {
    /// Protection domain.
    pub pd: u32,
    /// log2 of the page size: 12 or 21.
    pub page_log2: u8,
    /// The peer may write.
    pub remote_write: bool,
    /// The peer may read.
    pub remote_read: bool,
    /// Address of the first page in work requests, a multiple of the page size.
    pub address: u64,
    /// Pages.
    pub pages: u32,
    /// Guest address of the list of the pages' guest addresses, eight bytes each. The host reads it once.
    pub list: u64,
}

/// A queue pair whose rings are in guest memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreateQp {
    /// Protection domain.
    pub pd: u32,
    /// Completion queue.
    pub cq: u32,
    /// Guest address of the send queue, a multiple of 64.
    pub send_ring: u64,
    /// Entries of the send queue.
    pub send_entries: u32,
    /// Guest address of this queue pair's ring in the completion queue, a multiple of 32; zeroed.
    pub completion_ring: u64,
}

/// A control request of a guest's driver to the host. Each variant is one opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// What the device has, and where it is.
    QueryDevice,
    /// A protection domain.
    AllocPd,
    DeallocPd {
        pd: u32,
    },
    RegisterMr(RegisterMr),
    DeregisterMr {
        key: u32,
    },
    /// A completion queue with room for `entries` completions of each of its queue pairs.
    CreateCq {
        entries: u32,
    },
    DestroyCq {
        cq: u32,
    },
    CreateQp(CreateQp),
    ModifyQp {
        qp: u32,
        step: Step,
    },
    QueryQp {
        qp: u32,
    },
    DestroyQp {
        qp: u32,
    },
    /// Deny a queue pair a path, or allow it again ([`crate::rows::PathUseRow`]).
    UsePath {
        qp: u32,
        index: u8,
        denied: bool,
    },
    /// What was counted on the paths of a queue pair, in ascending order of their indices, from the path at place `first` of them on.
    QueryPaths {
        qp: u32,
        first: u8,
    },
    QueryCounters,
    /// Take the oldest event of the device's objects that was not returned yet.
    NextEvent,
}

impl Request {
    /// The request's opcode.
    pub const fn opcode(&self) -> Opcode {
        match self {
            Self::QueryDevice => Opcode::QueryDevice,
            Self::AllocPd => Opcode::AllocPd,
            Self::DeallocPd { .. } => Opcode::DeallocPd,
            Self::RegisterMr(_) => Opcode::RegisterMr,
            Self::DeregisterMr { .. } => Opcode::DeregisterMr,
            Self::CreateCq { .. } => Opcode::CreateCq,
            Self::DestroyCq { .. } => Opcode::DestroyCq,
            Self::CreateQp(_) => Opcode::CreateQp,
            Self::ModifyQp { .. } => Opcode::ModifyQp,
            Self::QueryQp { .. } => Opcode::QueryQp,
            Self::DestroyQp { .. } => Opcode::DestroyQp,
            Self::UsePath { .. } => Opcode::UsePath,
            Self::QueryPaths { .. } => Opcode::QueryPaths,
            Self::QueryCounters => Opcode::QueryCounters,
            Self::NextEvent => Opcode::NextEvent,
        }
    }

    /// The message's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Put::default();
        out.u16(self.opcode().code().into()).bytes(&[0; HEADER - 2]);
        match self {
            Self::QueryDevice | Self::AllocPd | Self::QueryCounters | Self::NextEvent => {}
            Self::DeallocPd { pd: handle }
            | Self::DeregisterMr { key: handle }
            | Self::CreateCq { entries: handle }
            | Self::DestroyCq { cq: handle }
            | Self::QueryQp { qp: handle }
            | Self::DestroyQp { qp: handle } => {
                out.u32(*handle);
            }
            Self::RegisterMr(region) => {
                out.u32(region.pd).u8(region.page_log2);
                out.flag(region.remote_write).flag(region.remote_read);
                out.u8(0).u64(region.address).u32(region.pages);
                out.u32(0).u64(region.list);
            }
            Self::CreateQp(qp) => {
                out.u32(qp.pd).u32(qp.cq).u64(qp.send_ring);
                out.u32(qp.send_entries).u32(0).u64(qp.completion_ring);
            }
            Self::ModifyQp { qp, step } => {
                out.u32(*qp);
                step.put(&mut out);
            }
            Self::UsePath { qp, index, denied } => {
                out.u32(*qp).u8(*index).flag(*denied);
            }
            Self::QueryPaths { qp, first } => {
                out.u32(*qp).u8(*first);
            }
        }
        out.0
    }

    /// The request these bytes hold; more bytes than it needs are ignored.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Take::new(bytes);
        let code = from.u16()?;
        from.bytes::<{ HEADER - 2 }>()?;
        let opcode = u8::try_from(code).ok().and_then(Opcode::from_code);
        Ok(match opcode.ok_or(Malformed::Opcode(code))? {
            Opcode::QueryDevice => Self::QueryDevice,
            Opcode::AllocPd => Self::AllocPd,
            Opcode::DeallocPd => Self::DeallocPd { pd: from.u32()? },
            Opcode::RegisterMr => Self::RegisterMr(take_region(&mut from)?),
            Opcode::DeregisterMr => Self::DeregisterMr { key: from.u32()? },
            Opcode::CreateCq => Self::CreateCq {
                entries: from.u32()?,
            },
            Opcode::DestroyCq => Self::DestroyCq { cq: from.u32()? },
            Opcode::CreateQp => Self::CreateQp(take_qp(&mut from)?),
            Opcode::ModifyQp => Self::ModifyQp {
                qp: from.u32()?,
                step: Step::take(&mut from)?,
            },
            Opcode::QueryQp => Self::QueryQp { qp: from.u32()? },
            Opcode::DestroyQp => Self::DestroyQp { qp: from.u32()? },
            Opcode::UsePath => Self::UsePath {
                qp: from.u32()?,
                index: from.u8()?,
                denied: from.flag("path.denied")?,
            },
            Opcode::QueryPaths => Self::QueryPaths {
                qp: from.u32()?,
                first: from.u8()?,
            },
            Opcode::QueryCounters => Self::QueryCounters,
            Opcode::NextEvent => Self::NextEvent,
        })
    }
}

fn take_region(from: &mut Take<'_>) -> Result<RegisterMr, Malformed> {
    let known = |log2| matches!(log2, 12 | 21).then_some(log2);
    let pd = from.u32()?;
    let page_log2 = from.code("region.page_log2", known)?;
    let remote_write = from.flag("region.remote_write")?;
    let remote_read = from.flag("region.remote_read")?;
    from.u8()?;
    let address = from.u64()?;
    let pages = from.u32()?;
    from.u32()?;
    Ok(RegisterMr {
        pd,
        page_log2,
        remote_write,
        remote_read,
        address,
        pages,
        list: from.u64()?,
    })
}

fn take_qp(from: &mut Take<'_>) -> Result<CreateQp, Malformed> {
    let (pd, cq) = (from.u32()?, from.u32()?);
    let (send_ring, send_entries) = (from.u64()?, from.u32()?);
    from.u32()?;
    Ok(CreateQp {
        pd,
        cq,
        send_ring,
        send_entries,
        completion_ring: from.u64()?,
    })
}
