//! The port by which software fills the tables of the card. All tables share one write port.

use rust_hdl::prelude::*;

pub use crate::rows::ConfigSelect;
use crate::rows::EMTT_INDEX_BITS;

/// One table write.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ConfigWrite {
    pub select: ConfigSelect,
    pub index: Bits<EMTT_INDEX_BITS>,
    /// The entry, packed from bit 0.
    pub entry: Bits<1024>,
}
