//! Parameters of NSCC, which the driver computes once and writes into registers.

use thiserror::Error;

use crate::rows::NsccRegisters;
use crate::time::Ticks;

/// Largest window, bytes in flight or bytes of one acknowledgement: 24 bits.
pub const MAX_WINDOW: u32 = (1 << 24) - 1;

/// Reference bandwidth-delay product the constants are made for: 100 Gb/s for 12 us, in bytes.
const REFERENCE_BDP: u64 = 150_000;
/// Reference round trip of 12 us in ticks.
const REFERENCE_RTT: u64 = 1_500;

/// A path or a register value NSCC cannot work with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ParamError {
    /// Path MTU no RDMA path has.
    #[error("path MTU of {0} bytes; it must be 256 to 8192")]
    Mtu(u32),
    /// A register's value does not fit its width or makes no sense.
    #[error("NSCC register {register} would be {value}; it must be {min} to {max} ({unit}): check rate, base RTT and MTU")]
    OutOfRange {
        /// Name of the field of [`NsccRegisters`].
        register: &'static str,
        /// The value that was requested.
        value: u64,
        /// Smallest value allowed.
        min: u64,
        /// Largest value allowed.
        max: u64,
        /// Unit of the three.
        unit: &'static str,
    },
    /// The quick-adapt threshold is a delay that no 16-bit round trip can show.
    #[error("base_rtt of {base_rtt} ticks plus qa_threshold of {qa_threshold} ticks exceeds the longest RTT sample, 65535 ticks: lower qa_threshold")]
    ThresholdBeyondSample {
        /// Base round trip, ticks.
        base_rtt: u16,
        /// Threshold, ticks.
        qa_threshold: u16,
    },
    /// The proportional increase at zero delay overflows its 23 bits.
    #[error("alpha ({alpha}/65536 bytes per tick) times target ({target} ticks) is 8 MiB or more: lower alpha or target")]
    ProportionalGain {
        /// Gain, 12.16 fixed point.
        alpha: u32,
        /// Target delay, ticks.
        target: u16,
    },
}

/// Checked parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NsccParams(NsccRegisters);

impl NsccParams {
    /// Parameters with these register values.
    ///
    /// # Errors
    /// [`ParamError`] naming the first register whose value could overflow a later step or stop the window.
    pub fn new(registers: NsccRegisters) -> Result<Self, ParamError> {
        let r = &registers;
        let within = |register, value: u32, min: u32, max: u32, unit| {
            if (min..=max).contains(&value) {
                return Ok(());
            }
            Err(ParamError::OutOfRange {
                register,
                value: value.into(),
                min: min.into(),
                max: max.into(),
                unit,
            })
        };
        within("base_rtt", r.base_rtt.into(), 8, 13_107, "8 ns ticks")?;
        within("target", r.target.into(), 1, 13_107, "8 ns ticks")?;
        within("qa_gate", r.qa_gate.into(), 0, 7, "bits of shift")?;
        within("max_cwnd", r.max_cwnd, 256, MAX_WINDOW, "bytes")?;
        within("min_cwnd", r.min_cwnd, 256, r.max_cwnd, "bytes")?;
        within("alpha", r.alpha, 1, (1 << 28) - 1, "bytes per tick, 12.16")?;
        within("fi", r.fi, 0, (1 << 23) - 1, "bytes")?;
        within("eta", r.eta, 0, (1 << 28) - 1, "bytes, 20.8")?;
        within("adjust_bytes", r.adjust_bytes, 1, 1 << 16, "bytes")?;
        if r.base_rtt.checked_add(r.qa_threshold).is_none() {
            return Err(ParamError::ThresholdBeyondSample {
                base_rtt: r.base_rtt,
                qa_threshold: r.qa_threshold,
            });
        }
        if (u64::from(r.alpha) * u64::from(r.target)) >> 16 >= 1 << 23 {
            return Err(ParamError::ProportionalGain {
                alpha: r.alpha,
                target: r.target,
            });
        }
        Ok(Self(registers))
    }

    /// Returns the defaults of the Ultra Ethernet Consortium's public simulator for a path. `base_rtt` is its base round trip, `gbps` the total rate
    /// of the queue pair's planes, and `mtu` the path MTU. `trimming` says that switches trim, which lowers the target to 3/4.
    ///
    /// With BDP = rate x RTT and a = BDP / (100 Gb/s x 12 us): Q = RTT, alpha = 4 MTU a / 12 us, fi = 5 MTU a,
    /// eta = 0.15 MTU a, fi_scale = a / 4, window from one MTU to 1.5 BDP but never less than two MTUs.
    ///
    /// # Errors
    /// [`ParamError`] if `mtu` is not a path MTU, or if the path is too long, too fast or too slow for the registers.
    pub fn from_path(
        base_rtt: Ticks,
        gbps: u32,
        mtu: u32,
        trimming: bool,
    ) -> Result<Self, ParamError> {
        if !(256..=8192).contains(&mtu) {
            return Err(ParamError::Mtu(mtu));
        }
        let rtt = u16::try_from(base_rtt.0).unwrap_or(u16::MAX);
        // A gigabit per second is a byte per tick.
        let bdp = u64::from(gbps) * u64::from(rtt);
        let product = u64::from(mtu) * bdp;
        let target = if trimming { rtt / 4 * 3 } else { rtt };
        let register = |register, value, unit| {
            u32::try_from(value).map_err(|_| ParamError::OutOfRange {
                register,
                value,
                min: 0,
                max: u32::MAX.into(),
                unit,
            })
        };
        Self::new(NsccRegisters {
            base_rtt: rtt,
            target,
            qa_threshold: target.saturating_mul(4),
            qa_gate: 3,
            min_cwnd: mtu,
            max_cwnd: register("max_cwnd", (bdp * 3 / 2).max(2 * u64::from(mtu)), "bytes")?,
            alpha: register(
                "alpha",
                nearest(product << 18, REFERENCE_BDP * REFERENCE_RTT),
                "bytes per tick, 12.16",
            )?,
            fi: register("fi", nearest(product * 5, REFERENCE_BDP), "bytes")?,
            eta: register(
                "eta",
                nearest(product * 256 * 15, REFERENCE_BDP * 100),
                "bytes, 20.8",
            )?,
            fi_scale: u16::try_from(nearest(bdp * 512, REFERENCE_BDP)).unwrap_or(u16::MAX),
            adjust_bytes: 8 * mtu,
        })
    }

    /// The register values.
    pub const fn registers(&self) -> &NsccRegisters {
        &self.0
    }
}

/// `numerator / denominator` to the nearest integer.
const fn nearest(numerator: u64, denominator: u64) -> u64 {
    (numerator + denominator / 2) / denominator
}
