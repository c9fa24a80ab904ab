//! Finds the commands of a failed batch that have failed.

use hdl_macros::{clock, hdl};
use hdl_primitives::{BlockRam, FlowSnk, OfferSnk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::FlushedBatch;

use super::records::{ArrivedBatch, CommandWrites, SingleRead};

/// log2 of the commands whose flush may be outstanding: fewer than 1,024 wait for their outcomes.
const COMMAND_BITS: usize = 10;
/// Bits of a page's number: translation and protection are by 4 KiB.
const PAGE_BITS: usize = 52;
const PAGE_DW_BIT: usize = 10;
/// Repeated reads of a batch that may stay without an answer, until none is repeated any more.
const PATIENCE: u64 = 4;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum State {
    /// Passes on batches that have arrived.
    Pass,
    /// Reads where the next command has written.
    Look,
    /// Decides what is known of it.
    Judge,
    /// Has its flush read sent, or reports it.
    Decide,
    /// Has its flush read sent.
    Ask,
    /// Waits for the answer.
    Wait,
    /// Reports it.
    Tell,
}

/// Passes on batches whose flush reads have succeeded. Of a batch with a failed one, each command is reported for itself.
///
/// A flush read says nothing about the other target, so commands that wrote only there have arrived. For each of the others, a read follows at the address
/// that it wrote last, and it fails with that read alone. Only these fail at once: a command that wrote to both targets; one whose page is that of the
/// command that failed last; and all, if the target answers nothing: the read was given up and none behind it was answered, or four repeated reads were
/// given up. So what waits behind the batch waits for at most five times the time of a read.
///
/// `batch` is the same batch until it is taken, and not valid while a read of it is repeated. Levels: 4, behind a block RAM (page compare 3, decide 1).
#[derive(LogicBlock, Default)]
pub struct FlushRetry {
    pub clock: Signal<In, Clock>,
    /// Forgets all commands.
    pub reset: Signal<In, Bit>,

    /// The last write of a command has left; in the order of the batches.
    pub left: FlowSnk<CommandWrites>,
    /// From `flush_batches`.
    pub batch: OfferSnk<ArrivedBatch>,
    /// A flush read of the batch is to be repeated at another address.
    pub again: Src<SingleRead>,

    pub flushed: Src<FlushedBatch>,

    commands: BlockRam<CommandWrites, COMMAND_BITS>,
    newest: DFF<Bits<COMMAND_BITS>>,
    oldest: DFF<Bits<COMMAND_BITS>>,
    state: DFF<State>,
    /// Commands of the batch that are not reported.
    rest: DFF<Bits<COMMAND_BITS>>,
    /// The reads of this target failed; nothing is known there any more.
    host_failed: DFF<Bit>,
    peer_failed: DFF<Bit>,
    host_dead: DFF<Bit>,
    peer_dead: DFF<Bit>,
    /// Repeated reads that were given up.
    given_up: DFF<Bits<3>>,
    /// The command is lost. The page and target of the last one that was.
    lost: DFF<Bit>,
    /// Whether it is lost must be asked.
    asks: DFF<Bit>,
    knows_page: DFF<Bit>,
    page: DFF<Bits<PAGE_BITS>>,
    page_of_peer: DFF<Bit>,
}

impl Logic for FlushRetry {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            newest,
            oldest,
            state,
            rest,
            host_failed,
            peer_failed
        );
        dff_setup!(self, clock, host_dead, peer_dead, given_up, lost, asks);
        dff_setup!(self, clock, knows_page, page, page_of_peer);
        clock!(self, clock, commands);
        let state = self.state.q.val();
        let oldest = self.oldest.q.val();

        // keep
        self.commands.write_enable.next = self.left.valid.val();
        self.commands.write_address.next = self.newest.q.val();
        self.commands.write_data.next = self.left.record.val();
        self.commands.read_address.next = oldest;
        if self.left.valid.val() {
            self.newest.d.next = self.newest.q.val() + 1;
        }

        // pass
        let batch = self.batch.record.val();
        let comes = self.batch.valid.val();
        let is_good = !batch.host.failed & !batch.peer.failed;
        let passing = state == State::Pass;
        let passes = passing & comes & is_good;
        let telling = state == State::Tell;
        let told = telling & self.flushed.ready.val();
        let ends = self.rest.q.val() == 1;
        self.flushed.valid.next = passes | telling;
        self.flushed.record.next = FlushedBatch {
            commands: if telling { bits(1) } else { batch.commands },
            failed: telling & self.lost.q.val(),
        };
        self.batch.ready.next = (passes & self.flushed.ready.val()) | (told & ends);
        if passing & comes & !is_good {
            self.state.d.next = State::Look;
            self.rest.d.next = batch.commands;
            self.host_failed.d.next = batch.host.failed;
            self.peer_failed.d.next = batch.peer.failed;
            self.host_dead.d.next = batch.host.late & batch.host.silent;
            self.peer_dead.d.next = batch.peer.late & batch.peer.silent;
            self.given_up.d.next = bits(0);
            self.knows_page.d.next = false;
        }
        if state == State::Look {
            self.state.d.next = State::Judge;
        }

        // judge
        let command = self.commands.read_data.val();
        let host_fails = command.to_host & self.host_failed.q.val();
        let peer_fails = command.to_peer & self.peer_failed.q.val();
        let fails = host_fails | peer_fails;
        let is_dead = (host_fails & self.host_dead.q.val()) | (peer_fails & self.peer_dead.q.val());
        let page = command.address_dw.get_bits::<PAGE_BITS>(PAGE_DW_BIT);
        let known = self.knows_page.q.val()
            & (page == self.page.q.val())
            & (command.to_peer == self.page_of_peer.q.val());
        let is_lost = is_dead | known | (command.to_host & command.to_peer);
        if state == State::Judge {
            self.lost.d.next = fails;
            self.asks.d.next = fails & !is_lost;
            self.state.d.next = State::Decide;
        }
        if state == State::Decide {
            self.state.d.next = if self.asks.q.val() {
                State::Ask
            } else {
                State::Tell
            };
        }

        // ask
        let asks = state == State::Ask;
        self.again.valid.next = asks;
        self.again.record.next = SingleRead {
            address_dw: command.address_dw,
            of_peer: command.to_peer,
        };
        if asks & self.again.ready.val() {
            self.state.d.next = State::Wait;
        }

        // hear
        let end = if command.to_peer {
            batch.peer
        } else {
            batch.host
        };
        let given_up = self.given_up.q.val();
        if (state == State::Wait) & comes {
            self.state.d.next = State::Tell;
            self.lost.d.next = end.failed;
            if end.failed {
                self.knows_page.d.next = true;
                self.page.d.next = page;
                self.page_of_peer.d.next = command.to_peer;
            }
            if end.late {
                self.given_up.d.next = given_up + 1;
                if end.silent | (given_up == PATIENCE - 1) {
                    self.host_dead.d.next = self.host_dead.q.val() | command.to_host;
                    self.peer_dead.d.next = self.peer_dead.q.val() | command.to_peer;
                }
            }
        }

        // tell
        if told {
            self.rest.d.next = self.rest.q.val() - 1;
            self.state.d.next = if ends { State::Pass } else { State::Look };
        }
        if told {
            self.oldest.d.next = oldest + 1;
        } else if passes & self.flushed.ready.val() {
            self.oldest.d.next = oldest + batch.commands;
        }

        if self.reset.val() {
            self.state.d.next = State::Pass;
            self.newest.d.next = bits(0);
            self.oldest.d.next = bits(0);
        }
    }
}
