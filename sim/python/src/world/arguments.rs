//! Names and numbers from Python, as the project's own types.

use pyo3::prelude::*;
use sim_cosim::{LaneWidth, Pacing};
use stellar_transport::rx::{Owner, PageSize, Psn, QpMode, QpRow, QpState};
use stellar_wire::mtu;

use super::invalid;

/// The width of a lane given in bits.
pub fn lane_width(bits: u32) -> PyResult<LaneWidth> {
    match bits {
        512 => Ok(LaneWidth::Bits512),
        1024 => Ok(LaneWidth::Bits1024),
        other => Err(invalid(format!(
            "there is no lane of {other} bits: use 512 or 1024"
        ))),
    }
}

pub fn pacing(name: &str, seed: u64, width: LaneWidth) -> PyResult<Pacing> {
    match name {
        "line" => Ok(Pacing::Line {
            bytes_per_clock: width.line_bytes_per_clock(),
        }),
        "every-clock" => Ok(Pacing::EveryClock),
        "random" => Ok(Pacing::Random { percent: 60, seed }),
        other => Err(invalid(format!(
            "unknown pacing {other:?}: use \"line\", \"every-clock\" or \"random\""
        ))),
    }
}

/// The kind of NIC of two hosts.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Software reference of the transport.
    Reference,
    /// The Verilated card.
    Rtl,
}

impl Kind {
    pub fn named(name: &str) -> PyResult<Self> {
        match name {
            "reference" => Ok(Self::Reference),
            "rtl" => Ok(Self::Rtl),
            other => Err(invalid(format!(
                "unknown NIC {other:?}: use \"reference\" or \"rtl\""
            ))),
        }
    }
}

/// log2 of a path MTU in bytes.
pub fn mtu_log2(bytes: u32) -> PyResult<u8> {
    mtu::log2(bytes).map_err(|error| invalid(error.to_string()))
}

pub fn owner(memory: &str) -> PyResult<Owner> {
    match memory {
        "gpu" => Ok(Owner::Gpu),
        "host" => Ok(Owner::Host),
        other => Err(invalid(format!(
            "unknown memory {other:?}: use \"gpu\" or \"host\""
        ))),
    }
}

pub fn page_size(bytes: u64) -> PyResult<PageSize> {
    let known = PageSize::ALL.into_iter().find(|page| page.bytes() == bytes);
    known.ok_or_else(|| {
        invalid(format!(
            "no page size of {bytes} bytes: use 4096, 65536, 2 MiB or 1 GiB"
        ))
    })
}

pub fn qp_context(
    mode: &str,
    pd: u32,
    mtu: u32,
    psn: u32,
    pkey: u16,
    remote_write: bool,
) -> PyResult<QpRow> {
    let mode = match mode {
        "rc" => QpMode::Rc,
        "mrc" => QpMode::Mrc,
        other => {
            return Err(invalid(format!(
                "unknown mode {other:?}: use \"rc\" or \"mrc\""
            )))
        }
    };
    Ok(QpRow {
        state: QpState::Ready,
        mode,
        pd,
        pkey,
        mtu_log2: mtu_log2(mtu)?,
        initial_psn: Psn::new(psn),
        remote_write,
    })
}
