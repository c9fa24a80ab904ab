//! The admin queue fetches table rows from a ring in host memory and writes them, one after another.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{OfferSrc, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::host::admin::{AdminCommand, AdminRing, AdminState, PageList};
use stellar_wire::host::registers::TableCommand;
use stellar_wire::hw::config::{ConfigSelect, ConfigWrite};
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::tables::EMTT_INDEX_BITS;
use stellar_wire::hw::QPN_BITS;

use crate::bundles::AdminRegistersSnk;
use crate::config_entry::{config_select, SELECT_BITS};
use crate::ring::place_mask;
use crate::table_rows::{has_row, TABLES};

/// log2 of the bytes of a command.
const COMMAND_LOG2: u64 = AdminCommand::LEN.ilog2() as u64;
/// Maximum number of lines of 64 bytes in one read.
const MOST_LINES: u64 = 8;
/// log2 of the translations in a line.
const LINE_LOG2: u64 = 3;
/// Bits of a count of translations.
const COUNT_BITS: usize = PageList::COUNT_BITS;
/// Bits of a count of lines, enough for the longest list.
const LINES_BITS: usize = COUNT_BITS - LINE_LOG2 as usize;
/// Bits of the sum of a row and a count.
const END_BITS: usize = COUNT_BITS + 1;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// Nothing to do, switched off, or stopped by an error.
    Idle,
    /// The read of the command is requested.
    Ask,
    /// The command's first line arrives.
    First,
    /// The command's second line arrives.
    Second,
    /// The kind of the command is decoded.
    Decide,
    /// The command's row is written.
    Row,
    /// The command's list is read, and its rows are written.
    Pages,
    /// The rest of a failed read is discarded.
    Drain,
}

/// The row of a command: words 1 to 15.
#[hdl_fn]
fn row_of(command: Bits<1024>) -> Bits<1024> {
    command >> 64
}

/// Number of lines for this number of translations. LUT levels: one sum.
#[hdl_fn]
fn lines_of(count: Bits<COUNT_BITS>) -> Bits<LINES_BITS> {
    ((count + ((1 << LINE_LOG2) - 1)) >> LINE_LOG2).get_bits::<LINES_BITS>(0)
}

/// Executes the commands of a ring in host memory ([`AdminCommand`]) in order. Rows that software writes by registers go to the tables between those of
/// the commands.
///
/// Rows leave at `config`, one at a time. Rows from the registers have priority. `AdminState` is the number of commands that are done, which means that
/// their tables have accepted the rows. An error stops the queue until software writes a ring again. Errors are a failed read, an invalid command,
/// and a command for rows that do not exist.
///
/// Software may write a ring while no command is in progress. A command is one read. A list is read in parts of at most 512 bytes, which are
/// requested while the rows of earlier parts are written. `Q`, `M` and `E` are log2 of queue pairs, memory regions and translations, `P` is the number of ports. LUT levels: 6 (4
/// for the rows of the tables, 2 for the decision), and a parallel carry chain of 22 bits (end of a list).
#[derive(LogicBlock, Default)]
pub struct AdminQueue<const Q: usize, const M: usize, const E: usize, const P: usize = 2> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // From the registers.
    pub admin: AdminRegistersSnk,
    /// Rows that software writes by registers.
    pub direct: Snk<ConfigWrite>,

    // To the tables.
    pub settings: Src<ConfigWrite>,
    /// The row is one of a list: it may be accepted before its table has it.
    pub posted: Signal<Out, Bit>,
    /// Such a row was accepted, and its table does not have it yet. High from the cycle after the acceptance on.
    pub pending: Signal<In, Bit>,

    // Reads of lines of 64 bytes.
    pub fetch: OfferSrc<WqeFetch>,
    pub fetched: Snk<WqeFetched>,

    step: DFF<Step>,
    base: DFF<Bits<52>>,
    log2_entries: DFF<Bits<4>>,
    enabled: DFF<Bit>,
    produced: DFF<Bits<16>>,
    consumed: DFF<Bits<16>>,
    failed: DFF<Bits<8>>,
    /// The first line is in the low half.
    command: DFF<Bits<1024>>,
    /// Next line to request.
    address: DFF<Bits<64>>,
    /// Number of lines to request.
    unasked: DFF<Bits<LINES_BITS>>,
    /// Number of requested lines that have not arrived.
    coming: DFF<Bits<LINES_BITS>>,
    /// Number of rows to write.
    left: DFF<Bits<COUNT_BITS>>,
    row: DFF<Bits<EMTT_INDEX_BITS>>,
    /// Translations of a line, the next one in the low bits, and their number.
    line: DFF<Bits<512>>,
    in_line: DFF<Bits<4>>,
    /// A row is valid at `config` and not accepted yet; the row is one of the queue's own.
    held: DFF<Bit>,
    held_own: DFF<Bit>,
}

