//! Reliable connection order: expected PSN, message in progress, running address (hardware block `rc_track`).

use super::{
    check_mrc_length, check_rc_length, DropReason, PacketHeaders, Psn, QpMode, QpRow, RcClass,
};

/// Target of a packet's first payload byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RcAddress {
    pub va: u64,
    pub rkey: u32,
}

/// The decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RcOutcome {
    /// `None`, `UnsupportedOpcode`, `BadSequence` or `BadPayloadLength`.
    pub reason: DropReason,
    pub class: RcClass,
    /// Expected PSN after this packet.
    pub epsn: Psn,
    /// Messages completed after this packet, 24 bits.
    pub msn: u32,
    /// From the RETH if the packet has one, otherwise the running address.
    pub address: RcAddress,
}

/// A message of which more packets are to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Message {
    /// Where the next payload goes.
    next: RcAddress,
    /// Bytes not yet received.
    left: u32,
}

/// Order state of one queue pair.
#[derive(Clone, Debug)]
pub struct RcTrack {
    epsn: Psn,
    msn: u32,
    message: Option<Message>,
    nak_sent: bool,
}

impl RcTrack {
    /// State after the queue pair's context was written.
    pub fn new(initial_psn: Psn) -> Self {
        Self {
            epsn: initial_psn,
            msn: 0,
            message: None,
            nak_sent: false,
        }
    }

    /// The PSN expected next.
    pub const fn expected_psn(&self) -> Psn {
        self.epsn
    }

    /// Decides about a packet that passed the queue pair's static checks, and records it.
    pub fn receive(&mut self, context: &QpRow, headers: &PacketHeaders) -> RcOutcome {
        let (reason, class, address) = match headers.mode {
            QpMode::Mrc => {
                let good = check_mrc_length(headers, context.mtu());
                let reason = if good {
                    DropReason::None
                } else {
                    DropReason::BadPayloadLength
                };
                (reason, RcClass::NotRc, own_address(headers))
            }
            QpMode::Rc => {
                let class = self.classify(headers.psn);
                let address = self.address(headers);
                let reason = match class {
                    RcClass::Expected => self.expected(context.mtu(), headers),
                    _ => DropReason::None,
                };
                (reason, class, address)
            }
        };
        RcOutcome {
            reason,
            class,
            epsn: self.epsn,
            msn: self.msn,
            address,
        }
    }

    fn classify(&mut self, psn: Psn) -> RcClass {
        if psn == self.epsn {
            RcClass::Expected
        } else if psn.is_behind(self.epsn) {
            RcClass::Duplicate
        } else if std::mem::replace(&mut self.nak_sent, true) {
            RcClass::GapAgain
        } else {
            RcClass::Gap
        }
    }

    fn address(&self, headers: &PacketHeaders) -> RcAddress {
        match self.message {
            Some(message) if !headers.position.starts() => message.next,
            _ => own_address(headers),
        }
    }

    /// The packet with the expected PSN: accepted, or refused leaving the state as it is.
    fn expected(&mut self, mtu: u32, headers: &PacketHeaders) -> DropReason {
        if headers.refused {
            return DropReason::UnsupportedOpcode;
        }
        if headers.position.starts() != self.message.is_none() {
            return DropReason::BadSequence;
        }
        let left = self
            .message
            .map_or_else(|| headers.dma_length(), |message| message.left);
        if !check_rc_length(headers, mtu, left) {
            return DropReason::BadPayloadLength;
        }
        let address = self.address(headers);
        self.epsn = self.epsn.plus(1);
        self.nak_sent = false;
        if headers.position.ends() {
            self.msn = (self.msn + 1) % (1 << 24);
            self.message = None;
        } else {
            self.message = Some(Message {
                next: RcAddress {
                    va: address.va.wrapping_add(headers.payload_bytes()),
                    rkey: address.rkey,
                },
                left: left - u32::from(headers.payload_length),
            });
        }
        DropReason::None
    }
}

/// Address in the packet itself, zero without a RETH.
fn own_address(headers: &PacketHeaders) -> RcAddress {
    headers
        .reth
        .map_or_else(RcAddress::default, |reth| RcAddress {
            va: reth.va,
            rkey: reth.rkey,
        })
}
