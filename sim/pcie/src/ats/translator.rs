//! How a NIC gets from the address of a write to that of its TLPs.

use super::cache::Found;
use super::{Atc, Emtt};
use stellar_wire::pcie::AddressType;

/// Translation of a NIC.
pub enum Translator {
    /// By ATS, with a cache.
    Ats(Atc),
    /// By a table on the card.
    Emtt(Emtt),
}

/// State of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Address and address type of the TLP.
    Known(u64, AddressType),
    /// Not known yet.
    Pending,
    /// Has to be requested.
    Missing,
    /// There is no translation.
    Denied,
}

impl Translator {
    /// State of an address.
    pub(super) fn find(&mut self, iova: u64) -> State {
        match self {
            Self::Ats(atc) => match atc.find(iova) {
                Found::Hit(address) => State::Known(address, AddressType::Translated),
                Found::Pending => State::Pending,
                Found::Miss => State::Missing,
            },
            Self::Emtt(emtt) => match emtt.look_up(iova) {
                Some((address, at)) => State::Known(address, at),
                None => State::Denied,
            },
        }
    }

    /// Counts a TLP that was sent with a translation.
    pub(super) fn count_hit(&mut self) {
        if let Self::Ats(atc) = self {
            atc.count_hit();
        }
    }

    /// The cache, if there is one.
    pub fn atc(&self) -> Option<&Atc> {
        match self {
            Self::Ats(atc) => Some(atc),
            Self::Emtt(_) => None,
        }
    }

    pub(super) fn atc_mut(&mut self) -> Option<&mut Atc> {
        match self {
            Self::Ats(atc) => Some(atc),
            Self::Emtt(_) => None,
        }
    }
}
