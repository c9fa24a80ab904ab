//! The driver's page and its place among the layers.

mod docs;
mod layers;
