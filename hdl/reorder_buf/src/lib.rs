//! PSN tracking.
