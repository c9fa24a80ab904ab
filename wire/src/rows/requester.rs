//! Send side of a queue pair.

#[cfg(feature = "hdl")]
use rust_hdl::prelude::*;

use crate::Psn;

/// Payload bytes of a burst, at most. A burst begins with a message, and has at most 32 packets.
pub const BURST_BYTES: u32 = 16 << 10;
/// Packets of a burst, at most.
pub const BURST_PACKETS: u32 = 32;
/// MRC: when so many packets have left since the last one that requested a SACK, the last one of the burst requests one (`docs/transmit.md`, Tail probes).
pub const ASK_AFTER: u32 = 16;
/// Messages of fewer bytes are short. A burst of short messages is limited by its number of packets alone.
pub const SHORT_MESSAGE: u32 = BURST_BYTES / BURST_PACKETS;

/// Maximum number of outstanding messages of a queue pair.
pub const MAX_OUTSTANDING: usize = 1024;

row! {
    /// Registers of a requester, checked by software. Registers of one transport are ignored by the other.
    pub struct RequesterRow => RequesterConfig {
        /// The queue pair may send. It is low for a queue pair that was never configured.
        valid: bool => Bit,
        /// High for RC, low for MRC.
        rc: bool => Bit,
        /// Protection domain.
        pd: u32 => Bits<20>,
        /// log2 of the path MTU in bytes, 8 to 13.
        mtu_log2: u8 => Bits<4>,
        /// Maximum number of PSNs in the window: MRC 1 to 4,096, RC 1 to 1,024.
        mpr: u16 => Bits<13>,
        /// MRC: retransmission timeout of a first transmission. RC: timeout without progress. In ticks of 8 ns.
        rto: u32 => Bits<21>,
        /// MRC: the timeout doubles with every retry; otherwise it does not grow.
        exponential: bool => Bit,
        /// Maximum number of retries without progress.
        retry_budget: u8 => Bits<8>,
        /// RC: maximum number of RNR NAKs without progress; 7 for no limit.
        rnr_retry: u8 => Bits<3>,
        /// MRC: threshold of early loss detection in packets; 0 disables it.
        early_loss: u16 => Bits<10>,
        /// MRC: congestion window in bytes from which the receiver may coalesce SACKs. With a smaller window every packet requests a SACK.
        coalesce_from: u32 => Bits<24>,
        /// RC: an acknowledgement is requested once in this number of packets, 1 or more.
        ack_every: u16 => Bits<16>,
        /// RC: UDP source port, and port of the card, of its only path. With a path policy they are not used.
        udp_sport: u16 => Bits<16>,
        plane: bool => Bit,
        /// Doorbell page that owns the queue pair.
        page: u32 => Bits<16>,
        /// First PSN sent.
        first_psn: Psn => Bits<24>,
        /// RC with a path policy: round trip in ticks of 8 ns above which a path is congested ([`super::policy::slow_round_trip`]). It is 0 for a queue pair with one path.
        slow_rtt: u16 => Bits<16>,
    }
}

row! {
    /// Registers of a send queue, checked by software.
    pub struct SendQueueRow => SendQueueConfig {
        /// Bus address of entry 0.
        base: u64 => Bits<64>,
        /// log2 of the number of entries, 1 to 15.
        log2_entries: u8 => Bits<4>,
        /// The entries have 128 bytes in place of 64.
        long_entries: bool => Bit,
        /// log2 of the path MTU in bytes, 8 to 13.
        mtu_log2: u8 => Bits<4>,
        /// Maximum number of outstanding WRITEs with immediate (MAX_WIMM).
        max_wimm: u16 => Bits<11>,
    }
}
