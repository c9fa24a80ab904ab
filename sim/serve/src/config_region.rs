//! The configuration space of a function as a region of bytes.

use sim_nic::ConfigEffect;
use stellar_wire::host::config_space::{Function, LENGTH};

use crate::world::Simulation;

/// Reads `count` bytes of a configuration space, or those of them that lie inside.
pub fn read(
    simulation: &mut Simulation,
    host: usize,
    function: Function,
    offset: u64,
    count: usize,
) -> Vec<u8> {
    let first = offset - offset % 4;
    let end = offset.saturating_add(count as u64).min(LENGTH.into());
    let words = (first..end).step_by(4);
    let bytes = words.flat_map(|at| {
        let word = simulation.hosts.config_load(host, function, at as u16);
        word.to_le_bytes()
    });
    bytes.skip((offset - first) as usize).take(count).collect()
}

/// Writes bytes of a configuration space; `None` if some lie outside, and then nothing is written.
pub fn write(
    simulation: &mut Simulation,
    host: usize,
    function: Function,
    offset: u64,
    data: &[u8],
) -> Option<ConfigEffect> {
    let end = offset.checked_add(data.len() as u64)?;
    if end > u64::from(LENGTH) {
        return None;
    }
    let hosts = &mut simulation.hosts;
    Some(hosts.config_store(host, function, offset as u16, data))
}
