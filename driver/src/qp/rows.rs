//! Table rows of a queue pair, in the order in which they may be written.

use stellar_wire::config::{QpConfig, TransportConfig};
use stellar_wire::rows::{ConfigSelect, PathUseRow, PeerRow, QpRow, QpState, RequesterRow, Row};

use super::entries::Entries;
use crate::card::Card;
use crate::device::DeviceError;
use crate::profiles::DEFAULT_PROFILE;

/// The rows of one queue pair.
struct Rows<'a> {
    card: &'a Card,
    config: &'a QpConfig,
    /// Number of its entropy profile.
    profile: u8,
}

impl Rows<'_> {
    fn put(&self, select: ConfigSelect, row: &impl Row) -> Result<(), DeviceError> {
        self.card.write_row(select, self.config.number, row)
    }

    /// The send side, which names the doorbell page. Without a doorbell the card sends no requests.
    fn put_requester(&self) -> Result<(), DeviceError> {
        let config = self.config;
        self.put(ConfigSelect::Requester, &config.requester_row())?;
        if let Some(paths) = config.transport.spray() {
            self.put(ConfigSelect::Spray, &paths.row(self.profile))?;
        }
        if let TransportConfig::Mrc(mrc) = &config.transport {
            self.put(ConfigSelect::Nscc, mrc.nscc.registers())?;
        }
        self.put_send_queue()
    }

    fn put_send_queue(&self) -> Result<(), DeviceError> {
        let config = self.config;
        match config.sq {
            Some(ring) => self.put(ConfigSelect::SendQueue, &config.send_queue_row(ring)),
            None => Ok(()),
        }
    }
}

/// Ready to receive. The receive side comes first: it forgets packets of an old connection that wait for an acknowledgement before the peer is the new one.
/// The context comes last: it lets packets in. The send side is there because the card takes a queue pair's consumer indices only from the page that its
/// requester's row names.
pub fn write_receive(
    card: &Card,
    config: &QpConfig,
    profile: u8,
    entries: &Entries,
) -> Result<(), DeviceError> {
    let rows = Rows {
        card,
        config,
        profile,
    };
    let responder = config.responder_row(entries.first_of_stash());
    rows.put(ConfigSelect::Responder, &responder)?;
    rows.put_requester()?;
    rows.put(ConfigSelect::Peer, &config.peer_row(entries.vector))?;
    rows.put(ConfigSelect::Qp, &config.context_row())
}

/// Ready to send: writes the send side again, from its first PSN.
pub fn write_send(card: &Card, config: &QpConfig, profile: u8) -> Result<(), DeviceError> {
    let rows = Rows {
        card,
        config,
        profile,
    };
    rows.put_requester()
}

/// Denies or allows one path of a queue pair that is ready to send.
pub fn write_path_use(card: &Card, qp: u32, change: &PathUseRow) -> Result<(), DeviceError> {
    card.write_row(ConfigSelect::PathUse, qp, change)
}

/// Stops it: it accepts and sends no packets, and its send queue is empty.
pub fn stop(card: &Card, config: &QpConfig) -> Result<(), DeviceError> {
    let rows = Rows {
        card,
        config,
        profile: DEFAULT_PROFILE,
    };
    let context = QpRow {
        state: QpState::Error,
        ..config.context_row()
    };
    rows.put(ConfigSelect::Qp, &context)?;
    rows.put(ConfigSelect::Peer, &PeerRow::default())?;
    rows.put(ConfigSelect::Requester, &RequesterRow::default())?;
    rows.put_send_queue()
}
