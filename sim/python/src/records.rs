//! Layouts of the records at the blocks' ports, so that Python contains no bit offset.

use hdl_requester::{ConfigureKind, Failure};
use hdl_rx_pipeline::frame_info::FrameInfo;
use hdl_rx_pipeline::OwnAddress;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};
use rust_hdl::prelude::Synth;
use sim_world::closest;
use stellar_wire::host::registers as map;
use stellar_wire::hw::pack::width;
use stellar_wire::hw::{
    ack, address, completer, config, congestion, control, core, dma, frame, host_queues, messages,
    read, receive, requester, responder, rq, spray, tables, tenant, tx, window, wqe,
};

/// A number in a record: its path, lowest bit, width, and the names of its values if it is an enumeration.
type Field = (String, usize, usize, Vec<String>);

/// A record that is available in Python.
type Known = fn() -> TypeDescriptor;

const ALL: &[Known] = &[
    ack::AckRequest::descriptor,
    address::FrameAddress::descriptor,
    address::PortConfig::descriptor,
    control::QpPeer::descriptor,
    completer::CcDescriptor::descriptor,
    completer::CqDescriptor::descriptor,
    config::ConfigWrite::descriptor,
    congestion::NsccConfig::descriptor,
    congestion::NsccRequest::descriptor,
    congestion::CongestionSample::descriptor,
    congestion::NsccResponse::descriptor,
    core::AddressedToken::descriptor,
    core::DmaSegments::descriptor,
    core::QpToken::descriptor,
    core::TranslatedToken::descriptor,
    dma::PlaceCommand::descriptor,
    dma::WriteTlpHeader::descriptor,
    frame::PacketHeaders::descriptor,
    host_queues::CompletionEntry::descriptor,
    host_queues::EventEntry::descriptor,
    host_queues::RingConfig::descriptor,
    messages::Completion::descriptor,
    messages::MessageRequest::descriptor,
    messages::MessageResponse::descriptor,
    messages::SendQueueConfig::descriptor,
    messages::WqeFetch::descriptor,
    messages::WqeFetched::descriptor,
    read::CompletionHeader::descriptor,
    read::ReadBeat::descriptor,
    read::ReadCommand::descriptor,
    read::ReadTlpHeader::descriptor,
    receive::RxOutcome::descriptor,
    requester::ControlPacket::descriptor,
    requester::TranslateRequest::descriptor,
    requester::TranslateResponse::descriptor,
    requester::RequesterConfig::descriptor,
    requester::TxAnswer::descriptor,
    requester::TxRequest::descriptor,
    responder::ResponderConfig::descriptor,
    tenant::TenantEntry::descriptor,
    rq::RqDescriptor::descriptor,
    spray::EntropyProfileEntry::descriptor,
    spray::ExplicitEntropy::descriptor,
    spray::SprayConfig::descriptor,
    spray::SprayRequest::descriptor,
    spray::SprayResponse::descriptor,
    tables::EmttEntry::descriptor,
    tables::MrEntry::descriptor,
    tables::QpContext::descriptor,
    tables::TableWrite::descriptor,
    tx::TxPacket::descriptor,
    ConfigureKind::descriptor,
    Failure::descriptor,
    FrameInfo::descriptor,
    OwnAddress::descriptor,
    window::SentPacket::descriptor,
    window::WindowRequest::descriptor,
    window::WindowResponse::descriptor,
    wqe::Wqe::descriptor,
];

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(records, module)?)?;
    module.add_function(wrap_pyfunction!(record_fields, module)?)?;
    module.add_function(wrap_pyfunction!(registers, module)?)
}

/// Names of the records.
#[pyfunction]
fn records() -> Vec<String> {
    ALL.iter().map(|known| known().name).collect()
}

/// The fields of the record `name`, lowest bits first.
#[pyfunction]
fn record_fields(name: &str) -> PyResult<Vec<Field>> {
    let known = ALL.iter().map(|known| known());
    let Some(record) = known.into_iter().find(|known| known.name == name) else {
        let names = records();
        let closest = closest(name, names.iter().map(String::as_str));
        return Err(PyValueError::new_err(format!(
            "there is no record {name:?}; closest: {closest}"
        )));
    };
    let mut fields = vec![];
    flatten(&record, "", &mut 0, &mut fields);
    Ok(fields)
}

fn flatten(of: &TypeDescriptor, path: &str, offset: &mut usize, fields: &mut Vec<Field>) {
    let values = match &of.kind {
        TypeKind::Composite(children) => {
            for child in children {
                let name = match path {
                    "" => child.fieldname.clone(),
                    _ => format!("{path}.{}", child.fieldname),
                };
                flatten(&child.kind, &name, offset, fields);
            }
            return;
        }
        // `DropReason::BadIcrc` is `BadIcrc` in Python.
        TypeKind::Enum(names) => names
            .iter()
            .map(|name| name.rsplit(':').next().unwrap_or(name).to_owned())
            .collect(),
        TypeKind::Bits(_) | TypeKind::Signed(_) => vec![],
    };
    let bits = width(of);
    fields.push((path.to_owned(), *offset, bits, values));
    *offset += bits;
}

/// Registers of BAR0: name, offset, count, reset value.
#[pyfunction]
fn registers() -> Vec<(&'static str, u16, u16, u64)> {
    map::ALL
        .iter()
        .map(|register| {
            (
                register.name,
                register.offset,
                register.count,
                register.reset,
            )
        })
        .collect()
}
