//! Memory regions.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use stellar_driver::MemoryRegion as Region;

use super::answers;
use super::gpu::GpuRange;
use crate::world::invalid;

/// A memory region, until it is deregistered.
#[pyclass(frozen, module = "openstellar._native")]
pub struct MemoryRegion {
    region: Mutex<Option<Region>>,
    /// The region's memory, if that is GPU memory.
    gpu: Option<GpuRange>,
}

/// A region that is registered.
pub struct Held<'a>(MutexGuard<'a, Option<Region>>);

impl Held<'_> {
    pub fn region(&self) -> PyResult<&Region> {
        self.0.as_ref().ok_or_else(|| {
            PyRuntimeError::new_err("the region was deregistered; register its memory again")
        })
    }
}

impl MemoryRegion {
    pub fn new(region: Region, gpu: Option<GpuRange>) -> Self {
        Self {
            region: Mutex::new(Some(region)),
            gpu,
        }
    }

    pub fn hold(&self) -> Held<'_> {
        Held(self.region.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn check(region: &Region, offset: u64, length: usize) -> PyResult<()> {
        let have = region.length();
        match offset.checked_add(length as u64) {
            Some(end) if end <= have => Ok(()),
            _ => Err(invalid(format!(
                "{length} bytes from {offset} on are not in a region of {have} bytes"
            ))),
        }
    }
}

#[pymethods]
impl MemoryRegion {
    /// Address, key and bytes, for work requests and for the peer.
    fn place(&self) -> PyResult<(u64, u32, u64)> {
        let held = self.hold();
        let region = held.region()?;
        Ok((region.address(), region.rkey(), region.length()))
    }

    /// Writes as the host's processor or GPU would.
    fn store(&self, py: Python<'_>, offset: u64, bytes: Vec<u8>) -> PyResult<()> {
        py.detach(|| {
            let held = self.hold();
            let region = held.region()?;
            Self::check(region, offset, bytes.len())?;
            match (&self.gpu, region.memory()) {
                (Some(gpu), _) => gpu.store(offset, &bytes),
                (None, Some(memory)) => memory
                    .write(offset as usize, &bytes)
                    .map_err(answers::memory)?,
                (None, None) => unreachable!("a region is host memory or the GPU's"),
            }
            Ok(())
        })
    }

    /// Reads as the host's processor or GPU would.
    fn load<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let held = self.hold();
            let region = held.region()?;
            Self::check(region, offset, length)?;
            let mut bytes = vec![0; length];
            match (&self.gpu, region.memory()) {
                (Some(gpu), _) => gpu.load(offset, &mut bytes),
                (None, Some(memory)) => memory
                    .read(offset as usize, &mut bytes)
                    .map_err(answers::memory)?,
                (None, None) => unreachable!("a region is host memory or the GPU's"),
            }
            Ok::<_, PyErr>(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Deregisters it.
    fn deregister(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let mut held = self.hold();
            held.region()?;
            let Some(region) = held.0.take() else {
                return Ok(());
            };
            region.deregister().map_err(|refused| {
                let error = PyRuntimeError::new_err(refused.to_string());
                *held.0 = Some(refused.region);
                error
            })
        })
    }
}
