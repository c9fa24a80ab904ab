//! Takes completions out of AMD's requester completion stream, wherever they begin in its beats.

use hdl_macros::{hdl, hdl_fn};
use hdl_primitives::{Checked, CompletionSrc, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::read::{rc_descriptor, CompletionHeader, STATUS_SUCCESSFUL};
use stellar_wire::pcie::sideband::completion as sideband;

use crate::bundles::AxisSnk;

/// For 1,024 bits (CPM5, PG346): up to 8 completions begin in a beat.
pub type CompletionStream1024 = CompletionStream<1024, 2048, 8, 32, 337>;
/// For 512 bits (PCIE4, PCIE4C, PL PCIE5; PG213, PG343): up to 4 completions begin in a beat.
pub type CompletionStream512 = CompletionStream<512, 1024, 4, 16, 161>;

/// Double words of the descriptor, and of a slot of 16 bytes.
const DESCRIPTOR_DWORDS: u64 = rc_descriptor::BITS as u64 / 32;
const SLOT_DWORDS: u64 = 4;

/// Where completions begin and end in a beat, by slots of 16 bytes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BeatMarks {
    starts: Bits<8>,
    ends: Bits<8>,
    /// Last double word of the completion that ends in the slot.
    end_dword: Bits<16>,
    discontinued: Bit,
}

/// The lowest slot in which a completion begins.
#[hdl_fn]
fn first_start(starts: Bits<8>) -> Bits<3> {
    let mut first = bits::<3>(7);
    for above in 0..7u64 {
        let slot = 6 - above;
        first = if starts.get_bit(slot as usize) {
            bits::<3>(slot)
        } else {
            first
        };
    }
    first
}

/// Takes completions out of AMD's requester completion stream. The descriptor leaves the stream and becomes the header; the first double word of
/// payload comes to byte lane 0.
///
/// A beat has `W` bits: `D` = 2 `W`, `L` = `W` / 128 slots of 16 bytes, and `N` = `W` / 32 double words. `tuser` has `U` bits. A completion begins in
/// any slot, as the sideband signals say (PG213, PG346: straddle option, dword-aligned mode). The block looks at a beat and the one behind it, and
/// sends a beat of one completion per cycle. So it stalls the stream only where completions have less than `W` bits of payload.
///
/// If AMD's block reports an error (code above 1), there are two cases. If that block regards the request as ended, the completion gets a failing
/// status, and the DMA read engine frees its tag. Otherwise it becomes a completion without data, and the engine quarantines the tag. `discontinue`
/// in the beat in which a completion ends means an uncorrectable error in the block's memories; it becomes `completion_error`. Levels: 8 (marks of an
/// arriving beat, first start).
#[derive(LogicBlock, Default)]
pub struct CompletionStream<
    const W: usize,
    const D: usize,
    const L: usize,
    const N: usize,
    const U: usize,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub rc: AxisSnk<W, N, U>,
    /// The completion as header and data. The header is the same on every beat of a completion.
    pub completion: CompletionSrc<W>,

    /// The beat that is taken apart.
    near_valid: DFF<Bit>,
    near: DFF<Bits<W>>,
    near_marks: DFF<BeatMarks>,
    /// The beat behind it.
    far_valid: DFF<Bit>,
    far: DFF<Bits<W>>,
    far_marks: DFF<BeatMarks>,
    /// A completion begins, or goes on, in this slot of the near beat.
    active: DFF<Bit>,
    slot: DFF<Bits<3>>,
    /// It has begun in an earlier beat.
    inside: DFF<Bit>,
    valid: DFF<Bit>,
    header: DFF<CompletionHeader>,
    data: DFF<Bits<W>>,
    last: DFF<Bit>,
    error: DFF<Bit>,
}

impl<const W: usize, const D: usize, const L: usize, const N: usize, const U: usize> Parameters
    for CompletionStream<W, D, L, N, U>
{
    fn check() {
        assert!(
            matches!(
                (W, D, L, N, U),
                (512, 1024, 4, 16, 161) | (1024, 2048, 8, 32, 337)
            ),
            "CompletionStream<{W}, {D}, {L}, {N}, {U}>: use <512, 1024, 4, 16, 161> or <1024, 2048, 8, 32, 337>"
        );
    }
}

