//! Checks of completions.

use anyhow::ensure;
use stellar_driver::{Completion, CqeOpcode, WcStatus};

use crate::message::Message;
use crate::peer::PeerCompletion;

/// Checks that every work request of the card succeeded, in order.
pub fn check_card_sends(done: &[Completion], messages: &[Message]) -> anyhow::Result<()> {
    let found: Vec<_> = done.iter().map(|wc| (wc.wr_id, wc.status)).collect();
    let expected: Vec<_> = messages
        .iter()
        .map(|message| (message.wr_id, WcStatus::Success))
        .collect();
    ensure!(
        found == expected,
        "the card's work requests ended in {found:?} instead of {expected:?}"
    );
    Ok(())
}

/// Checks that every work request of the peer succeeded, in order.
pub fn check_peer_sends(done: &[PeerCompletion], messages: &[Message]) -> anyhow::Result<()> {
    let found: Vec<_> = done
        .iter()
        .map(|wc| (wc.wr_id, wc.status.as_str()))
        .collect();
    let expected: Vec<_> = messages.iter().map(|m| (m.wr_id, "SUCCESS")).collect();
    ensure!(
        found == expected,
        "the peer's work requests ended in {found:?} instead of {expected:?}"
    );
    Ok(())
}

/// Checks that the card received these immediates with their messages' lengths, in order.
pub fn check_card_receives(received: &[Completion], expected: &[(u32, u32)]) -> anyhow::Result<()> {
    let found: Vec<_> = received
        .iter()
        .map(|wc| (wc.status, wc.opcode, wc.immediate, wc.byte_len))
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|&(immediate, length)| {
            (
                WcStatus::Success,
                CqeOpcode::RecvRdmaWithImm,
                Some(immediate),
                length,
            )
        })
        .collect();
    ensure!(
        found == expected,
        "the card received {found:?} instead of {expected:?}"
    );
    Ok(())
}

/// Checks that the peer received these immediates with their messages' lengths, in order.
pub fn check_peer_receives(
    received: &[PeerCompletion],
    expected: &[(u32, u32)],
) -> anyhow::Result<()> {
    let found: Vec<_> = received
        .iter()
        .map(|wc| {
            (
                wc.status.as_str(),
                wc.opcode.as_str(),
                wc.immediate,
                wc.byte_len,
            )
        })
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|&(immediate, length)| ("SUCCESS", "RECV_RDMA_WITH_IMM", Some(immediate), length))
        .collect();
    ensure!(
        found == expected,
        "the peer received {found:?} instead of {expected:?}"
    );
    Ok(())
}
