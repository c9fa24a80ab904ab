//! The top levels, as Verilog.

use std::panic::resume_unwind;
use std::thread;

use hdl_verilog::{emit, emit_top, Design, EmitError};
use rust_hdl::prelude::Block;

use crate::shape::Shape;
use crate::{Nic, Nic16k, Nic512, Nic64k, RxLane1024, RxLane512};

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

/// Loads of a register of the card's reset: nets of more than 500 are hard to place, and the estimate counts what synthesis moves into LUTs as well.
const RESET_LOADS: usize = 480;

/// The designs for boards and simulations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Top {
    /// The card, with every output.
    Nic(Shape),
    /// The card for a bitstream: without [`VERIFICATION_PORTS`].
    Bitstream(Shape),
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
        let elaborate: Elaborate = match self {
            Self::Nic(shape) => of_shape(shape, &[]),
            Self::Bitstream(shape) => of_shape(shape, VERIFICATION_PORTS),
            Self::RxLane512 => Box::new(elaborated::<RxLane512>),
            Self::RxLane1024 => Box::new(elaborated::<RxLane1024>),
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn(elaborate);
        match thread.expect("a thread can be started").join() {
            Ok(design) => design,
            Err(panic) => resume_unwind(panic),
        }
    }
}

type Elaborate = Box<dyn FnOnce() -> Result<Design, EmitError> + Send>;

/// Name of the top module of the card, whatever its shape.
const NIC: &str = "nic";

fn of_shape(shape: Shape, hidden: &'static [&'static str]) -> Elaborate {
    match shape {
        Shape::OnePort512 => Box::new(move || card::<Nic512>(hidden)),
        Shape::TwoPorts1024 => Box::new(move || card::<Nic>(hidden)),
        Shape::TwoPorts1024Qp16k => Box::new(move || card::<Nic16k>(hidden)),
        Shape::TwoPorts1024Qp64k => Box::new(move || card::<Nic64k>(hidden)),
    }
}

fn card<B: Block + Default>(hidden: &[&str]) -> Result<Design, EmitError> {
    let mut block = Box::<B>::default();
    block.connect_all();
    emit_top(block.as_ref(), NIC, hidden)?.with_reset_tree(RESET_LOADS)
}

fn elaborated<B: Block + Default>() -> Result<Design, EmitError> {
    let mut block = Box::<B>::default();
    block.connect_all();
    emit(block.as_ref())
}
