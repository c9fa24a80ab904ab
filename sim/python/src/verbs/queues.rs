//! Completion queues and queue pairs.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use stellar_driver::{Modify, Source, WorkRequest};

use super::attributes::{self, Rtr, Told};
use super::region::MemoryRegion;
use super::{answers, answers::state};

/// A completion queue.
#[pyclass(frozen, module = "openstellar._native")]
pub struct CompletionQueue(pub stellar_driver::CompletionQueue);

#[pymethods]
impl CompletionQueue {
    /// Returns up to `most` completions. With a timeout it waits that many nanoseconds of the card's clock for the first one.
    #[pyo3(signature = (most, timeout_ns))]
    fn poll<'py>(
        &self,
        py: Python<'py>,
        most: usize,
        timeout_ns: Option<u64>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let found = py.detach(|| match timeout_ns {
            Some(ns) => self.0.wait(most, Duration::from_nanos(ns)),
            None => self.0.poll(most),
        });
        let found = found.map_err(answers::verb)?;
        found.iter().map(|wc| answers::completion(py, wc)).collect()
    }
}

/// A queue pair.
#[pyclass(frozen, module = "openstellar._native")]
pub struct QueuePair(pub stellar_driver::QueuePair);

impl QueuePair {
    fn modify(&self, py: Python<'_>, step: Modify) -> PyResult<()> {
        py.detach(|| self.0.modify(step)).map_err(answers::verb)
    }
}

#[pymethods]
impl QueuePair {
    fn number(&self) -> u32 {
        self.0.number()
    }

    fn state(&self) -> &'static str {
        state(self.0.state())
    }

    fn outstanding(&self) -> usize {
        self.0.outstanding()
    }

    /// What the card has counted, by the names of `QpCounter`.
    fn counters(&self, py: Python<'_>) -> PyResult<Vec<(String, u64)>> {
        let counters = py.detach(|| self.0.counters()).map_err(answers::verb)?;
        Ok(counters
            .iter()
            .map(|(counter, value)| (counter.to_string(), value))
            .collect())
    }

    fn deny_path(&self, py: Python<'_>, index: u8) -> PyResult<()> {
        py.detach(|| self.0.deny_path(index)).map_err(answers::verb)
    }

    fn allow_path(&self, py: Python<'_>, index: u8) -> PyResult<()> {
        py.detach(|| self.0.allow_path(index))
            .map_err(answers::verb)
    }

    fn denied_paths(&self) -> Vec<u32> {
        self.0.denied_paths().into_iter().map(u32::from).collect()
    }

    /// Index, packets sent, marked and lost of each path.
    fn path_counts(&self, py: Python<'_>) -> PyResult<Vec<(u32, u64, u64, u64)>> {
        let counts = py.detach(|| self.0.path_counts()).map_err(answers::verb)?;
        let each = counts.into_iter().map(|path| {
            let counts = path.counts;
            (
                u32::from(path.index),
                counts.sent,
                counts.marked,
                counts.lost,
            )
        });
        Ok(each.collect())
    }

    /// The values that the peer needs: number, first PSN, ports.
    fn connection(&self, psn: u32) -> Told {
        attributes::told(&self.0.connection(psn))
    }

    fn to_reset(&self, py: Python<'_>) -> PyResult<()> {
        self.modify(py, Modify::Reset)
    }

    fn to_init(&self, py: Python<'_>, pkey: u16, remote_write: bool) -> PyResult<()> {
        let attributes = attributes::init(pkey, remote_write);
        self.modify(py, Modify::Init(attributes))
    }

    fn to_rtr(&self, py: Python<'_>, peer: Told, attributes: Rtr) -> PyResult<()> {
        self.modify(py, Modify::Rtr(attributes.attributes(peer)?))
    }

    fn to_rts(
        &self,
        py: Python<'_>,
        psn: u32,
        timeout_ns: u64,
        retry_count: u8,
        window: u16,
        early_loss: u16,
    ) -> PyResult<()> {
        let attributes = attributes::rts(psn, timeout_ns, retry_count, window, early_loss);
        self.modify(py, Modify::Rts(attributes))
    }

    fn to_error(&self, py: Python<'_>) -> PyResult<()> {
        self.modify(py, Modify::Error)
    }

    /// Posts a WRITE, with or without immediate, of a part of a region or of inline bytes.
    #[pyo3(signature = (wr_id, region, inline, remote, immediate, signaled, fence))]
    #[allow(clippy::too_many_arguments)] // arguments of a Python function
    fn post_write(
        &self,
        py: Python<'_>,
        wr_id: u64,
        region: Option<(Bound<'_, MemoryRegion>, u64, u32)>,
        inline: Option<Vec<u8>>,
        remote: (u64, u32),
        immediate: Option<u32>,
        signaled: bool,
        fence: bool,
    ) -> PyResult<()> {
        let region = region
            .as_ref()
            .map(|(region, offset, length)| (region.get(), *offset, *length));
        py.detach(|| {
            let held = region.map(|(region, offset, length)| (region.hold(), offset, length));
            let source = match (&held, &inline) {
                (Some((held, offset, length)), _) => held
                    .region()?
                    .slice(*offset, *length)
                    .map_err(answers::verb)?,
                (None, Some(bytes)) => Source::Inline(bytes),
                (None, None) => Source::Nothing,
            };
            let mut request = WorkRequest::write(wr_id, source, remote.0, remote.1);
            if let Some(immediate) = immediate {
                request = request.with_immediate(immediate);
            }
            (request.signaled, request.fence) = (signaled, fence);
            self.0.post_send(&request).map_err(answers::post)
        })
    }

    /// Posts a request that only completes.
    fn post_nop(&self, py: Python<'_>, wr_id: u64, fence: bool) -> PyResult<()> {
        let mut request = WorkRequest::nop(wr_id);
        request.fence = fence;
        py.detach(|| self.0.post_send(&request))
            .map_err(answers::post)
    }
}
