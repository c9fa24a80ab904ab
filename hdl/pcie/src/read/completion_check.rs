//! Compares every completion with the request of its tag.

use hdl_macros::hdl;
use hdl_primitives::{BlockRam, FlowSrc, LutRam};
use rust_hdl::prelude::*;
use stellar_wire::hw::read::{CompletionHeader, STATUS_SUCCESSFUL};

use super::records::{
    CheckedBeat, CommandReport, TagEntry, TagProgress, TagState, TagUse, PLACE_BITS, TAG_BITS,
};

/// The header of a completion in bytes; or a check of the deadline of a tag.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Claim {
    beat: Bit,
    first: Bit,
    last: Bit,
    error: Bit,
    /// No completion: is this tag overdue?
    scan: Bit,
    tag: Bits<8>,
    header: CompletionHeader,
    /// Bytes from the first enabled one to the end of the last double word.
    available: Bits<13>,
}

/// A completion header with its comparison to the request.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct ComparedClaim {
    claim: Claim,
    entry: TagEntry,
    successful: Bit,
    has_data: Bit,
    /// According to its header it is the last completion of its request.
    ends_request: Bit,
    /// Address and length fit the request and each other.
    fits: Bit,
    /// No byte of the request has arrived yet.
    counts_all: Bit,
    left_after: Bits<13>,
    start: Bits<PLACE_BITS>,
    lanes: Bits<13>,
    /// The deadline has passed, and this number of cycles since.
    overdue: Bit,
    since: Bits<31>,
}

/// Checks one beat per cycle, without stalls. A verdict comes [`CompletionCheck::LATENCY`] cycles after the beat.
///
/// A completion is good if its tag has a request, its status is successful, it has data, its byte count is exactly the number of bytes that are
/// missing, its lower address is that of the first missing byte, and it has no double word too many. Then the place of its bytes follows from the
/// byte count alone. Otherwise its request has failed:
/// * another status ends the request: the tag is free;
/// * poisoned data are not placed, but the request continues to its last completion;
/// * anything else is malformed: the tag is quarantined, until a second timeout has passed behind the deadline of the request. Later completions do not
///   end that: when one has gone astray, the fabric may wait for it although the last one has come;
/// * a request past its deadline is treated likewise. The block checks the deadline of one tag per cycle, in cycles without a completion, so a
///   timeout may come up to 256 such cycles late. So a timeout never falls into the middle of a completion, whose later beats would be written to
///   space that is no longer theirs.
///
/// Completions of quarantined tags, and of tags without a request, are dropped, and `unexpected` is high for one cycle.
///
/// Stages: claim (sum), compare (table read; 14-bit subtract), judge (read-modify-write loop of one cycle: memory of LUTs, 13-bit compare, decide; the
/// comparison with the second timeout beside it), verdict.
#[derive(LogicBlock, Default)]
pub struct CompletionCheck {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Cycle count, modulo 2^32.
    pub now: Signal<In, Bits<32>>,
    /// Cycles from a request to its deadline; 0 switches timeouts off, and then only reset ends a quarantine.
    pub timeout: Signal<In, Bits<31>>,

    /// While the tag pool sweeps, entries are cleared and completions are unexpected.
    pub sweeping: Signal<In, Bit>,
    pub sweep_tag: Signal<In, Bits<8>>,

    /// A tag is in use: deadlines are checked.
    pub some_used: Signal<In, Bit>,

    pub in_valid: Signal<In, Bit>,
    /// Read on the first beat.
    pub in_header: Signal<In, CompletionHeader>,
    pub in_last: Signal<In, Bit>,
    /// The completion is damaged. Valid with `in_last`, and passed on.
    pub in_error: Signal<In, Bit>,

    pub entry_valid: Signal<In, Bit>,
    pub entry_tag: Signal<In, Bits<8>>,
    pub entry: Signal<In, TagEntry>,

    pub out: FlowSrc<CheckedBeat>,
    pub return_valid: Signal<Out, Bit>,
    pub returned: Signal<Out, TagUse>,

