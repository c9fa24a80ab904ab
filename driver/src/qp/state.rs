//! States of a queue pair, and the legal transitions.

use thiserror::Error;

/// State of a queue pair (verbs: `ibv_qp_state`; SQD and SQE, which the card does not have, are not here). MRC and RC have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QpState {
    /// It has no rows on the card.
    Reset,
    /// It has a completion ring, and accepts no packets.
    Init,
    /// Ready to receive.
    Rtr,
    /// Ready to send, too.
    Rts,
    /// Accepts no packets; posted work requests complete with an error.
    Error,
}

impl QpState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Reset, Self::Init, Self::Rtr, Self::Rts, Self::Error];

    /// Whether software may move a queue pair from this state to `next`: the InfiniBand architecture's table (volume 1, section 10.3.1), less
    /// the changes of attributes within RTS.
    pub const fn may_become(self, next: Self) -> bool {
        match next {
            Self::Reset => true,
            Self::Init => matches!(self, Self::Reset | Self::Init),
            Self::Rtr => matches!(self, Self::Init),
            Self::Rts => matches!(self, Self::Rtr),
            Self::Error => !matches!(self, Self::Reset),
        }
    }

    /// `next`, if it may follow.
    ///
    /// # Errors
    /// [`IllegalTransition`].
    pub const fn to(self, next: Self) -> Result<Self, IllegalTransition> {
        if self.may_become(next) {
            Ok(next)
        } else {
            Err(IllegalTransition {
                from: self,
                to: next,
            })
        }
    }
}

/// An illegal transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a queue pair in {from:?} cannot become {to:?}; the order is Reset, Init, Rtr, Rts, and Reset from everywhere")]
pub struct IllegalTransition {
    /// State it is in.
    pub from: QpState,
    /// The state that was requested.
    pub to: QpState,
}
