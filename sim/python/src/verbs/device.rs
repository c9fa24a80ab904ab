//! A card after bring-up, its contexts and their protection domains.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use stellar_driver::{DeviceConfig, GeneratedEntropy, PciFunction, Probe, QueuePairConfig};

use super::gpu::Gpu;
use super::queues::{CompletionQueue, QueuePair};
use super::region::MemoryRegion;
use super::{answers, attributes};
use crate::world::{failed, invalid, owner, page_size};

/// A card after bring-up.
#[pyclass(frozen, module = "openstellar._native")]
pub struct Device {
    device: stellar_driver::Device,
    gpu: Gpu,
}

impl Device {
    pub fn bring_up(
        function: Arc<dyn PciFunction>,
        gpu: Gpu,
        config: DeviceConfig,
    ) -> PyResult<Self> {
        let probe = Probe::new(function).map_err(failed)?;
        let device = probe.bring_up(config).map_err(answers::verb)?;
        Ok(Self { device, gpu })
    }
}

#[pymethods]
impl Device {
    /// What bring-up found, and the sizes of the card's tables.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (probe, limits) = (self.device.probe(), self.device.limits());
        let fields = PyDict::new(py);
        fields.set_item("serial", probe.serial)?;
        fields.set_item("ats", probe.ats)?;
        fields.set_item("version", probe.version)?;
        fields.set_item("max_payload", probe.max_payload)?;
        fields.set_item("max_read", probe.max_read)?;
        fields.set_item("queue_pairs", limits.queue_pairs)?;
        fields.set_item("send_entries", limits.send_entries)?;
        fields.set_item("inline_bytes", limits.inline_bytes)?;
        fields.set_item("write_imm", limits.write_imm)?;
        fields.set_item("write_imm_stash", limits.write_imm_stash)?;
        fields.set_item("completion_entries", limits.completion_entries)?;
        fields.set_item("completion_vectors", limits.completion_vectors)?;
        fields.set_item("regions", limits.regions)?;
        fields.set_item("translations", limits.translations)?;
        fields.set_item("send_window", limits.send_window)?;
        fields.set_item("receive_window", limits.receive_window)?;
        fields.set_item("entropy_profiles", limits.entropy_profiles)?;
        fields.set_item("explicit_profiles", limits.explicit_profiles)?;
        fields.set_item("peer_hosts", limits.peer_hosts)?;
        fields.set_item("rc_paths", limits.rc_paths)?;
        Ok(fields)
    }

    /// Packets received, by drop reason, without counters that are zero.
    fn counters(&self, py: Python<'_>) -> PyResult<Vec<(String, u64)>> {
        let counters = py.detach(|| self.device.counters());
        let counters = counters.map_err(answers::verb)?.into_iter();
        Ok(counters
            .map(|counter| (format!("{:?}", counter.reason), counter.value))
            .collect())
    }

    fn set_generated_profile(
        &self,
        py: Python<'_>,
        number: u8,
        base: u32,
        stride_log2: u8,
        active: u8,
        backups: u8,
    ) -> PyResult<()> {
        let values = GeneratedEntropy {
            base,
            stride_log2,
            active,
            backups,
        };
        py.detach(|| self.device.set_generated_profile(number, values))
            .map_err(answers::verb)
    }

    fn set_explicit_profile(
        &self,
        py: Python<'_>,
        number: u8,
        active: Vec<u32>,
        backups: Vec<u32>,
    ) -> PyResult<()> {
        py.detach(|| self.device.set_explicit_profile(number, &active, &backups))
            .map_err(answers::verb)
    }

    /// A context with a doorbell page of its own.
    fn open(&self, py: Python<'_>) -> PyResult<Context> {
        let context = py.detach(|| self.device.open()).map_err(answers::verb)?;
        let gpu = self.gpu.clone();
        Ok(Context { context, gpu })
    }
}

/// A context of the card.
#[pyclass(frozen, module = "openstellar._native")]
pub struct Context {
    context: stellar_driver::Context,
    gpu: Gpu,
}

#[pymethods]
impl Context {
    fn page(&self) -> u16 {
        self.context.page()
    }

    fn alloc_pd(&self) -> PyResult<ProtectionDomain> {
        Ok(ProtectionDomain {
            pd: self.context.alloc_pd().map_err(answers::verb)?,
            context: self.context.clone(),
            gpu: self.gpu.clone(),
        })
    }

    fn create_cq(
        &self,
        py: Python<'_>,
        entries: u32,
        interrupt: bool,
    ) -> PyResult<CompletionQueue> {
        let cq = py.detach(|| self.context.create_cq(entries, interrupt));
        Ok(CompletionQueue(cq.map_err(answers::verb)?))
    }

    /// The next event. With a timeout it waits that many nanoseconds of the card's clock; without one it returns at once.
    #[pyo3(signature = (timeout_ns))]
    fn event<'py>(
        &self,
        py: Python<'py>,
        timeout_ns: Option<u64>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let event = py.detach(|| match timeout_ns {
            Some(ns) => self.context.wait_event(Duration::from_nanos(ns)),
            None => self.context.poll_event(),
        });
        let event = event.map_err(answers::verb)?;
        event.map(|event| answers::event(py, event)).transpose()
    }

    /// Requests an event when a queue pair has received this number of WRITEs with immediate.
    fn arm_immediates(&self, py: Python<'_>, qp: &QueuePair, count: u32) -> PyResult<()> {
        py.detach(|| self.context.arm_immediates(&qp.0, count))
            .map_err(answers::verb)
    }
}

/// The memory that queue pairs may access.
#[pyclass(frozen, module = "openstellar._native")]
pub struct ProtectionDomain {
    pd: stellar_driver::ProtectionDomain,
    context: stellar_driver::Context,
    gpu: Gpu,
}

#[pymethods]
impl ProtectionDomain {
    /// Registers fresh memory.
    fn register(
        &self,
        py: Python<'_>,
        length: u64,
        memory: &str,
        page: u64,
        remote_write: bool,
    ) -> PyResult<MemoryRegion> {
        let access = attributes::access(remote_write);
        if length == 0 {
            return Err(invalid("a region holds at least one byte"));
        }
        match owner(memory)? {
            stellar_transport::rx::Owner::Host => py.detach(|| {
                let buffer = self.context.alloc(length as usize);
                let buffer = buffer.map_err(answers::verb)?;
                let region = self.pd.register(buffer, access).map_err(answers::verb)?;
                Ok(MemoryRegion::new(region, None))
            }),
            stellar_transport::rx::Owner::Gpu => {
                let size = page_size(page)?;
                py.detach(|| {
                    let (range, pages) = self.gpu.alloc(length, size).ok_or_else(|| {
                        PyRuntimeError::new_err(format!(
                            "no {length} bytes of GPU memory are left at this host; use new hosts"
                        ))
                    })?;
                    // SAFETY: the pages are a simulated GPU's, which only this process's simulation has, and nobody else got them.
                    let region = unsafe { self.pd.register_translated(pages, access) };
                    Ok(MemoryRegion::new(
                        region.map_err(answers::verb)?,
                        Some(range),
                    ))
                })
            }
        }
    }

    fn create_qp(
        &self,
        py: Python<'_>,
        cq: &CompletionQueue,
        send_entries: u32,
        inline_bytes: u32,
    ) -> PyResult<QueuePair> {
        let config = QueuePairConfig {
            send_entries,
            inline_bytes,
            ..QueuePairConfig::default()
        };
        let qp = py.detach(|| self.pd.create_qp(&cq.0, config));
        Ok(QueuePair(qp.map_err(answers::verb)?))
    }
}
