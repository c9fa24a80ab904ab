//! Projects of boards without Vivado.
mod card;
mod constraints;
mod crossings;
mod files;
mod netlist;
mod scripts;
mod scripts_v80;
mod tops;
