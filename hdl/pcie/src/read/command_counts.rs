//! A count and a mark for each command.

use hdl_macros::hdl;
use hdl_primitives::LutRam;
use rust_hdl::prelude::*;

/// What is counted of a command.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct CommandCount {
    /// Modulo 128. It goes on from command to command of one number.
    pub count: Bits<7>,
    /// Lap of the ring of numbers in which `mark` was written.
    pub lap: Bit,
    pub mark: Bit,
}

/// Counts and marks of 2^`S` command numbers. Numbers are used in a ring. The lap differs from that of the number's command before, so a mark of an older
/// command is not one of this one, and nothing has to be cleared when a number is used again. Only the head is read. The path from `head` to `of_head` is
/// combinational. Levels: 4 (read, add).
#[derive(LogicBlock, Default)]
pub struct CommandCounts<const S: usize> {
    pub clock: Signal<In, Clock>,
    /// One more for `command`.
    pub add: Signal<In, Bit>,
    /// A mark for `command`. It stays until the next lap.
    pub mark: Signal<In, Bit>,
    pub command: Signal<In, Bits<S>>,
    /// Lap of `command`.
    pub lap: Signal<In, Bit>,
    /// All zero for `clear_command`; `add` and `mark` do nothing then.
    pub clear: Signal<In, Bit>,
    pub clear_command: Signal<In, Bits<S>>,
    pub head: Signal<In, Bits<S>>,
    pub of_head: Signal<Out, CommandCount>,
    // The counts are stored twice, because a memory has one read port: one copy is read to add, the other for the head.
    counts: LutRam<CommandCount, S>,
    counts_of_head: LutRam<CommandCount, S>,
}

impl<const S: usize> Logic for CommandCounts<S> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, counts, counts_of_head);
        let clear = self.clear.val();
        let lap = self.lap.val();
        let writes = clear | self.add.val() | self.mark.val();
        self.counts.read_address.next = self.command.val();
        let old = self.counts.read_data.val();
        let place = if clear {
            self.clear_command.val()
        } else {
            self.command.val()
        };
        let count = if self.add.val() {
            old.count + 1
        } else {
            old.count
        };
        let marked = self.mark.val() | (old.mark & (old.lap == lap));
        let written = if clear {
            CommandCount {
                count: bits(0),
                lap: false,
                mark: false,
            }
        } else {
            CommandCount {
                count: count,
                lap: lap,
                mark: marked,
            }
        };
        self.counts.write_enable.next = writes;
        self.counts.write_address.next = place;
        self.counts.write_data.next = written;
        self.counts_of_head.write_enable.next = writes;
        self.counts_of_head.write_address.next = place;
        self.counts_of_head.write_data.next = written;
        self.counts_of_head.read_address.next = self.head.val();
        self.of_head.next = self.counts_of_head.read_data.val();
    }
}
