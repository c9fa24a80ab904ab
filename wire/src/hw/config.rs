//! How software fills the tables of the card: one write port for all of them.

use rust_hdl::prelude::*;

use super::tables::EMTT_INDEX_BITS;

/// Which table a [`ConfigWrite`] goes to, and so what its entry is.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ConfigSelect {
    /// [`super::tables::QpContext`] by queue pair.
    Qp,
    /// [`super::tables::MrEntry`] by region.
    Mr,
    /// [`super::tables::EmttEntry`] by page.
    Emtt,
    /// [`super::requester::RequesterConfig`] by queue pair.
    Requester,
    /// [`super::messages::SendQueueConfig`] by queue pair.
    SendQueue,
    /// [`super::spray::SprayConfig`] by queue pair.
    Spray,
    /// [`super::spray::EntropyProfileEntry`] by profile.
    Profile,
    /// [`super::congestion::NsccConfig`] by queue pair.
    Nscc,
    /// Where frames of a queue pair go, by queue pair: of port 0.
    Address0,
    /// As before: of port 1.
    Address1,
    /// Own addresses and code points, by port.
    Port,
    /// Whose control packets a queue pair takes, by queue pair.
    ControlPeer,
    /// Receive side of a queue pair, by queue pair.
    Responder,
    /// Completion queue of a queue pair, by queue pair.
    CompletionQueue,
    /// The event queue.
    EventQueue,
    /// MSI-X address and data, by vector.
    Interrupt,
}

impl ConfigSelect {
    /// Every table, at its number.
    pub const ALL: [Self; 16] = [
        Self::Qp,
        Self::Mr,
        Self::Emtt,
        Self::Requester,
        Self::SendQueue,
        Self::Spray,
        Self::Profile,
        Self::Nscc,
        Self::Address0,
        Self::Address1,
        Self::Port,
        Self::ControlPeer,
        Self::Responder,
        Self::CompletionQueue,
        Self::EventQueue,
        Self::Interrupt,
    ];
}

/// One table write.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct ConfigWrite {
    pub select: ConfigSelect,
    pub index: Bits<EMTT_INDEX_BITS>,
    /// The entry, packed from bit 0.
    pub entry: Bits<1024>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_stands_at_its_number() {
        for (number, table) in ConfigSelect::ALL.into_iter().enumerate() {
            assert_eq!(table as usize, number);
        }
        assert_eq!(ConfigSelect::ALL.len(), 1 << ConfigSelect::BITS);
    }
}
