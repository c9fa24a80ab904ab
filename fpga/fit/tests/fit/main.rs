//! Small designs of known depth, fan-out and memories, through Yosys.

mod budgets;
mod designs;
mod measures;
mod refusals;