impl<const Q: usize, const M: usize, const E: usize, const P: usize> Logic
    for AdminQueue<Q, M, E, P>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            base,
            log2_entries,
            enabled,
            produced,
            consumed,
            failed
        );
        dff_setup!(self, clock, command, address, unasked, coming, left, row, line, in_line);
        dff_setup!(self, clock, held, held_own);
        let step = self.step.q.val();
        let command = self.command.q.val();
        let fetched = self.fetched.record.val();
        let comes = self.fetched.valid.val();
        let in_line = self.in_line.q.val();
        let left = self.left.q.val();

        // config: a row that is offered stays until it is taken
        let own = (step == Step::Row) | ((step == Step::Pages) & in_line.any() & left.any());
        let mine = if self.held.q.val() {
            self.held_own.q.val()
        } else {
            own & !self.direct.valid.val()
        };
        let offers = if mine { own } else { self.direct.valid.val() };
        let takes = self.settings.ready.val() & offers;
        self.settings.valid.next = offers;
        self.held.d.next = offers & !self.settings.ready.val();
        self.held_own.d.next = mine;
        self.direct.ready.next = self.settings.ready.val() & !mine;
        let select = config_select(command.get_bits::<SELECT_BITS>(TableCommand::SELECT_BIT));
        self.settings.record.next = if !mine {
            self.direct.record.val()
        } else if step == Step::Row {
            ConfigWrite {
                select,
                index: command.get_bits::<EMTT_INDEX_BITS>(TableCommand::INDEX_BIT),
                entry: row_of(command),
            }
        } else {
            ConfigWrite {
                select: ConfigSelect::Emtt,
                index: self.row.q.val(),
                entry: bit_cast::<1024, 64>(self.line.q.val().get_bits::<64>(0)),
            }
        };
        self.posted.next = mine & (step != Step::Row);
        let takes_own = takes & mine;

        // fetch
        let unasked = self.unasked.q.val();
        let asks = ((step == Step::Ask) | (step == Step::Pages)) & unasked.any();
        let many = unasked > MOST_LINES;
        let lines = if many {
            bits::<4>(MOST_LINES)
        } else {
            unasked.get_bits::<4>(0)
        };
        let asked = asks & self.fetch.ready.val();
        self.fetch.valid.next = asks;
        self.fetch.record.next = WqeFetch {
            address: self.address.q.val(),
            qp: bits::<QPN_BITS>(0),
            lines,
            epoch: false,
        };
        if asked {
            self.address.d.next = self.address.q.val() + (bit_cast::<64, 4>(lines) << 6);
            self.unasked.d.next = unasked - bit_cast::<LINES_BITS, 4>(lines);
        }

        // come: accept lines of a list while there is space for them
        let room = (step == Step::First)
            | (step == Step::Second)
            | ((step == Step::Pages) & !in_line.any())
            | (step == Step::Drain);
        let arrives = comes & room;
        self.fetched.ready.next = room;
        let grown = if asked {
            self.coming.q.val() + bit_cast::<LINES_BITS, 4>(lines)
        } else {
            self.coming.q.val()
        };
        let coming = if arrives { grown - 1 } else { grown };
        self.coming.d.next = coming;

        let opcode = command.get_bits::<8>(AdminCommand::OPCODE_BIT);
        let table = command.get_bits::<8>(TableCommand::SELECT_BIT);
        let mask = place_mask(bit_cast::<5, 4>(self.log2_entries.q.val()));
        let place = self.consumed.q.val() & mask.get_bits::<16>(0);
        let list = command.get_bits::<64>(64);
        let count = command.get_bits::<COUNT_BITS>(128);
        let row = command.get_bits::<EMTT_INDEX_BITS>(TableCommand::INDEX_BIT);
        let end =
            bit_cast::<END_BITS, EMTT_INDEX_BITS>(row) + bit_cast::<END_BITS, COUNT_BITS>(count);
        let is_row = (opcode == u64::from(AdminCommand::ROW)) & (table < TABLES);
        let is_list = (opcode == u64::from(AdminCommand::PAGES)) & count.any();
        let row_exists = has_row::<Q, M, E, P>(table, row);
        let list_fits = end <= (1u64 << E);
        match step {
            Step::Idle => {
                let waits = self.produced.q.val() != self.consumed.q.val();
                self.address.d.next = (bit_cast::<64, 52>(self.base.q.val()) << 12)
                    + (bit_cast::<64, 16>(place) << COMMAND_LOG2);
                self.unasked.d.next = bits::<LINES_BITS>(2);
                if self.enabled.q.val() & waits & !self.failed.q.val().any() {
                    self.step.d.next = Step::Ask;
                }
            }
            Step::Ask => {
                if asked {
                    self.step.d.next = Step::First;
                }
            }
            Step::First => {
                self.command.d.next = bit_cast::<1024, 512>(fetched.line);
                if comes {
                    self.step.d.next = Step::Second;
                }
            }
            Step::Second => {
                self.command.d.next = command | (bit_cast::<1024, 512>(fetched.line) << 512);
                if comes & fetched.error {
                    self.failed.d.next = bits::<8>(u64::from(AdminState::READ));
                    self.step.d.next = Step::Idle;
                } else if comes {
                    self.step.d.next = Step::Decide;
                }
            }
            Step::Decide => {
                self.address.d.next = list;
                self.left.d.next = count;
                self.row.d.next = row;
                self.in_line.d.next = bits::<4>(0);
                if is_row & row_exists {
                    self.step.d.next = Step::Row;
                } else if is_list & list_fits {
                    self.unasked.d.next = lines_of(count);
                    self.step.d.next = Step::Pages;
                } else {
                    self.failed.d.next = if is_row | is_list {
                        bits::<8>(u64::from(AdminState::ROW))
                    } else {
                        bits::<8>(u64::from(AdminState::COMMAND))
                    };
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Row => {
                if takes_own {
                    self.consumed.d.next = self.consumed.q.val() + 1;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Pages => {
                if takes_own {
                    self.line.d.next = self.line.q.val() >> 64;
                    self.in_line.d.next = in_line - 1;
                    self.left.d.next = left - 1;
                    self.row.d.next = self.row.q.val() + 1;
                } else if arrives {
                    self.line.d.next = fetched.line;
                    self.in_line.d.next = bits::<4>(8);
                }
                if arrives & fetched.error {
                    self.failed.d.next = bits::<8>(u64::from(AdminState::READ));
                    self.in_line.d.next = bits::<4>(0);
                    self.unasked.d.next = bits::<LINES_BITS>(0);
                    self.step.d.next = Step::Drain;
                } else if !left.any() & !self.pending.val() {
                    self.in_line.d.next = bits::<4>(0);
                    self.consumed.d.next = self.consumed.q.val() + 1;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Drain => {
                if !self.coming.q.val().any() {
                    self.step.d.next = Step::Idle;
                }
            }
        }

        // registers
        if self.admin.producer.valid.val() {
            self.produced.d.next = self.admin.producer.record.val();
        }
        if self.admin.ring.valid.val() {
            self.base.d.next = self.admin.ring.record.val().get_bits::<52>(12);
            self.log2_entries.d.next = self.admin.ring.record.val().get_bits::<4>(0);
            self.enabled.d.next = self.admin.ring.record.val().get_bit(AdminRing::ENABLE_BIT);
            self.produced.d.next = bits::<16>(0);
            self.consumed.d.next = bits::<16>(0);
            self.failed.d.next = bits::<8>(0);
        }
        self.admin.done.next = self.consumed.q.val();
        self.admin.error.next = self.failed.q.val();

        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.enabled.d.next = false;
            self.produced.d.next = bits::<16>(0);
            self.consumed.d.next = bits::<16>(0);
            self.failed.d.next = bits::<8>(0);
            self.coming.d.next = bits::<LINES_BITS>(0);
            self.held.d.next = false;
        }
    }
}
