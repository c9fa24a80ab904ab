//! The boards that a card can be built for, and what each of them has.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A board of AMD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Board {
    /// Alveo U250.
    U250,
    /// Alveo U280.
    U280,
    /// Alveo U55C.
    U55c,
    /// Alveo V80.
    V80,
}

/// The hard block of Ethernet behind a port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MacKind {
    /// UltraScale+ 100G (PG203): 512 bits at 322.266 MHz.
    Cmac,
    /// Versal (PG369): for a 200G port, four segments of 128 bits at 390.625 MHz.
    Dcmac,
}

/// The hard block of PCIe behind an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PcieKind {
    /// UltraScale+ `PCIE4` (PG213).
    Pcie4,
    /// UltraScale+ `PCIE4C` (PG213).
    Pcie4c,
    /// Versal CPM5 (PG346).
    Cpm5,
}

impl MacKind {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cmac => "cmac",
            Self::Dcmac => "dcmac",
        }
    }
}

impl PcieKind {
    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcie4 => "pcie4",
            Self::Pcie4c => "pcie4c",
            Self::Cpm5 => "cpm5",
        }
    }
}

/// The link of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PcieLink {
    /// Generation: 3 is 8 GT/s, 5 is 32 GT/s.
    pub generation: u8,
    /// Number of lanes.
    pub lanes: u8,
}

/// What a board has, and how the card uses it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoardFacts {
    /// The name, as users write it.
    pub name: &'static str,
    /// The part, as Vivado names it.
    pub part: &'static str,
    /// Ports of Ethernet that the card uses. Each has a lane and a PCIe endpoint of its own.
    pub ports: usize,
    /// Rate of a port in Gb/s.
    pub port_gbps: u32,
    /// Bits of a beat of a lane, at MAC and PCIe.
    pub width: usize,
    /// Frequency of the card's clock, which is the user clock of the PCIe block, in MHz.
    pub clock_mhz: u32,
    /// The block behind each port.
    pub mac: MacKind,
    /// The block behind each endpoint.
    pub pcie: PcieKind,
    /// The link of each endpoint.
    pub link: PcieLink,
}

/// There is no such board.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("there is no board {:?}; there are {}", .0, names())]
pub struct UnknownBoard(pub String);

fn names() -> String {
    Board::ALL.map(|board| board.facts().name).join(", ")
}

impl Board {
    /// All boards.
    pub const ALL: [Self; 4] = [Self::U250, Self::U280, Self::U55c, Self::V80];

    /// What the board has.
    pub const fn facts(self) -> BoardFacts {
        match self {
            // PCIE4 has no Gen4.
            Self::U250 => one_port(
                "u250",
                "xcu250-figd2104-2L-e",
                PcieKind::Pcie4,
                PcieLink {
                    generation: 3,
                    lanes: 16,
                },
            ),
            // Gen4 x8 of PCIE4C carries the same as Gen3 x16.
            Self::U280 => one_port(
                "u280",
                "xcu280-fsvh2892-2L-e",
                PcieKind::Pcie4c,
                PcieLink {
                    generation: 3,
                    lanes: 16,
                },
            ),
            Self::U55c => one_port(
                "u55c",
                "xcu55c-fsvh2892-2L-e",
                PcieKind::Pcie4c,
                PcieLink {
                    generation: 3,
                    lanes: 16,
                },
            ),
            Self::V80 => BoardFacts {
                name: "v80",
                part: "xcv80-lsva4737-2MHP-e-S",
                ports: 2,
                port_gbps: 200,
                width: 1_024,
                clock_mhz: 250,
                mac: MacKind::Dcmac,
                pcie: PcieKind::Cpm5,
                link: PcieLink {
                    generation: 5,
                    lanes: 8,
                },
            },
        }
    }
}

/// An UltraScale+ board: one of its two QSFP28 cages, because its one endpoint carries about 100 Gb/s in each direction.
const fn one_port(
    name: &'static str,
    part: &'static str,
    pcie: PcieKind,
    link: PcieLink,
) -> BoardFacts {
    BoardFacts {
        name,
        part,
        ports: 1,
        port_gbps: 100,
        width: 512,
        clock_mhz: 250,
        mac: MacKind::Cmac,
        pcie,
        link,
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().name)
    }
}

impl FromStr for Board {
    type Err = UnknownBoard;

    fn from_str(name: &str) -> Result<Self, UnknownBoard> {
        let named = |board: &Self| board.facts().name == name;
        let known = Self::ALL.into_iter().find(named);
        known.ok_or_else(|| UnknownBoard(name.into()))
    }
}
