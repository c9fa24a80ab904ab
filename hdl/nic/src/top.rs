//! The top levels, as Verilog.

use std::panic::resume_unwind;
use std::thread;

use hdl_verilog::{emit, Design, EmitError};
use rust_hdl::prelude::Block;

use crate::{Nic, RxLane1024, RxLane512};

/// Outputs of [`Nic`] that only simulation reads: a bitstream leaves them out.
pub const VERIFICATION_PORTS: &[&str] = &[
    "counted0_qp",
    "counted0",
    "counted1_qp",
    "counted1",
    "sampled0",
    "sampled1",
    "doorbell_out_of_range",
    "verdict_valid",
    "verdict_reason",
    "payload_mismatch",
];

/// rust-hdl stores `Bits<N>` as `[bool; N]`, so the value of a card is too large for the stack of an ordinary thread.
const STACK: usize = 512 << 20;

/// The designs for boards and simulations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Top {
    /// The card of two lanes.
    Nic,
    /// The receive lane of a 100G board.
    RxLane512,
    /// The receive lane of a 200G port.
    RxLane1024,
}

impl Top {
    /// Translates it to Verilog.
    ///
    /// # Errors
    /// [`EmitError`], which names the place.
    ///
    /// # Panics
    /// If no thread can be started.
    pub fn elaborate(self) -> Result<Design, EmitError> {
        let elaborate = match self {
            Self::Nic => elaborated::<Nic>,
            Self::RxLane512 => elaborated::<RxLane512>,
            Self::RxLane1024 => elaborated::<RxLane1024>,
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn(elaborate);
        match thread.expect("a thread can be started").join() {
            Ok(design) => design,
            Err(panic) => resume_unwind(panic),
        }
    }
}

fn elaborated<B: Block + Default>() -> Result<Design, EmitError> {
    let mut block = Box::<B>::default();
    block.connect_all();
    emit(block.as_ref())
}
