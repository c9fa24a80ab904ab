//! What is known of an entropy value.

/// State of an entropy value (OCP MRC 1.0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvState {
    /// In use, or a backup in reserve.
    Good,
    /// Bypassed for a while because a packet was marked or trimmed.
    Skip,
    /// The value is not used until a probe returns.
    AssumedBad,
    /// Out until software allows it again.
    Denied,
}
