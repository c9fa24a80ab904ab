//! Frames and table writes, for benches that drive the lane themselves.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sim_cosim::traffic::{Message, Wrapping};
use stellar_transport::rx::{EmttRow, MrRow, Owner, PageSize, TableWrite};

use super::arguments::qp_context;
use super::invalid;

/// The frames of one RDMA WRITE, in sending order.
#[pyfunction]
#[pyo3(signature = (data, *, qp, psn, va, rkey, mtu, mrc, msn, ipv6, srv6, seed))]
#[allow(clippy::too_many_arguments)] // keyword arguments of a Python function
pub fn write_frames<'py>(
    py: Python<'py>,
    data: &[u8],
    qp: u32,
    psn: u32,
    va: u64,
    rkey: u32,
    mtu: usize,
    mrc: bool,
    msn: u16,
    ipv6: bool,
    srv6: bool,
    seed: u64,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    if mtu == 0 {
        return Err(invalid("the path MTU is at least one byte"));
    }
    let message = Message {
        mrc,
        qp,
        psn,
        msn,
        va,
        rkey,
        data,
        mtu,
        immediate: None,
        wrapping: Wrapping {
            ipv6,
            srv6,
            ..Wrapping::default()
        },
    };
    let frames = message.frames(&mut ChaCha8Rng::seed_from_u64(seed));
    frames
        .iter()
        .map(|frame| Ok(PyBytes::new(py, &frame.emit().map_err(invalid)?)))
        .collect()
}

/// Values for the lane's table port, in writing order. They create a queue pair, and a region of contiguous 2 MiB GPU pages from bus address `bus`
/// on.
#[pyfunction]
#[pyo3(signature = (*, qp, mode, pd, mtu, psn, rkey, va, length, bus))]
#[allow(clippy::too_many_arguments)] // keyword arguments of a Python function
pub fn table_words(
    qp: u32,
    mode: &str,
    pd: u32,
    mtu: u32,
    psn: u32,
    rkey: u32,
    va: u64,
    length: u64,
    bus: u64,
) -> PyResult<Vec<Vec<u32>>> {
    let page = PageSize::Size2M;
    if length == 0 || !bus.is_multiple_of(page.bytes()) {
        return Err(invalid(
            "a region holds at least one byte, and its pages start at multiples of 2 MiB",
        ));
    }
    let context = qp_context(mode, pd, mtu, psn, 0xffff, true)?;
    let entry = MrRow {
        valid: true,
        key: rkey as u8,
        pd,
        remote_write: true,
        remote_read: false,
        remote_atomic: false,
        page_size: page,
        base_va: va,
        length,
        first_emtt: 0,
        on_demand: false,
    };
    let pages = ((va + length - 1) >> page.shift()) - (va >> page.shift()) + 1;
    let mut writes = vec![
        TableWrite::Qp { index: qp, context },
        TableWrite::Mr {
            index: rkey >> 8,
            entry,
        },
    ];
    writes.extend((0..pages).map(|n| TableWrite::Emtt {
        index: n as u32,
        entry: EmttRow {
            valid: true,
            owner: Owner::Gpu,
            device: 0,
            frame: (bus + n * page.bytes()) >> 12,
        },
    }));
    Ok(writes.iter().map(sim_cosim::pack).collect())
}
