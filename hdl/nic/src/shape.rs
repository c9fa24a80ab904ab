//! Shapes of the card: how many ports, how wide their lanes are, and how many queue pairs.

use thiserror::Error;

use crate::board::Board;
use crate::table_bits::QP_BITS;

/// A shape that the card is built in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Shape {
    /// One port and one endpoint, 512 bits: a 100G port.
    OnePort512,
    /// Two ports with an endpoint each, 1,024 bits: two 200G ports.
    #[default]
    TwoPorts1024,
    /// The same with 16,384 queue pairs in place of 1,024.
    TwoPorts1024Qp16k,
    /// The same with 65,536 queue pairs.
    TwoPorts1024Qp64k,
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
    let mut names = Shape::ALL.map(name).to_vec();
    names.dedup();
    names.join(", ")
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 4] = [
        Self::OnePort512,
        Self::TwoPorts1024,
        Self::TwoPorts1024Qp16k,
        Self::TwoPorts1024Qp64k,
    ];

    /// Ports, each with a PCIe endpoint.
    pub const fn ports(self) -> usize {
        match self {
            Self::OnePort512 => 1,
            Self::TwoPorts1024 | Self::TwoPorts1024Qp16k | Self::TwoPorts1024Qp64k => 2,
        }
    }

    /// Bits of a beat, at MAC and PCIe.
    pub const fn width(self) -> usize {
        match self {
            Self::OnePort512 => 512,
            Self::TwoPorts1024 | Self::TwoPorts1024Qp16k | Self::TwoPorts1024Qp64k => 1_024,
        }
    }

    /// Rate of the ports that it is for, in Gb/s.
    pub const fn port_gbps(self) -> u32 {
        match self {
            Self::OnePort512 => 100,
            Self::TwoPorts1024 | Self::TwoPorts1024Qp16k | Self::TwoPorts1024Qp64k => 200,
        }
    }

    /// log2 of the queue pairs.
    pub const fn queue_pair_bits(self) -> usize {
        match self {
            Self::OnePort512 | Self::TwoPorts1024 => QP_BITS,
            Self::TwoPorts1024Qp16k => 14,
            Self::TwoPorts1024Qp64k => 16,
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
            Self::TwoPorts1024Qp16k => "nic_16k",
            Self::TwoPorts1024Qp64k => "nic_64k",
        }
    }

    /// The numbers of queue pairs of cards with as many ports and bits, this one's among them, the least first.
    pub fn queue_pair_counts(self) -> impl Iterator<Item = u64> {
        let alike =
            move |shape: &Self| (shape.ports(), shape.width()) == (self.ports(), self.width());
        Self::ALL
            .into_iter()
            .filter(alike)
            .map(|shape| 1 << shape.queue_pair_bits())
    }

    /// The shape of as many ports and bits, with this many queue pairs, if there is one.
    pub fn with_queue_pairs(self, queue_pairs: u64) -> Option<Self> {
        let fits = |shape: &Self| {
            (shape.ports(), shape.width()) == (self.ports(), self.width())
                && 1 << shape.queue_pair_bits() == queue_pairs
        };
        Self::ALL.into_iter().find(fits)
    }

    /// The shape of this many ports and bits, with 1,024 queue pairs.
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
