//! The rows of the card's tables that follow from a configuration.

use std::net::Ipv6Addr;

use super::{
    Backoff, EndpointConfig, MrcConfig, PlaneAddress, QpConfig, QpIdentity, RcConfig, SkipScope,
    SprayConfig, SqRing, TransportConfig,
};
use crate::host::WqeSize;
use crate::rows::{
    AddressRow, PeerAddressRow, PeerRow, PortRow, QpMode, QpRow, QpState, RequesterRow,
    ResponderRow, SendQueueRow, SprayRow, MAX_OUTSTANDING,
};
use crate::{MacAddr, Psn};

/// Hop limit, and time to live, of frames.
const HOP_LIMIT: u8 = 64;

/// Returns the address as a number. Its most significant byte is the first one on the wire.
fn mac_number(address: MacAddr) -> u64 {
    let append = |number, &byte: &u8| number << 8 | u64::from(byte);
    address.0.iter().fold(0, append)
}

/// log2 of a path MTU in bytes.
const fn mtu_log2(mtu: u32) -> u8 {
    mtu.ilog2() as u8
}

impl EndpointConfig {
    /// A port's own addresses and code points.
    pub fn port_row(&self, plane: PlaneAddress) -> PortRow {
        PortRow {
            mac: mac_number(plane.mac),
            ip: PeerAddressRow::from(plane.ip).address,
            data_dscp: self.data_dscp,
            control_dscp: self.control_dscp,
            udp_port: self.rx.udp_port,
            hop_limit: HOP_LIMIT,
        }
    }
}

impl QpConfig {
    fn mode(&self) -> QpMode {
        self.transport.mode()
    }

    /// Receive context of the queue pair, ready to receive.
    pub fn context_row(&self) -> QpRow {
        QpRow {
            state: QpState::Ready,
            mode: self.mode(),
            pd: self.pd,
            pkey: self.pkey,
            mtu_log2: self.mtu_log2,
            initial_psn: self.rq_psn,
            remote_write: self.remote_write,
        }
    }

    /// The way to the peer's host in a plane.
    pub fn address_row(&self, plane: usize) -> AddressRow {
        let peer = self.peer.planes[plane];
        let ip = PeerAddressRow::from(peer.ip);
        let route = self.srv6.map_or_else(AddressRow::default, |template| {
            let path = Ipv6Addr::from(template.first_container(plane as u8));
            AddressRow {
                srv6: true,
                path: path.into(),
                t1: template.t1() as u8,
                uplink_low: template.uplink().low,
                uplink_bits: template.uplink().bits,
                ..AddressRow::default()
            }
        });
        AddressRow {
            peer_mac: mac_number(peer.mac),
            version6: ip.version6,
            peer_ip: ip.address,
            ..route
        }
    }

    /// The queue pair's peer, whose host has the address vector `vector` ([`Self::address_row`]).
    pub fn peer_row(&self, vector: u16) -> PeerRow {
        PeerRow {
            probes: self.mode() == QpMode::Rc && self.transport.spray().is_some(),
            ..PeerRow::new(self.mode(), self.pkey, self.peer.qp, vector)
        }
    }

    /// Receive side. `stash` is the first of [`ImmConfig::stash_entries`](super::ImmConfig::stash_entries) entries of the card's stash that are the queue pair's alone (MRC).
    pub fn responder_row(&self, stash: u32) -> ResponderRow {
        ResponderRow {
            mrc: self.mode() == QpMode::Mrc,
            mtu_log2: self.mtu_log2,
            initial_psn: self.rq_psn,
            max_wimm: self.imm.max_wimm,
            stash,
            log2_stash: self.imm.log2_stash(),
            sack_every: self.sack_every,
            completions: self.imm.completions,
        }
    }

    /// Registers of the requester.
    pub fn requester_row(&self) -> RequesterRow {
        let qp = QpIdentity {
            local: self.number,
            peer: self.peer.qp,
            pd: self.pd,
            mtu: 1 << self.mtu_log2,
        };
        match &self.transport {
            TransportConfig::Mrc(mrc) => mrc.row(&qp, self.page, self.sq_psn),
            TransportConfig::Rc(rc) => rc.row(&qp, self.page, self.sq_psn),
        }
    }

    /// Send queue in `ring`.
    pub fn send_queue_row(&self, ring: SqRing) -> SendQueueRow {
        // RC has no limit: a responder completes each message as it ends.
        let max_wimm = match self.mode() {
            QpMode::Mrc => self.imm.max_wimm,
            QpMode::Rc => u16::MAX,
        };
        ring.row(1 << self.mtu_log2, max_wimm)
    }
}

impl MrcConfig {
    /// The requester's row of the queue pair `qp`, which doorbell page `page` owns and whose first packet is `first`.
    pub fn row(&self, qp: &QpIdentity, page: u32, first: Psn) -> RequesterRow {
        RequesterRow {
            mpr: self.mpr,
            rto: self.rto.0,
            exponential: self.backoff == Backoff::Exponential,
            retry_budget: self.retry_budget,
            early_loss: self.early_loss,
            coalesce_from: self.coalesce_from,
            ..common(qp, page, first)
        }
    }
}

impl RcConfig {
    /// The requester's row of an RC queue pair; the arguments are those of [`MrcConfig::row`].
    pub fn row(&self, qp: &QpIdentity, page: u32, first: Psn) -> RequesterRow {
        RequesterRow {
            rc: true,
            mpr: self.window,
            rto: self.rto.0,
            retry_budget: self.retry_count,
            rnr_retry: self.rnr_retry,
            ack_every: self.ack_every,
            udp_sport: self.udp_sport,
            plane: self.plane == 1,
            slow_rtt: self.slow_rtt(),
            ..common(qp, page, first)
        }
    }
}

fn common(qp: &QpIdentity, page: u32, first: Psn) -> RequesterRow {
    RequesterRow {
        valid: true,
        pd: qp.pd,
        mtu_log2: mtu_log2(qp.mtu),
        page,
        first_psn: first,
        ..RequesterRow::default()
    }
}

impl SqRing {
    /// The send queue's row of a queue pair with this path MTU and MAX_WIMM. A MAX_WIMM above the card's [`MAX_OUTSTANDING`] messages limits nothing.
    pub fn row(&self, mtu: u32, max_wimm: u16) -> SendQueueRow {
        SendQueueRow {
            base: self.base,
            log2_entries: self.log2_entries,
            long_entries: self.entry == WqeSize::Bytes128,
            mtu_log2: mtu_log2(mtu),
            max_wimm: max_wimm.min(MAX_OUTSTANDING as u16),
        }
    }
}

impl SprayConfig {
    /// The row of a queue pair whose entropy values are those of profile number `profile` (0 to 7).
    pub fn row(&self, profile: u8) -> SprayRow {
        SprayRow {
            policy: self.policy,
            paths: self.paths,
            seed: self.seed,
            profile,
            rotation: self.rotation,
            skip_next_turn: self.skip == SkipScope::NextTurn,
            probe_interval: self.probe_interval.0,
            base_rtt: self.base_rtt.0 as u16,
            bend_after: self.bend_after,
        }
    }
}
