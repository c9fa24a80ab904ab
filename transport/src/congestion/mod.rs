//! Congestion control: NSCC, one window per queue pair shared by all its paths.
//!
//! Network signal congestion control of the Ultra Ethernet transport, which OCP MRC 1.0 adopts: a window in bytes that
//! reacts to two signals of every acknowledgement, the ECN mark and the queueing delay. `docs/multipath.md` has the
//! steps and the formats; the fixed-point arithmetic here is what the hardware does, bit for bit.
//!
//! The driver does the set-up ([`NsccParams::from_path`]); everything after it uses additions, shifts, multiplications and
//! one table of 256 bytes for both divisions ([`RECIPROCAL_ROM`]).

mod nscc;
mod reciprocal;

pub use nscc::{AckSample, Nscc};
pub use reciprocal::{Reciprocal, RECIPROCAL_ROM};
pub use stellar_wire::config::{NsccParams, ParamError, MAX_WINDOW};
pub use stellar_wire::rows::NsccRegisters;
