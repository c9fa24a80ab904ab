//! Table of reciprocals for both divisions.

use std::fmt::Write;

use hdl_primitives::sim::text;
use rust_hdl::prelude::*;
use stellar_transport::congestion::RECIPROCAL_ROM;

use crate::sim;

/// Looks up reciprocals for divisions. `reciprocal` is the entry of [`RECIPROCAL_ROM`] for the `mantissa` of the previous cycle. 256 bytes in LUTs. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct ReciprocalRom {
    pub clock: Signal<In, Clock>,
    /// The eight bits after the leading one.
    pub mantissa: Signal<In, Bits<8>>,
    pub reciprocal: Signal<Out, Bits<8>>,
}

impl Logic for ReciprocalRom {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let entry = RECIPROCAL_ROM[self.mantissa.val().index()];
            self.reciprocal.next = u64::from(entry).to_bits();
        }
    }

    fn connect(&mut self) {
        self.reciprocal.connect();
    }

    fn hdl(&self) -> Verilog {
        let mut hardware =
            "  initial reciprocal = 8'd0;\n  always @(posedge clock) case (mantissa)\n".to_owned();
        for (mantissa, entry) in RECIPROCAL_ROM.iter().enumerate() {
            let is_last = mantissa + 1 == RECIPROCAL_ROM.len();
            let label = if is_last {
                "default".into()
            } else {
                format!("8'd{mantissa}")
            };
            let _ = writeln!(hardware, "    {label}: reciprocal <= 8'd{entry};");
        }
        hardware += "  endcase\n";
        Verilog::Custom(text::<Self>(&hardware, sim::reciprocal_rom()))
    }
}
