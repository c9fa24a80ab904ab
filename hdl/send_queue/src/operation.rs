//! The operation that the message table executes.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{MessageOp, MessageRequest, SendQueueConfig};

/// A request that was accepted, or a flush step, which is none: of its `request` only the queue pair counts.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Accepted {
    pub is_flush_step: Bit,
    pub request: MessageRequest,
    /// Valid with a `Configure` request.
    pub settings: SendQueueConfig,
}

/// What the message table executes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Operation {
    pub is_flush_step: Bit,
    pub request: MessageRequest,
    /// `NextMessage` or `TakeMessages`; the latter.
    pub is_next: Bit,
    pub is_take: Bit,
    /// `LookupBySlot` or `Fault`; the latter.
    pub is_by_slot: Bit,
    pub is_fault: Bit,
    pub is_complete: Bit,
    pub is_lookup_by_psn: Bit,
    pub is_configure: Bit,
}

/// Returns the operation of what was accepted. Levels: 1.
#[hdl_fn]
pub fn operation_of(accepted: Accepted) -> Operation {
    let request = accepted.request;
    let is_flush_step = accepted.is_flush_step;
    let is_request = !is_flush_step;
    let is_take = is_request & (request.op == MessageOp::TakeMessages);
    let is_fault = is_request & (request.op == MessageOp::Fault);
    Operation {
        is_flush_step,
        request,
        is_next: (is_request & (request.op == MessageOp::NextMessage)) | is_take,
        is_take,
        is_by_slot: (is_request & (request.op == MessageOp::LookupBySlot)) | is_fault,
        is_fault,
        is_complete: is_request & (request.op == MessageOp::Complete),
        is_lookup_by_psn: is_request & (request.op == MessageOp::LookupByPsn),
        is_configure: is_request & (request.op == MessageOp::Configure),
    }
}
