//! The transfer engine.

mod cards;
mod engine;
