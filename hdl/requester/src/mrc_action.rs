//! Decides what is done for an MRC queue pair at a port, once window and path policy have answered (reference: `MrcRequester::transmit_each`).

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;

use crate::choice::Choice;

/// What may hinder a port from sending what was chosen.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct Hindrances {
    /// A message that was completed in the background has failed.
    pub fails: Bit,
    /// The path policy changes the congestion window, and this has not been done.
    pub changes_cwnd: Bit,
    /// The path policy waits until nothing is in flight. That is so, and it does not know it.
    pub tells_empty: Bit,
    /// The payload of a message cannot be read.
    pub is_stopped: Bit,
    /// The path policy holds data back; it lets lost packets leave.
    pub held: Bit,
    pub drains: Bit,
}

/// What is done, in the order of priority.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum MrcAction {
    /// Moves the queue pair to the error state.
    Fail,
    /// Changes the congestion window as the path policy tells, and then decides again.
    ChangeCwnd,
    /// Tells the path policy that nothing is in flight, and then decides again.
    TellEmpty,
    /// Ends the operation. It is tried again after the message has been marked.
    TryAgain,
    /// Sends nothing. The timer schedules the queue pair again.
    HoldBack,
    /// Sends new packets, as far as the windows allow.
    SendNew,
    SendProbe,
    /// Sends the lowest lost packet again.
    Retransmit,
}

/// Decides what is done. Levels: 3.
#[hdl_fn]
pub fn mrc_action(choice: Choice, hindrances: Hindrances) -> MrcAction {
    let held_back = hindrances.held & !choice.probes & !(hindrances.drains & choice.is_retransmit);
    if hindrances.fails {
        MrcAction::Fail
    } else if hindrances.changes_cwnd {
        MrcAction::ChangeCwnd
    } else if hindrances.tells_empty {
        MrcAction::TellEmpty
    } else if hindrances.is_stopped {
        MrcAction::TryAgain
    } else if held_back {
        MrcAction::HoldBack
    } else if choice.probes {
        MrcAction::SendProbe
    } else if choice.is_retransmit {
        MrcAction::Retransmit
    } else {
        MrcAction::SendNew
    }
}