impl<const W: usize, const D: usize, const L: usize, const N: usize, const U: usize> Logic
    for CompletionStream<W, D, L, N, U>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, near_valid, near, near_marks, far_valid, far, far_marks);
        dff_setup!(self, clock, active, slot, inside, valid, header, data, last, error);
        let near_valid = self.near_valid.q.val();
        let near = self.near_marks.q.val();
        let far_valid = self.far_valid.q.val();
        let far = self.far_marks.q.val();
        let slot = self.slot.q.val();

        // read_marks
        let user = self.rc.tuser.val();
        let mut starts = bits::<8>(0);
        let mut ends = bits::<8>(0);
        let mut end_dword = bits::<16>(0);
        for n in 0..L {
            let begins = bit_cast::<8, 1>(user.get_bit(sideband::starts(W, n)).into());
            let place = user.get_bits::<3>(sideband::start(W, n)) & (L as u64 - 1);
            starts = starts | (begins << place);
            let stops = bit_cast::<8, 1>(user.get_bit(sideband::ends(W, n)).into());
            let dword = user.get_bits::<5>(sideband::end(W, n)) & (N as u64 - 1);
            ends = ends | (stops << dword.get_bits::<3>(2));
            let within = if stops.any() {
                bit_cast::<16, 2>(dword.get_bits::<2>(0))
            } else {
                bits::<16>(0)
            };
            end_dword = end_dword | (within << (bit_cast::<4, 3>(dword.get_bits::<3>(2)) << 1));
        }
        let arriving = BeatMarks {
            starts,
            ends,
            end_dword,
            discontinued: user.get_bit(sideband::discontinue(W)),
        };

        // find_end: the beat that leaves ends 3 double words into the slot that is one beat further.
        let ends_near = (near.ends >> slot).any();
        let far_end = (far.ends >> slot).get_bit(0)
            & ((far.end_dword >> (bit_cast::<4, 3>(slot) << 1)).get_bits::<2>(0)
                != (SLOT_DWORDS - 1));
        let before = bits::<8>(0xff) << slot;
        let ends_before = (far.ends & !before).any();
        let last = ends_near | (far_valid & (far_end | ends_before));
        let sends = near_valid & self.active.q.val() & (ends_near | far_valid);

        // step: to the next completion in this beat, or to the next beat.
        let behind = near.starts & (bits::<8>(0xfe) << slot);
        let stays = last & behind.any();
        let advances = near_valid & ((sends & !stays) | !self.active.q.val());
        let ready = !far_valid | advances;
        let takes = self.rc.tvalid.val() & ready;
        self.rc.tready.next = ready;
        let loads = advances | !near_valid;
        let loaded = if far_valid { far } else { arriving };
        let loads_any = far_valid | takes;
        if loads {
            self.near_valid.d.next = loads_any;
            self.near_marks.d.next = loaded;
            self.near.d.next = if far_valid {
                self.far.q.val()
            } else {
                self.rc.tdata.val()
            };
        }
        self.far_valid.d.next = if loads {
            far_valid & takes
        } else {
            far_valid | takes
        };
        if takes {
            self.far.d.next = self.rc.tdata.val();
            self.far_marks.d.next = arriving;
        }
        let goes_on = sends & !last;
        if goes_on {
            self.inside.d.next = true;
        } else if sends & stays {
            self.inside.d.next = false;
            self.slot.d.next = first_start(behind);
        } else if loads {
            self.inside.d.next = false;
            self.slot.d.next = first_start(loaded.starts);
            self.active.d.next = loads_any & loaded.starts.any();
        }

        // align
        let window = (bit_cast::<D, W>(self.far.q.val()) << (W as u64))
            | bit_cast::<D, W>(self.near.q.val());
        let offset = bit_cast::<10, 3>(slot) << 7;
        let aligned = window >> offset;

        // read_descriptor
        let status = aligned.get_bits::<3>(rc_descriptor::STATUS);
        let wrong =
            aligned.get_bits::<4>(rc_descriptor::ERROR_CODE) > rc_descriptor::ERROR_CODE_POISONED;
        let over = aligned.get_bit(rc_descriptor::REQUEST_COMPLETED);
        if sends & !self.inside.q.val() {
            self.header.d.next = CompletionHeader {
                tag: aligned.get_bits::<8>(rc_descriptor::TAG),
                byte_count: aligned.get_bits::<13>(rc_descriptor::BYTE_COUNT),
                lower_address: aligned.get_bits::<7>(rc_descriptor::LOWER_ADDRESS),
                length_dw: if wrong {
                    bits(0)
                } else {
                    aligned.get_bits::<11>(rc_descriptor::DWORD_COUNT)
                },
                status: if wrong & over {
                    status | 4
                } else if wrong {
                    bits(STATUS_SUCCESSFUL)
                } else {
                    status
                },
                poisoned: aligned.get_bit(rc_descriptor::POISONED),
            };
        }

        // send
        self.valid.d.next = sends;
        if sends {
            self.data.d.next = bit_cast::<W, D>(aligned >> (32 * DESCRIPTOR_DWORDS));
            self.last.d.next = last;
            self.error.d.next = if ends_near {
                near.discontinued
            } else {
                far.discontinued
            };
        }
        self.completion.valid.next = self.valid.q.val();
        self.completion.record.next = self.header.q.val();
        self.completion.data.next = self.data.q.val();
        self.completion.last.next = self.last.q.val();
        self.completion.error.next = self.error.q.val();

        if self.reset.val() {
            self.near_valid.d.next = false;
            self.far_valid.d.next = false;
            self.active.d.next = false;
            self.inside.d.next = false;
            self.valid.d.next = false;
        }
    }
}
