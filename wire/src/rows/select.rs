//! The tables of the card.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use crate::record_enum::record_enum;

record_enum! {
    /// The table that a write goes to. It decides the layout of the row.
    pub enum ConfigSelect {
        /// [`super::QpRow`] by queue pair.
        Qp,
        /// [`super::MrRow`] by region.
        Mr,
        /// [`super::EmttRow`] by page.
        Emtt,
        /// [`super::RequesterRow`] by queue pair.
        Requester,
        /// [`super::SendQueueRow`] by queue pair.
        SendQueue,
        /// [`super::SprayRow`] by queue pair.
        Spray,
        /// [`super::ProfileRow`] by profile.
        Profile,
        /// [`super::NsccRegisters`] by queue pair.
        Nscc,
        /// [`super::AddressRow`] of port 0, by address vector.
        Address0,
        /// [`super::AddressRow`] of port 1, by address vector.
        Address1,
        /// [`super::PortRow`] by port.
        Port,
        /// [`super::PeerRow`] by queue pair.
        Peer,
        /// [`super::ResponderRow`] by queue pair.
        Responder,
        /// [`super::RingRow`] of a completion queue, by queue pair.
        CompletionQueue,
        /// [`super::RingRow`] of an event queue, by its number.
        EventQueue,
        /// [`super::TenantRow`] by tenant ([`super::tenant_of`]).
        Tenant,
        /// [`super::PathUseRow`] by queue pair. A row is not stored: it changes one path of a queue pair that is configured.
        PathUse,
        /// [`super::ExplicitRow`] by profile and number.
        Explicit,
    }
}
