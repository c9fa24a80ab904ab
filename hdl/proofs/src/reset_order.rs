//! The resets of a FIFO between two clocks.

use hdl_crossings::async_fifo::STAGES;
use hdl_macros::hdl;
use rust_hdl::prelude::*;

/// Edges of one clock after which a pointer of 0 of the other one has passed: the synchroniser, and a register.
const PASSES: u64 = STAGES as u64 + 1;

/// Watches the two resets of an `AsyncFifo` (`docs/crossings.md`, "Resets"). `read_reset` rises first. Both are high until each side has had two edges, so that its pointer of 0 has arrived, and the
/// other side has had enough edges after them. They fall in any order, and both are low before the next one rises.
#[derive(LogicBlock, Default)]
pub struct ResetOrder {
    /// The clock of the steps.
    pub clock: Signal<In, Clock>,
    /// The write clock has an edge in this step.
    pub write_edge: Signal<In, Bit>,
    /// The reset on the write clock.
    pub write_reset: Signal<In, Bit>,
    /// The read clock has an edge in this step.
    pub read_edge: Signal<In, Bit>,
    /// The reset on the read clock.
    pub read_reset: Signal<In, Bit>,

    /// The resets keep the order, and each changes behind an edge of its clock.
    pub kept: Signal<Out, Bit>,
    /// Entries inside and those that enter are lost: from the rise of `read_reset` to the fall of the first reset.
    pub loses: Signal<Out, Bit>,

    write_before: DFF<Bit>,
    write_edge_before: DFF<Bit>,
    read_before: DFF<Bit>,
    read_edge_before: DFF<Bit>,
    /// The read side had an edge with its reset: it has stopped.
    stopped: DFF<Bit>,
    /// Edges of a clock while both are high, 2 if more; edges of the other clock after them.
    write_edges: DFF<Bits<2>>,
    read_edges: DFF<Bits<2>>,
    write_zero_edges: DFF<Bits<3>>,
    read_zero_edges: DFF<Bits<3>>,
    /// The resets may fall, until both are low.
    done: DFF<Bit>,
}

impl Logic for ResetOrder {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            write_before,
            write_edge_before,
            read_before,
            read_edge_before,
            stopped,
            write_edges,
            read_edges,
            write_zero_edges,
            read_zero_edges,
            done
        );
        let write = self.write_reset.val();
        let read = self.read_reset.val();
        let write_before = self.write_before.q.val();
        let read_before = self.read_before.q.val();
        let write_edge = self.write_edge.val();
        let read_edge = self.read_edge.val();
        let done = self.done.q.val();
        let both = write & read;
        self.write_before.d.next = write;
        self.read_before.d.next = read;
        self.write_edge_before.d.next = write_edge;
        self.read_edge_before.d.next = read_edge;
        self.stopped.d.next = read & (self.stopped.q.val() | read_edge);

        let write_edges = self.write_edges.q.val();
        let read_edges = self.read_edges.q.val();
        let write_zero_edges = self.write_zero_edges.q.val();
        let read_zero_edges = self.read_zero_edges.q.val();
        if both & write_edge & (write_edges != 2) {
            self.write_edges.d.next = write_edges + 1;
        }
        if both & read_edge & (read_edges != 2) {
            self.read_edges.d.next = read_edges + 1;
        }
        if both & (write_edges == 2) & read_edge & (write_zero_edges != PASSES) {
            self.write_zero_edges.d.next = write_zero_edges + 1;
        }
        if both & (read_edges == 2) & write_edge & (read_zero_edges != PASSES) {
            self.read_zero_edges.d.next = read_zero_edges + 1;
        }
        self.done.d.next = done | ((write_zero_edges == PASSES) & (read_zero_edges == PASSES));
        if !write & !read {
            self.done.d.next = false;
            self.write_edges.d.next = bits(0);
            self.read_edges.d.next = bits(0);
            self.write_zero_edges.d.next = bits(0);
            self.read_zero_edges.d.next = bits(0);
        }

        let write_changes = write ^ write_before;
        let read_changes = read ^ read_before;
        let own_edges = (!write_changes | self.write_edge_before.q.val())
            & (!read_changes | self.read_edge_before.q.val());
        let write_rises = write & !write_before;
        let read_rises = read & !read_before;
        let rises = (!write_rises | (read & self.stopped.q.val() & !done))
            & (!read_rises | (!write & !done));
        let falls = done | ((write | !write_before) & (read | !read_before));
        self.kept.next = own_edges & rises & falls;
        self.loses.next = (read & !done) | both;
    }
}
