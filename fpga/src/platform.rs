//! What boards with the same hard blocks share.

use std::collections::BTreeMap;

use hdl_designs::{Board, MacKind};

/// A block between the card and the hard blocks.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// What stands for its module in the port's Verilog.
    pub marker: &'static str,
    /// The design.
    pub design: &'static str,
    /// The paths of its instances that have crossings.
    pub at: &'static [&'static str],
    /// The periods of its clocks in nanoseconds, by the names of its ports.
    pub periods: &'static [(&'static str, f64)],
}

impl Block {
    /// The periods by name.
    pub fn periods(&self) -> BTreeMap<&'static str, f64> {
        self.periods.iter().copied().collect()
    }
}

/// Sources of boards with the same hard blocks.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    /// The module of the card with its blocks, and its Verilog with markers in the place of their modules.
    pub port_name: &'static str,
    /// Its text.
    pub port: &'static str,
    /// Other Verilog, by module.
    pub shared: &'static [(&'static str, &'static str)],
    /// The blocks.
    pub blocks: &'static [Block],
    /// Scripts that other platforms do not have.
    pub scripts: &'static [(&'static str, &'static str)],
}

/// Periods of 250 MHz, 322.265625 MHz, 391 MHz and 100 MHz.
const CARD: f64 = 4.0;
const CMAC: f64 = 3.103;
const DCMAC: f64 = 2.557;
const REGISTERS: f64 = 10.0;

const ULTRASCALE: Platform = Platform {
    port_name: "openstellar_100g",
    port: include_str!("../rtl/openstellar_100g.v"),
    shared: &[("alveo_100g", include_str!("../rtl/alveo_100g.v"))],
    blocks: &[
        Block {
            marker: "@SHIM@",
            design: "cmac_shim",
            at: &["u_alveo/u_port/u_shim"],
            periods: &[("clock", CARD), ("mac_clock", CMAC)],
        },
        Block {
            marker: "@RESET@",
            design: "function_reset",
            at: &[],
            periods: &[],
        },
    ],
    scripts: &[
        ("tcl/ip.tcl", include_str!("../tcl/ip.tcl")),
        ("tcl/image.tcl", include_str!("../tcl/image.tcl")),
    ],
};

/// The card's clock is that of the first controller of CPM5; the second one has a clock of the same frequency.
const VERSAL: Platform = Platform {
    port_name: "openstellar_200g2",
    port: include_str!("../rtl/openstellar_200g2.v"),
    shared: &[],
    blocks: &[
        Block {
            marker: "@SHIM@",
            design: "dcmac_shim",
            at: &["u_port/u_shim0", "u_port/u_shim1"],
            periods: &[("clock", CARD), ("mac_clock", DCMAC)],
        },
        Block {
            marker: "@START@",
            design: "dcmac_start",
            at: &["u_port/u_start"],
            periods: &[("clock", REGISTERS), ("mac_clock", DCMAC)],
        },
        Block {
            marker: "@ENDPOINT@",
            design: "endpoint_crossing",
            at: &["u_port/u_endpoint1"],
            periods: &[("clock", CARD), ("user_clock", CARD)],
        },
        Block {
            marker: "@RESET@",
            design: "function_reset_2",
            at: &[],
            periods: &[],
        },
    ],
    scripts: &[
        ("tcl/ip.tcl", include_str!("../tcl/blocks.tcl")),
        ("tcl/image.tcl", include_str!("../tcl/device_image.tcl")),
    ],
};

impl Platform {
    /// That of a board.
    pub const fn of(board: Board) -> Self {
        match board.facts().mac {
            MacKind::Cmac => ULTRASCALE,
            MacKind::Dcmac => VERSAL,
        }
    }
}
