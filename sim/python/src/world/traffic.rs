//! Frames and table writes, for benches that drive the lane themselves.

use std::net::IpAddr;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sim_cosim::traffic::{Message, Wrapping};
use stellar_driver::PortAddress;
use stellar_transport::rx::{EmttRow, MrRow, Owner, PageSize, TableWrite};
use stellar_wire::{Ip, MacAddr, RoceFrame};

use super::arguments::qp_context;
use super::invalid;
use crate::verbs::attributes::{port, Port};

/// The frames of one RDMA WRITE, in sending order.
#[pyfunction]
#[pyo3(signature = (data, *, qp, psn, va, rkey, mtu, mrc, msn, ipv6, srv6, addresses, seed))]
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
    addresses: Option<[Port; 2]>,
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
    let mut frames = message.frames(&mut ChaCha8Rng::seed_from_u64(seed));
    if let Some([source, destination]) = &addresses {
        let (source, destination) = (port(source)?, port(destination)?);
        for frame in &mut frames {
            address(frame, source, destination)?;
        }
    }
    frames
        .iter()
        .map(|frame| Ok(PyBytes::new(py, &frame.emit().map_err(invalid)?)))
        .collect()
}

/// Writes the addresses of a sender and a receiver into a frame of their IP version.
fn address(frame: &mut RoceFrame, source: PortAddress, destination: PortAddress) -> PyResult<()> {
    frame.eth.src = MacAddr(source.mac);
    frame.eth.dst = MacAddr(destination.mac);
    match (&mut frame.ip, source.ip, destination.ip) {
        (Ip::V4(ip), IpAddr::V4(src), IpAddr::V4(dst)) => (ip.src, ip.dst) = (src, dst),
        (Ip::V6(ip), IpAddr::V6(src), IpAddr::V6(dst)) => (ip.src, ip.dst) = (src, dst),
        (Ip::V4(_), ..) => {
            return Err(invalid(
                "the addresses of IPv4 frames are IPv4; ask for ipv6",
            ))
        }
        (Ip::V6(_), ..) => return Err(invalid("the addresses of IPv6 frames are IPv6")),
    }
    Ok(())
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
