//! A queue pair with one end at the card and one at the peer.

use std::time::Duration;

use anyhow::Context;
use stellar_driver::{
    InitAttributes, Modify, PortAddress, QueuePair, RcRtrAttributes, RcRtsAttributes, Transport,
};

use super::Bed;
use crate::card_end;
use crate::cases::IpVersion;

/// Depth of the peer's send and receive queues.
const PEER_QUEUE: u32 = 128;

/// A connected queue pair.
pub struct Pair {
    /// The card's end.
    pub card: QueuePair,
    /// ID of the peer's end in commands.
    pub peer: u32,
}

/// Attributes of both ends of a queue pair.
#[derive(Clone, Copy, Debug)]
pub struct PairOptions {
    /// Path MTU in bytes.
    pub mtu: u32,
    /// First PSN that the card sends.
    pub card_psn: u32,
    /// First PSN that the peer sends.
    pub peer_psn: u32,
    /// The card's retransmission timeout, in simulated time.
    pub card_timeout: Duration,
    /// The card's retry count.
    pub card_retries: u8,
    /// The card's RNR retry count (`rnr_retry`).
    pub card_rnr_retries: u8,
    /// The peer's `timeout` (`ibv_qp_attr`): 4.096 us * 2^timeout of wall time; 0 disables it.
    pub peer_timeout: u8,
    /// The peer's `retry_cnt` (`ibv_qp_attr`).
    pub peer_retries: u8,
}

impl Default for PairOptions {
    /// For a link without faults, on which no end should retransmit: the peer has no timeout, the card 4 ms, which take 8 s of wall time or more.
    fn default() -> Self {
        Self {
            mtu: 1024,
            card_psn: 0x12_3456,
            peer_psn: 0x65_4321,
            card_timeout: Duration::from_millis(4),
            card_retries: 7,
            card_rnr_retries: 7,
            peer_timeout: 0,
            peer_retries: 7,
        }
    }
}

impl PairOptions {
    /// Short timeouts, for links with faults and for ends that go away: 150 us at the card, which take 0.3 s of wall time or more, and 0.27 s at the peer.
    pub fn impatient(self) -> Self {
        Self {
            card_timeout: Duration::from_micros(150),
            peer_timeout: 16,
            ..self
        }
    }

    /// Sets the retry count of both ends.
    pub const fn retries(self, retries: u8) -> Self {
        Self {
            card_retries: retries,
            peer_retries: retries,
            ..self
        }
    }
}

impl Bed {
    /// Makes a queue pair at both ends and connects them.
    pub fn pair(&mut self, options: PairOptions) -> anyhow::Result<Pair> {
        let pair = Pair {
            card: self.end().queue_pair()?,
            peer: self.pairs,
        };
        let id = pair.peer;
        let answer = self.ask(&format!("qp {id} {PEER_QUEUE} {PEER_QUEUE}"))?;
        self.pairs += 1;
        let qpn = answer.number("qpn")? as u32;
        self.traffic().forget_psns();
        self.connect_card(&pair.card, qpn, options)?;
        self.connect_peer(&pair, options)?;
        Ok(pair)
    }

    fn connect_card(&self, qp: &QueuePair, qpn: u32, options: PairOptions) -> anyhow::Result<()> {
        let mac = parse_mac(self.hello().text("mac")?)?;
        let ip = match self.end().version {
            IpVersion::V4 => "10.0.0.2".parse()?,
            IpVersion::V6 => "fd00::2".parse()?,
        };
        let mut peer = qp.connection(options.peer_psn);
        peer.qp = qpn;
        peer.transport = Transport::Rc;
        peer.ports = [PortAddress { mac, ip }; 2];
        qp.modify(Modify::Init(InitAttributes::default()))?;
        qp.modify(Modify::RcRtr(RcRtrAttributes {
            mtu_log2: options.mtu.ilog2() as u8,
            ..RcRtrAttributes::new(peer)
        }))?;
        qp.modify(Modify::RcRts(RcRtsAttributes {
            timeout: options.card_timeout,
            retry_cnt: options.card_retries,
            rnr_retry: options.card_rnr_retries,
            ..RcRtsAttributes::new(options.card_psn)
        }))?;
        Ok(())
    }

    fn connect_peer(&self, pair: &Pair, options: PairOptions) -> anyhow::Result<()> {
        let version = self.end().version;
        let field = match version {
            IpVersion::V4 => "gid4",
            IpVersion::V6 => "gid6",
        };
        let (index, _) = self
            .hello()
            .text(field)?
            .split_once(':')
            .context("the peer's GID has no index")?;
        let PairOptions {
            mtu,
            card_psn,
            peer_psn,
            peer_timeout: timeout,
            peer_retries: retry,
            ..
        } = options;
        let (peer, qpn, gid) = (pair.peer, pair.card.number(), gid(version));
        self.ask(&format!(
            "connect {peer} qpn={qpn} psn={card_psn} own_psn={peer_psn} mtu={mtu} gid={gid} index={index} \
             timeout={timeout} retry={retry} rnr=7 access=w min_rnr=1"
        ))?;
        Ok(())
    }
}

/// The GID of the card's address: an IPv6 address, or an IPv4 address mapped to one (annex A17.4.1.1).
fn gid(version: IpVersion) -> String {
    let ip = match version {
        IpVersion::V4 => card_end::IPV4.to_ipv6_mapped(),
        IpVersion::V6 => card_end::IPV6,
    };
    format!("{:032x}", ip.to_bits())
}

fn parse_mac(text: &str) -> anyhow::Result<[u8; 6]> {
    let bytes: Vec<u8> = text
        .split(':')
        .map(|byte| u8::from_str_radix(byte, 16))
        .collect::<Result<_, _>>()?;
    let bytes = <[u8; 6]>::try_from(bytes);
    bytes
        .ok()
        .with_context(|| format!("'{text}' is no MAC address"))
}
