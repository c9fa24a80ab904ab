//! The driver on simulated cards, for Python: bring-up and verbs.

mod answers;
pub(crate) mod attributes;
mod cards;
mod device;
mod gpu;
mod queues;
mod region;

use pyo3::prelude::*;

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<cards::Cards>()?;
    module.add_class::<device::Device>()?;
    module.add_class::<device::Context>()?;
    module.add_class::<device::ProtectionDomain>()?;
    module.add_class::<region::MemoryRegion>()?;
    module.add_class::<queues::CompletionQueue>()?;
    module.add_class::<queues::QueuePair>()
}
