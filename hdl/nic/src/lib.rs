//! Top level.
