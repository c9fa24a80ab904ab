//! Transfers: posting messages and checking their completions.

use std::time::{Duration, Instant};

use stellar_driver::Completion;

use super::{Bed, Pair, SOURCE};
use crate::card_end::Remote;
use crate::completions::{
    check_card_receives, check_card_sends, check_peer_receives, check_peer_sends,
};
use crate::message::Message;
use crate::peer::PeerCompletion;

/// Longest wait for completions, in wall time.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// The peer, to the card's memory.
    Peer,
    /// The card, to the peer's memory.
    Card,
}

/// Immediates and lengths of the messages that have one.
fn immediates(messages: &[Message]) -> Vec<(u32, u32)> {
    let with_immediate = messages
        .iter()
        .filter_map(|m| Some((m.immediate?, m.length)));
    with_immediate.collect()
}

impl Bed {
    /// Posts messages in order.
    pub fn post(&self, writer: Writer, pair: &Pair, messages: &[Message]) -> anyhow::Result<()> {
        for message in messages {
            match writer {
                Writer::Peer => self.post_at_peer("write", pair, message, self.card_target())?,
                Writer::Card => self.end().post(&pair.card, message, self.peer_target())?,
            }
        }
        Ok(())
    }

    /// Posts one work request at the peer. `operation` is a name of `rdma_peer`'s; a message with an immediate is always a WRITE with immediate.
    pub fn post_at_peer(
        &self,
        operation: &str,
        pair: &Pair,
        message: &Message,
        remote: Remote,
    ) -> anyhow::Result<()> {
        let (operation, immediate) = match message.immediate {
            Some(immediate) => ("write_imm", immediate),
            None => (operation, 0),
        };
        let address = remote.address + message.to;
        self.ask(&format!(
            "post {} {operation} {} {SOURCE} {} {} {address:#x} {:#x} {immediate} 1 0",
            pair.peer, message.wr_id, message.from, message.length, remote.rkey
        ))?;
        Ok(())
    }

    /// Posts a receive at the peer for each WRITE with immediate among the messages.
    pub fn post_receives(&self, pair: &Pair, messages: &[Message]) -> anyhow::Result<()> {
        let with_immediate = messages.iter().filter(|m| m.immediate.is_some());
        match with_immediate.count() {
            0 => Ok(()),
            count => self
                .ask(&format!("recv {} 1000 {count}", pair.peer))
                .map(drop),
        }
    }

    /// Waits for completions at the peer, at most for this much wall time.
    pub fn peer_completions(
        &self,
        pair: &Pair,
        count: usize,
        patience: Duration,
    ) -> anyhow::Result<Vec<PeerCompletion>> {
        let mut peer = self.peer.borrow_mut();
        peer.poll(pair.peer, count, patience, &|| self.clock())
    }

    /// Waits for completions of a queue pair at the card, at most for this much wall time.
    pub fn card_completions(
        &self,
        pair: &Pair,
        count: usize,
        patience: Duration,
    ) -> anyhow::Result<Vec<Completion>> {
        let until = Instant::now() + patience;
        let mut completed = self.completed.borrow_mut();
        loop {
            for completion in self.end().cq.poll(64)? {
                let of_pair = completed.entry(completion.qp).or_default();
                of_pair.push_back(completion);
            }
            let own = completed.entry(pair.card.number()).or_default();
            if own.len() >= count || Instant::now() > until {
                return Ok(own.drain(..count.min(own.len())).collect());
            }
            self.clock();
        }
    }

    /// Waits for the completions of all messages at the sender, and of those with immediate at the receiver. Checks them, and expects the messages in
    /// the target region.
    pub fn complete(
        &mut self,
        writer: Writer,
        pair: &Pair,
        messages: &[Message],
    ) -> anyhow::Result<()> {
        let immediates = immediates(messages);
        match writer {
            Writer::Peer => {
                let done = self.peer_completions(pair, messages.len(), PATIENCE)?;
                check_peer_sends(&done, messages)?;
                let received = self.card_completions(pair, immediates.len(), PATIENCE)?;
                check_card_receives(&received, &immediates)?;
            }
            Writer::Card => {
                let done = self.card_completions(pair, messages.len(), PATIENCE)?;
                check_card_sends(&done, messages)?;
                let received = self.peer_completions(pair, immediates.len(), PATIENCE)?;
                check_peer_receives(&received, &immediates)?;
            }
        }
        self.arrived(writer, messages);
        Ok(())
    }

    /// Does what [`Self::complete`] does for messages that both ends have posted on one queue pair.
    pub fn complete_both(&mut self, pair: &Pair, messages: &[Message]) -> anyhow::Result<()> {
        let immediates = immediates(messages);
        let count = messages.len() + immediates.len();
        let (received, sent): (Vec<_>, Vec<_>) = self
            .card_completions(pair, count, PATIENCE)?
            .into_iter()
            .partition(|wc| wc.opcode.is_receive());
        check_card_sends(&sent, messages)?;
        check_card_receives(&received, &immediates)?;
        let (received, sent): (Vec<_>, Vec<_>) = self
            .peer_completions(pair, count, PATIENCE)?
            .into_iter()
            .partition(|wc| wc.opcode.starts_with("RECV"));
        check_peer_sends(&sent, messages)?;
        check_peer_receives(&received, &immediates)?;
        self.arrived(Writer::Peer, messages);
        self.arrived(Writer::Card, messages);
        Ok(())
    }

    /// Posts receives and messages, and waits for all completions.
    pub fn exchange(
        &mut self,
        writer: Writer,
        pair: &Pair,
        messages: &[Message],
    ) -> anyhow::Result<()> {
        if writer == Writer::Card {
            self.post_receives(pair, messages)?;
        }
        self.post(writer, pair, messages)?;
        self.complete(writer, pair, messages)
    }
}
