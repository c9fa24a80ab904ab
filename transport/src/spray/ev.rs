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

/// Feedback about an entropy value: the fate of a packet that used it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Acknowledged without a mark.
    Good,
    /// ECN-marked (SETH M = SKIP_ONCE) or trimmed on the way (NACK TRIMMED).
    Skip,
    /// It timed out.
    Timeout,
    /// The receiver requests another path (SETH M = ALWAYS_SKIP).
    AlwaysSkip,
    /// A probe was answered. If it was marked, `Skip` follows.
    ProbeAnswered,
}
