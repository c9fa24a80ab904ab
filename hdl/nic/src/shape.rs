//! Shapes of the card: how many ports, and how wide their lanes are.

use thiserror::Error;

use crate::board::Board;

/// A shape that the card is built in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Shape {
    /// One port and one endpoint, 512 bits: a 100G port.
    OnePort512,
    /// Two ports with an endpoint each, 1,024 bits: two 200G ports.
    #[default]
    TwoPorts1024,
}

/// There is no such shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error(
    "there is no card of {ports} ports and {width} bits; there are {}",
    names()
)]
pub struct UnknownShape {
    /// The number of ports that was asked for.
    pub ports: usize,
    /// The width that was asked for.
    pub width: usize,
}

fn names() -> String {
    let name = |shape: Shape| format!("{} and {}", shape.ports(), shape.width());
    Shape::ALL.map(name).join(", ")
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 2] = [Self::OnePort512, Self::TwoPorts1024];

    /// Ports, each with a PCIe endpoint.
    pub const fn ports(self) -> usize {
        match self {
            Self::OnePort512 => 1,
            Self::TwoPorts1024 => 2,
        }
    }

    /// Bits of a beat, at MAC and PCIe.
    pub const fn width(self) -> usize {
        match self {
            Self::OnePort512 => 512,
            Self::TwoPorts1024 => 1_024,
        }
    }

    /// Rate of the ports that it is for, in Gb/s.
    pub const fn port_gbps(self) -> u32 {
        match self {
            Self::OnePort512 => 100,
            Self::TwoPorts1024 => 200,
        }
    }

    /// Bytes of a beat.
    pub const fn beat(self) -> usize {
        self.width() / 8
    }

    /// Name of the design ([`Board`]s of one shape share it).
    pub const fn design(self) -> &'static str {
        match self {
            Self::OnePort512 => "nic_512",
            Self::TwoPorts1024 => "nic",
        }
    }

    /// The shape of this many ports and bits.
    ///
    /// # Errors
    /// [`UnknownShape`].
    pub fn new(ports: usize, width: usize) -> Result<Self, UnknownShape> {
        let fits = |shape: &Self| shape.ports() == ports && shape.width() == width;
        let found = Self::ALL.into_iter().find(fits);
        found.ok_or(UnknownShape { ports, width })
    }
}

impl Board {
    /// The shape of the card on this board.
    pub const fn shape(self) -> Shape {
        match self {
            Self::U250 | Self::U280 | Self::U55c => Shape::OnePort512,
            Self::V80 => Shape::TwoPorts1024,
        }
    }
}
