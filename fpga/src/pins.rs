//! What is known of the boards' pins, as published in the constraints of open-nic-shell, taxi and SLASH (docs/boards.md, "Sources"). The linter holds the
//! constraints against it, so a pin stands in two places that were written apart.

use hdl_designs::Board;

/// The pins of a port.
#[derive(Clone, Copy, Debug)]
pub struct PortPins {
    /// The port's name in the top.
    pub port: &'static str,
    /// The pin of each bit, from bit 0.
    pub pins: &'static [&'static str],
    /// The I/O standard. None: pins of a transceiver, which have none.
    pub standard: Option<&'static str>,
    /// Of a clock, its period in nanoseconds.
    pub period: Option<f64>,
}

const fn transceiver(port: &'static str, pins: &'static [&'static str]) -> PortPins {
    PortPins {
        port,
        pins,
        standard: None,
        period: None,
    }
}

const fn pin(
    port: &'static str,
    pins: &'static [&'static str],
    standard: &'static str,
) -> PortPins {
    PortPins {
        port,
        pins,
        standard: Some(standard),
        period: None,
    }
}

const fn reference(port: &'static str, pins: &'static [&'static str], period: f64) -> PortPins {
    PortPins {
        port,
        pins,
        standard: None,
        period: Some(period),
    }
}

const fn clock(port: &'static str, pins: &'static [&'static str], period: f64) -> PortPins {
    PortPins {
        port,
        pins,
        standard: Some("LVDS"),
        period: Some(period),
    }
}

/// 100 MHz, 156.25 MHz, 161.1328125 MHz and 322.265625 MHz in nanoseconds.
const MHZ_100: f64 = 10.0;
const MHZ_156: f64 = 6.4;
const MHZ_161: f64 = 6.206;
const MHZ_322: f64 = 3.103;

const PCIE_RX_227_224: PortPins = transceiver(
    "pcie_rx_p",
    &[
        "AL2", "AM4", "AN6", "AN2", "AP4", "AR2", "AT4", "AU2", "AV4", "AW6", "AW2", "AY4", "BA6",
        "BA2", "BB4", "BC2",
    ],
);
const PCIE_TX_227_224: PortPins = transceiver(
    "pcie_tx_p",
    &[
        "AL11", "AM9", "AN11", "AP9", "AR11", "AR7", "AT9", "AU11", "AU7", "AV9", "AW11", "AY9",
        "BA11", "BB9", "BC11", "BC7",
    ],
);

const U55C: &[PortPins] = &[
    reference("pcie_refclk_p", &["AR15"], MHZ_100),
    transceiver("pcie_refclk_n", &["AR14"]),
    pin("pcie_perst_n", &["BF41"], "LVCMOS18"),
    PCIE_RX_227_224,
    PCIE_TX_227_224,
    clock("free_clk_p", &["BK10"], MHZ_100),
    pin("free_clk_n", &["BL10"], "LVDS"),
    reference("qsfp0_refclk_p", &["AD42"], MHZ_161),
    transceiver("qsfp0_refclk_n", &["AD43"]),
    transceiver("qsfp0_rx_p", &["AD51", "AC53", "AC49", "AB51"]),
    transceiver("qsfp0_tx_p", &["AD46", "AC44", "AB46", "AA48"]),
    pin("hbm_cattrip", &["BE45"], "LVCMOS18"),
];

const U280: &[PortPins] = &[
    reference("pcie_refclk_p", &["AR15"], MHZ_100),
    transceiver("pcie_refclk_n", &["AR14"]),
    pin("pcie_perst_n", &["BH26"], "LVCMOS18"),
    PCIE_RX_227_224,
    PCIE_TX_227_224,
    clock("free_clk_p", &["G31"], MHZ_100),
    pin("free_clk_n", &["F31"], "LVDS"),
    reference("qsfp0_refclk_p", &["T42"], MHZ_156),
    transceiver("qsfp0_refclk_n", &["T43"]),
    transceiver("qsfp0_rx_p", &["L53", "K51", "J53", "H51"]),
    transceiver("qsfp0_tx_p", &["L48", "L44", "K46", "J48"]),
    pin("hbm_cattrip", &["D32"], "LVCMOS18"),
];

const U250: &[PortPins] = &[
    reference("pcie_refclk_p", &["AM11"], MHZ_100),
    transceiver("pcie_refclk_n", &["AM10"]),
    pin("pcie_perst_n", &["BD21"], "LVCMOS12"),
    transceiver(
        "pcie_rx_p",
        &[
            "AF2", "AG4", "AH2", "AJ4", "AK2", "AL4", "AM2", "AN4", "AP2", "AR4", "AT2", "AU4",
            "AV2", "AW4", "BA2", "BC2",
        ],
    ),
    transceiver(
        "pcie_tx_p",
        &[
            "AF7", "AG9", "AH7", "AJ9", "AK7", "AL9", "AM7", "AN9", "AP7", "AR9", "AT7", "AU9",
            "AV7", "BB5", "BD5", "BF5",
        ],
    ),
    clock("free_clk_p", &["AU19"], MHZ_156),
    pin("free_clk_n", &["AV19"], "LVDS"),
    reference("qsfp0_refclk_p", &["M11"], MHZ_156),
    transceiver("qsfp0_refclk_n", &["M10"]),
    transceiver("qsfp0_rx_p", &["N4", "M2", "L4", "K2"]),
    transceiver("qsfp0_tx_p", &["N9", "M7", "L9", "K7"]),
    pin("qsfp0_modsell", &["BE16"], "LVCMOS12"),
    pin("qsfp0_resetl", &["BE17"], "LVCMOS12"),
    pin("qsfp0_lpmode", &["BD18"], "LVCMOS12"),
];

/// The second pin of the reference is not known.
const V80: &[PortPins] = &[
    reference("qsfp0_refclk_p", &["AR51"], MHZ_322),
    transceiver("qsfp0_rx_p", &["AE67", "AE64", "AC67", "AC64"]),
    transceiver("qsfp0_rx_n", &["AE68", "AE65", "AC68", "AC65"]),
    transceiver("qsfp0_tx_p", &["AG61", "AG58", "AE61", "AE58"]),
    transceiver("qsfp0_tx_n", &["AG62", "AG59", "AE62", "AE59"]),
    transceiver("qsfp1_rx_p", &["AA67", "AA64", "W67", "W64"]),
    transceiver("qsfp1_rx_n", &["AA68", "AA65", "W68", "W65"]),
    transceiver("qsfp1_tx_p", &["AC61", "AC58", "AA61", "AA58"]),
    transceiver("qsfp1_tx_n", &["AC62", "AC59", "AA62", "AA59"]),
];

/// Ports with pins that constraints do not name: the transceivers of CPM5 belong to its controllers.
pub const FIXED: &[(Board, &str)] = &[
    (Board::V80, "pcie0_refclk_p"),
    (Board::V80, "pcie0_rx_p"),
    (Board::V80, "pcie0_tx_p"),
    (Board::V80, "pcie1_refclk_p"),
    (Board::V80, "pcie1_rx_p"),
    (Board::V80, "pcie1_tx_p"),
];

/// The pins of a board's ports.
pub const fn of(board: Board) -> &'static [PortPins] {
    match board {
        Board::U250 => U250,
        Board::U280 => U280,
        Board::U55c => U55C,
        Board::V80 => V80,
    }
}
