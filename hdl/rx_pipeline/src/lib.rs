//! Receive pipeline: frame to request.
