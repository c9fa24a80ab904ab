//! Table rows of a queue pair, in the order in which they may be written.

use rust_hdl::prelude::Synth;
use stellar_transport::endpoint::{hardware, QpConfig, TransportConfig};
use stellar_transport::rx::{QpContext, QpState};
use stellar_wire::hw::config::ConfigSelect;
use stellar_wire::hw::control::ControlPeer;
use stellar_wire::hw::requester::RequesterConfig;

use crate::card::Card;
use crate::device::DeviceError;
use crate::open::PROFILE;

/// The rows of one queue pair.
struct Rows<'a> {
    card: &'a Card,
    config: &'a QpConfig,
}

impl Rows<'_> {
    fn put<T: Synth>(&self, select: ConfigSelect, row: T) -> Result<(), DeviceError> {
        self.card.write_row(select, self.config.number, row)
    }

    /// Where its frames go, which answers need too.
    fn put_addresses(&self) -> Result<(), DeviceError> {
        self.put(ConfigSelect::Address0, hardware::address(self.config, 0))?;
        self.put(ConfigSelect::Address1, hardware::address(self.config, 1))
    }

    /// The send side, which names the doorbell page; without a doorbell nothing is sent.
    fn put_requester(&self) -> Result<(), DeviceError> {
        let config = self.config;
        self.put(ConfigSelect::Requester, hardware::requester(config))?;
        if let TransportConfig::Mrc(mrc) = &config.transport {
            self.put(ConfigSelect::Spray, mrc.spray.to_hw(PROFILE))?;
            self.put(ConfigSelect::Nscc, mrc.nscc.registers().to_hw())?;
        }
        self.put_send_queue()
    }

    fn put_send_queue(&self) -> Result<(), DeviceError> {
        let config = self.config;
        match config.sq {
            Some(ring) => self.put(ConfigSelect::SendQueue, hardware::send_queue(config, ring)),
            None => Ok(()),
        }
    }
}

/// Ready to receive. The context comes last: it lets packets in. The send side is there because the card takes a queue pair's consumer
/// indices only from the page that its requester's row names.
pub fn write_receive(card: &Card, config: &QpConfig) -> Result<(), DeviceError> {
    let rows = Rows { card, config };
    rows.put_addresses()?;
    rows.put_requester()?;
    rows.put(ConfigSelect::Responder, hardware::responder(config))?;
    rows.put(ConfigSelect::ControlPeer, hardware::peer(config).to_hw())?;
    rows.put(ConfigSelect::Qp, hardware::context(config).to_hw())
}

/// Ready to send: the send side anew, from its first PSN.
pub fn write_send(card: &Card, config: &QpConfig) -> Result<(), DeviceError> {
    Rows { card, config }.put_requester()
}

/// Takes nothing, sends nothing, and has forgotten what it was to send.
pub fn stop(card: &Card, config: &QpConfig) -> Result<(), DeviceError> {
    let rows = Rows { card, config };
    let context = QpContext {
        state: QpState::Error,
        ..hardware::context(config)
    };
    rows.put(ConfigSelect::Qp, context.to_hw())?;
    rows.put(ConfigSelect::ControlPeer, ControlPeer::default())?;
    rows.put(ConfigSelect::Requester, RequesterConfig::default())?;
    rows.put_send_queue()
}
