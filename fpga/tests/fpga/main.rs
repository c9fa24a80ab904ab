//! Projects of boards without Vivado.
mod card;
mod constraints;
mod crossings;
mod files;
mod netlist;
mod scripts;
mod tops;
