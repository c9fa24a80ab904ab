//! Whether a design fits a device and its clock, from Yosys' netlists: cells by block, paths and fan-out over the borders of modules, memories, budgets.
//!
//! A design is mapped in units, each once ([`Design::map`]); the netlists are joined over their ports ([`Design::measure`]). Nothing is flattened as a
//! whole, so it takes little memory, and a run after a change maps what changed. [`Yosys`] alone maps one module, and [`Cells`] counts what it was mapped to.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arrival;
mod blocks;
mod borders;
mod budget;
mod cells;
mod count;
mod declared;
mod design;
mod error;
mod fanout;
mod graph;
mod map;
mod netlist;
mod refine;
mod report;
mod signals;
mod source;
mod timing;
mod variant;
mod yosys;

pub use blocks::WrongMemory;
pub use budget::{Budget, Goal, Misses, Record, Verdict};
pub use cells::{Area, Driver};
pub use count::{Cells, Counts};
pub use declared::{declared, total, Declared};
pub use design::{Design, Division, Event, Options};
pub use error::FitError;
pub use fanout::Net;
pub use report::{Limits, Report};
pub use source::{Memory, Module};
pub use timing::{Path, Register, Timing};
pub use yosys::{Form, Yosys};
