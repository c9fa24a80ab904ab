//! Per queue pair registers of the requester.

use thiserror::Error;

use super::coalescing::NO_COALESCING;
use super::{NsccParams, SprayConfig, DEFAULT_MPR, MAX_MPR, RC_WINDOW};
use crate::host::WqeSize;
use crate::rows::slow_round_trip;
use crate::time::Ticks;

/// The threshold of early loss detection is below this number of packets.
const EARLY_LOSS_END: u32 = 1024;

/// A register value the requester does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RequesterConfigError {
    #[error("MPR is {0} packets; it must be 1 to {MAX_MPR}, the smaller of what both ends track")]
    Mpr(u16),
    #[error("RC window is {0} packets; it must be 1 to 1024")]
    RcWindow(u16),
    #[error("an acknowledgement every {0} packets cannot be asked for; use 1 or more")]
    AckEvery(u16),
    #[error("{0} RNR retries cannot be counted; use 0 to 6, or 7 to retry for ever")]
    RnrRetry(u8),
    #[error("retransmission timeout is {0} ticks; it must be 1 to 2^20 (8 ms)")]
    Timeout(u32),
    #[error(
        "early loss detection threshold is {0} packets; it must be below 1024, 0 to switch it off"
    )]
    EarlyLoss(u16),
    #[error("SACKs are coalesced from a congestion window of {0} bytes on; it must be below 2^24")]
    CoalesceFrom(u32),
    #[error("send queue has 2^{0} entries; it must be 2^1 to 2^15")]
    QueueSize(u8),
    #[error("plane {0} does not exist; a card has planes 0 and 1")]
    Plane(u8),
    #[error("path policy {0:?} over RC: packets would overtake each other, and RC takes each of them for a loss; use hopper or hp3, or no policy")]
    RcPolicy(&'static str),
}

/// How the timeout of a packet grows with its retries, and the least time between two retries of a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backoff {
    /// It does not grow.
    Fixed,
    /// 1, 2, 4, 8, ... times the base, no more than 128 times.
    #[default]
    Exponential,
}

/// Longest base timeout in ticks: 8 ms, so that no deadline lies more than half the tick range ahead.
const MAX_RTO: u32 = 1 << 20;

impl Backoff {
    /// Timeout of a packet that has timed out `retries` times.
    pub const fn timeout(self, base: Ticks, retries: u8) -> Ticks {
        let factor = match self {
            Self::Fixed => 1,
            Self::Exponential if retries < 7 => 1 << retries,
            Self::Exponential => 128,
        };
        Ticks(base.0 * factor)
    }
}

/// Number of RNR retries that stands for no limit (InfiniBand architecture volume 1, section 9.7.5.2.8).
pub const RNR_RETRY_FOREVER: u8 = 7;

/// 250 us, STELLAR's timeout (section 7.2).
pub const DEFAULT_RTO: Ticks = Ticks::from_us(250);

/// Registers of an MRC requester.
#[derive(Clone, Debug)]
pub struct MrcConfig {
    pub nscc: NsccParams,
    pub spray: SprayConfig,
    /// Maximum number of PSNs that the window may span: the receiver's MPR in packets, 1 to [`MAX_MPR`].
    pub mpr: u16,
    /// Retransmission timeout of a packet's first transmission.
    pub rto: Ticks,
    pub backoff: Backoff,
    /// Retries without progress; the next one fails the queue pair. Timeouts, recoverable NACKs and trims spend them (`docs/transmit.md`).
    pub retry_budget: u8,
    /// Early loss detection and tail probes (`docs/transmit.md`); 0 = off. A SACK also tells about packets this many PSNs before the one that it answers.
    pub early_loss: u16,
    /// Congestion window in bytes from which on packets in the middle of a message do not request a SACK. Below it, each packet requests one. At most
    /// [`NO_COALESCING`]. Above it the receiver reports several packets in one SACK: use [`super::coalesce_from`], an `mpr` of at least as many
    /// packets, and an `early_loss` of 0 or at least 128.
    pub coalesce_from: u32,
}

impl MrcConfig {
    /// MPR 4,096, timeout 250 us that doubles, 7 retries, early loss detection off, a SACK requested by
    /// every packet.
    pub const fn new(nscc: NsccParams, spray: SprayConfig) -> Self {
        Self {
            nscc,
            spray,
            mpr: DEFAULT_MPR,
            rto: DEFAULT_RTO,
            backoff: Backoff::Exponential,
            retry_budget: 7,
            early_loss: 0,
            coalesce_from: NO_COALESCING,
        }
    }

