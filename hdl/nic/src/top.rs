//! The top levels, as Verilog.

use hdl_verilog::{emit, Design, EmitError};
use rust_hdl::prelude::Block;

use crate::{Nic, RxLane1024, RxLane512};

/// What boards and simulations are made from.
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
    pub fn elaborate(self) -> Result<Design, EmitError> {
        match self {
            Self::Nic => elaborated::<Nic>(),
            Self::RxLane512 => elaborated::<RxLane512>(),
            Self::RxLane1024 => elaborated::<RxLane1024>(),
        }
    }
}

fn elaborated<B: Block + Default>() -> Result<Design, EmitError> {
    let mut block = Box::<B>::default();
    block.connect_all();
    emit(block.as_ref())
}
