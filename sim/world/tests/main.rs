//! Worlds on the software reference, and what is written about them.

mod bad_input;
mod demo;
mod entropy;
mod group;
mod memory;
mod report;
mod scenarios;
mod sweep;
mod tail;
mod tshark;