    /// Checks the values that a type does not.
    ///
    /// # Errors
    /// [`RequesterConfigError`], the first that is found.
    pub fn check(&self) -> Result<(), RequesterConfigError> {
        check_window(self.mpr, MAX_MPR, RequesterConfigError::Mpr)?;
        if u32::from(self.early_loss) >= EARLY_LOSS_END {
            return Err(RequesterConfigError::EarlyLoss(self.early_loss));
        }
        if self.coalesce_from > NO_COALESCING {
            return Err(RequesterConfigError::CoalesceFrom(self.coalesce_from));
        }
        check_rto(self.rto)
    }
}

/// Registers of an RC requester.
#[derive(Clone, Debug)]
pub struct RcConfig {
    /// Maximum number of unacknowledged packets, 1 to 1,024. This is the only limit on packets in flight.
    pub window: u16,
    /// Time without progress after which everything unacknowledged is sent again.
    pub rto: Ticks,
    /// Timeouts and sequence NAKs without progress; the next one fails the queue pair (verbs `retry_cnt`).
    pub retry_count: u8,
    /// RNR NAKs without progress that are waited for; the next one fails the queue pair. At most 7: [`RNR_RETRY_FOREVER`] (verbs `rnr_retry`).
    pub rnr_retry: u8,
    /// An acknowledgement is requested once in this number of packets, and by the last packet of each message.
    pub ack_every: u16,
    /// UDP source port: the queue pair's one path, unless it has [`Self::paths`].
    pub udp_sport: u16,
    /// Port it uses, unless it has [`Self::paths`].
    pub plane: u8,
    /// Paths among which a policy chooses one at a time (`docs/policies.md`). The policy is one that probes paths and changes to them in order
    /// ([`crate::rows::PolicyTraits::serves_rc`]). The peer needs paths too, or it does not answer probes.
    pub paths: Option<SprayConfig>,
}

impl Default for RcConfig {
    /// 128 packets, 250 us, 7 retries, RNR NAKs waited for for ever, an acknowledgement every 16 packets, source port 0xc000, plane 0.
    fn default() -> Self {
        Self {
            window: 128,
            rto: DEFAULT_RTO,
            retry_count: 7,
            rnr_retry: RNR_RETRY_FOREVER,
            ack_every: 16,
            udp_sport: 0xc000,
            plane: 0,
            paths: None,
        }
    }
}

impl RcConfig {
    /// Checks the values that a type does not.
    ///
    /// # Errors
    /// [`RequesterConfigError`], the first that is found.
    pub fn check(&self) -> Result<(), RequesterConfigError> {
        check_window(self.window, RC_WINDOW, RequesterConfigError::RcWindow)?;
        if self.ack_every == 0 {
            return Err(RequesterConfigError::AckEvery(self.ack_every));
        }
        if self.rnr_retry > RNR_RETRY_FOREVER {
            return Err(RequesterConfigError::RnrRetry(self.rnr_retry));
        }
        if self.plane > 1 {
            return Err(RequesterConfigError::Plane(self.plane));
        }
        if let Some(paths) = &self.paths {
            let traits = paths.policy.traits();
            if !traits.serves_rc() {
                return Err(RequesterConfigError::RcPolicy(traits.name));
            }
        }
        check_rto(self.rto)
    }

    /// Round trip in ticks above which a path is congested; 0 without a path policy.
    pub fn slow_rtt(&self) -> u16 {
        let paths = self.paths.as_ref();
        paths.map_or(0, |paths| slow_round_trip(paths.base_rtt.0) as u16)
    }
}

fn check_window(
    packets: u16,
    most: u32,
    error: fn(u16) -> RequesterConfigError,
) -> Result<(), RequesterConfigError> {
    if (1..=most).contains(&u32::from(packets)) {
        Ok(())
    } else {
        Err(error(packets))
    }
}

fn check_rto(rto: Ticks) -> Result<(), RequesterConfigError> {
    if (1..=MAX_RTO).contains(&rto.0) {
        Ok(())
    } else {
        Err(RequesterConfigError::Timeout(rto.0))
    }
}

/// Ring of WQEs in host memory, read with AT = 00.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqRing {
    /// Bus address of entry 0.
    pub base: u64,
    /// log2 of the entries, 1 to 15.
    pub log2_entries: u8,
    /// Bytes of an entry.
    pub entry: WqeSize,
}

impl SqRing {
    /// Bus address of the entry with this send queue index.
    pub fn address_of(&self, slot: u16) -> u64 {
        let place = u64::from(slot) % (1 << self.log2_entries);
        (self.base).wrapping_add(place * self.entry.bytes() as u64)
    }
}

/// Identity of a queue pair as far as its requester needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpIdentity {
    /// Local number, 24 bits.
    pub local: u32,
    /// The peer's number, 24 bits.
    pub peer: u32,
    /// Protection domain of local buffers.
    pub pd: u32,
    /// Path MTU in bytes.
    pub mtu: u32,
}
