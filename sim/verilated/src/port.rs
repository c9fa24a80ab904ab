//! Ports of a model's top module.

use serde::{Deserialize, Serialize};

/// Direction of a port, seen from the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Dir {
    /// Driven by the test, with [`Model::set`](crate::Model::set).
    In,
    /// Driven by the model.
    Out,
}

/// One port of the top module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Port {
    /// Name in the Verilog source.
    pub name: String,
    /// Width in bits, at least 1.
    pub width: usize,
    /// Direction, seen from the model.
    pub dir: Dir,
}

impl Port {
    /// An input of `width` bits.
    pub fn input(name: impl Into<String>, width: usize) -> Self {
        Self {
            name: name.into(),
            width,
            dir: Dir::In,
        }
    }

    /// An output of `width` bits.
    pub fn output(name: impl Into<String>, width: usize) -> Self {
        Self {
            name: name.into(),
            width,
            dir: Dir::Out,
        }
    }
}
