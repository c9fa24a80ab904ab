//! Errors, completions and events of the driver as Python objects.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stellar_driver::{
    AsyncEvent, Completion, DeviceError, Error, PostError, ProfileUseError, QpState, WcStatus,
};

/// An impossible argument is a `ValueError`. Something that is not possible now, or not with this card, is a `RuntimeError`.
pub fn verb(error: Error) -> PyErr {
    match error {
        Error::ProfileUse(ProfileUseError::InUse(_)) => PyRuntimeError::new_err(error.to_string()),
        Error::Config(_)
        | Error::Path(_)
        | Error::Profile(_)
        | Error::ProfileUse(_)
        | Error::QueueSize { .. }
        | Error::Region(_)
        | Error::OtherContext(_)
        | Error::OtherCard
        | Error::ContextOfOtherCard
        | Error::Share(_)
        | Error::NoQueuePair { .. }
        | Error::NotCounted { .. }
        | Error::PathUse { .. }
        | Error::Transport { .. }
        | Error::Attribute { .. } => PyValueError::new_err(error.to_string()),
        Error::Device(_)
        | Error::Probe(_)
        | Error::NoAts
        | Error::Transition(_)
        | Error::Exhausted { .. }
        | Error::SharedTenant { .. }
        | Error::NoPaths { .. }
        | Error::NoRcPaths
        | Error::BadEntry(_)
        | Error::BadHead { .. }
        | Error::Overrun(_)
        | Error::NoInterrupt => PyRuntimeError::new_err(error.to_string()),
    }
}

/// Converts an error of posting, by the rules of [`verb`].
pub fn post(error: PostError) -> PyErr {
    match error {
        PostError::Opcode(_)
        | PostError::Inline { .. }
        | PostError::Bounds { .. }
        | PostError::Domain
        | PostError::NoReceiveQueue { .. } => PyValueError::new_err(error.to_string()),
        PostError::State { .. } | PostError::Full { .. } | PostError::Device(_) => {
            PyRuntimeError::new_err(error.to_string())
        }
    }
}

/// Converts an error of memory, by the rules of [`verb`].
pub fn memory(error: DeviceError) -> PyErr {
    match error {
        DeviceError::OutsideBuffer { .. } => PyValueError::new_err(error.to_string()),
        other => PyRuntimeError::new_err(other.to_string()),
    }
}

/// The fields of a completion, as arguments of the Python class.
pub fn completion<'py>(py: Python<'py>, wc: &Completion) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("wr_id", wc.wr_id)?;
    fields.set_item("status", wc.status.name())?;
    fields.set_item("opcode", wc.opcode.name())?;
    fields.set_item("qp", wc.qp)?;
    fields.set_item("bytes", wc.byte_len)?;
    fields.set_item("immediate", wc.immediate)?;
    Ok(fields)
}

/// The fields of an event, as arguments of the Python class.
pub fn event(py: Python<'_>, event: AsyncEvent) -> PyResult<Bound<'_, PyDict>> {
    let fields = PyDict::new(py);
    let (kind, qp) = match event {
        AsyncEvent::QueuePairFatal { qp, status } => {
            fields.set_item("status", status.map(WcStatus::name))?;
            ("QueuePairFatal", qp)
        }
        AsyncEvent::CompletionLost { qp, wr_id } => {
            fields.set_item("wr_id", wr_id)?;
            ("CompletionLost", qp)
        }
        AsyncEvent::ImmediateThreshold { qp, count } => {
            fields.set_item("count", count)?;
            ("ImmediateThreshold", qp)
        }
        AsyncEvent::DoorbellRefused { page, qp } => {
            fields.set_item("page", page)?;
            ("DoorbellRefused", qp)
        }
        AsyncEvent::PayloadReadFailed { qp, address } => {
            fields.set_item("address", address)?;
            ("PayloadReadFailed", qp)
        }
        AsyncEvent::EntryReadFailed { qp, address } => {
            fields.set_item("address", address)?;
            ("EntryReadFailed", qp)
        }
        AsyncEvent::FlushReadFailed { function, address } => {
            fields.set_item("function", function.endpoint())?;
            fields.set_item("address", address)?;
            fields.set_item("kind", "FlushReadFailed")?;
            fields.set_item("qp", None::<u32>)?;
            return Ok(fields);
        }
    };
    fields.set_item("kind", kind)?;
    fields.set_item("qp", qp)?;
    Ok(fields)
}

/// Name of a state in verbs.
pub fn state(state: QpState) -> &'static str {
    match state {
        QpState::Reset => "RESET",
        QpState::Init => "INIT",
        QpState::Rtr => "RTR",
        QpState::Rts => "RTS",
        QpState::Error => "ERROR",
    }
}