    // One cycle per event.
    pub unexpected: Signal<Out, Bit>,
    /// A completion that fails its request: status, poison, or malformed.
    pub bad: Signal<Out, Bit>,
    pub timed_out: Signal<Out, Bit>,

    entries: BlockRam<TagEntry, TAG_BITS>,
    progress: LutRam<TagProgress, TAG_BITS>,
    /// A completion has begun and not ended.
    open: DFF<Bit>,
    scan_tag: DFF<Bits<8>>,
    claimed: DFF<Claim>,
    compared: DFF<ComparedClaim>,
    checked_valid: DFF<Bit>,
    checked: DFF<CheckedBeat>,
    freed_valid: DFF<Bit>,
    freed: DFF<TagUse>,
    saw_unexpected: DFF<Bit>,
    saw_bad: DFF<Bit>,
    saw_timeout: DFF<Bit>,
}

impl CompletionCheck {
    /// Cycles from a beat to `out`.
    pub const LATENCY: usize = 3;
}

impl Logic for CompletionCheck {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            open,
            scan_tag,
            claimed,
            compared,
            checked_valid,
            checked,
            freed_valid,
            freed,
            saw_unexpected,
            saw_bad,
            saw_timeout
        );
        clock!(self, clock, entries, progress);
        let sweeping = self.sweeping.val();

        // claim
        let beat = self.in_valid.val();
        let first = !self.open.q.val();
        let scan = !beat & first & self.timeout.val().any() & self.some_used.val() & !sweeping;
        if beat {
            self.open.d.next = !self.in_last.val();
        }
        if scan {
            self.scan_tag.d.next = self.scan_tag.q.val() + 1;
        }
        let tag = if scan {
            self.scan_tag.q.val()
        } else {
            self.in_header.val().tag
        };
        let header = self.in_header.val();
        self.entries.read_address.next = tag;
        if beat | scan {
            self.claimed.d.next = Claim {
                beat: beat,
                first: first,
                last: self.in_last.val(),
                error: self.in_error.val(),
                scan: scan,
                tag: tag,
                header: header,
                available: (bit_cast::<13, 11>(header.length_dw) << 2)
                    - bit_cast::<13, 2>(header.lower_address.get_bits::<2>(0)),
            };
        } else {
            self.claimed.d.next.beat = false;
            self.claimed.d.next.scan = false;
        }

        // compare
        let claim = self.claimed.q.val();
        let header = claim.header;
        let entry = self.entries.read_data.val();
        let spare = bit_cast::<14, 13>(claim.available) - bit_cast::<14, 13>(header.byte_count);
        let continues = spare.get_bit(13);
        let has_data = header.length_dw.any();
        let address = entry.end_address - header.byte_count.get_bits::<7>(0);
        let padded = spare.get_bits::<11>(2).any();
        let since = self.now.val() - entry.deadline;
        if claim.beat | claim.scan {
            self.compared.d.next = ComparedClaim {
                claim: claim,
                entry: entry,
                successful: header.status == STATUS_SUCCESSFUL,
                has_data: has_data,
                ends_request: has_data & !continues,
                fits: has_data & (continues | !padded) & (address == header.lower_address),
                counts_all: header.byte_count == entry.bytes,
                left_after: header.byte_count - claim.available,
                start: entry.end - bit_cast::<PLACE_BITS, 13>(header.byte_count),
                lanes: if continues {
                    bit_cast::<13, 11>(header.length_dw) << 2
                } else {
                    header.byte_count + bit_cast::<13, 2>(header.lower_address.get_bits::<2>(0))
                },
                overdue: !since.get_bit(31),
                since: since.get_bits::<31>(0),
            };
        } else {
            self.compared.d.next.claim.beat = false;
            self.compared.d.next.claim.scan = false;
        }

        // judge
        let compared = self.compared.q.val();
        let claim = compared.claim;
        let entry = compared.entry;
        self.progress.read_address.next = claim.tag;
        let progress = self.progress.read_data.val();
        let fresh = entry.phase ^ progress.phase;
        let waiting = !sweeping & (fresh | (progress.state == TagState::Waiting));
        let quarantined = !sweeping & !fresh & (progress.state == TagState::Quarantined);
        let counts = if fresh {
            compared.counts_all
        } else {
            claim.header.byte_count == progress.left
        };
        let completion = claim.beat & claim.first;
        let answers = completion & waiting;
        let good = counts & compared.fits;
        let refused = answers & !compared.successful;
        let malformed = answers & compared.successful & !good;
        let fulfils = answers & compared.successful & good & compared.ends_request;
        let goes_on = answers & compared.successful & good & !compared.ends_request;
        let expired = claim.scan & waiting & compared.overdue;
        let forgotten =
            claim.scan & quarantined & compared.overdue & (compared.since >= self.timeout.val());
        let ends = fulfils | refused | forgotten;
        // What a completion or a scan does not change is written back, because it is known late in a cycle whether it changes. Each answer ends its request, goes
        // on, or is malformed. Which of them comes latest.
        let changes = answers | expired | forgotten;
        self.progress.write_enable.next = sweeping | completion | claim.scan;
        self.progress.write_address.next = if sweeping {
            self.sweep_tag.val()
        } else {
            claim.tag
        };
        let state = if ends {
            TagState::Done
        } else if goes_on {
            TagState::Waiting
        } else {
            TagState::Quarantined
        };
        self.progress.write_data.next = if sweeping {
            TagProgress {
                phase: false,
                state: TagState::Done,
                left: bits(0),
            }
        } else if changes {
            TagProgress {
                phase: entry.phase,
                state: state,
                left: compared.left_after,
            }
        } else {
            progress
        };
        let poisoned = claim.header.poisoned;
        self.checked_valid.d.next = claim.beat | expired;
        // A scan comes between completions, so this may have its verdict whether or not the tag is overdue.
        if completion | claim.scan {
            self.checked.d.next = CheckedBeat {
                first: true,
                last: claim.last | claim.scan,
                error: claim.error,
                place: (fulfils | goes_on) & !poisoned,
                start: compared.start,
                lead: claim.header.lower_address.get_bits::<2>(0),
                lanes: compared.lanes,
                report: CommandReport {
                    command: entry.command,
                    finished: fulfils | refused | malformed | expired,
                    failed: refused | malformed | expired | (answers & poisoned),
                },
            };
        } else {
            // The verdict also applies to the other beats of the completion.
            self.checked.d.next.first = false;
            self.checked.d.next.last = claim.last;
            self.checked.d.next.error = claim.error;
        }
        self.freed_valid.d.next = ends;
        self.freed.d.next = TagUse {
            tag: claim.tag,
            phase: entry.phase,
        };
        self.saw_unexpected.d.next = completion & !waiting;
        self.saw_bad.d.next = refused | malformed | (answers & poisoned);
        self.saw_timeout.d.next = expired;

        // Entries are written when a request leaves; cleared in a sweep.
        self.entries.write_enable.next = sweeping | self.entry_valid.val();
        if sweeping {
            self.entries.write_address.next = self.sweep_tag.val();
            self.entries.write_data.next = TagEntry {
                phase: false,
                command: bits(0),
                end: bits(0),
                end_address: bits(0),
                bytes: bits(0),
                deadline: bits(0),
            };
        } else {
            self.entries.write_address.next = self.entry_tag.val();
            self.entries.write_data.next = self.entry.val();
        }

        self.out.valid.next = self.checked_valid.q.val();
        self.out.record.next = self.checked.q.val();
        self.return_valid.next = self.freed_valid.q.val();
        self.returned.next = self.freed.q.val();
        self.unexpected.next = self.saw_unexpected.q.val();
        self.bad.next = self.saw_bad.q.val();
        self.timed_out.next = self.saw_timeout.q.val();

        if self.reset.val() {
            self.open.d.next = false;
            self.claimed.d.next.beat = false;
            self.claimed.d.next.scan = false;
            self.compared.d.next.claim.beat = false;
            self.compared.d.next.claim.scan = false;
            self.checked_valid.d.next = false;
            self.freed_valid.d.next = false;
        }
    }
}
