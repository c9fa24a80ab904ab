//! The memory writes of place commands.

mod inner;

use hdl_macros::{clock, clock_reset, hdl, hdl_fn, join};
use hdl_pcie::beat_fetch::FIFO_ENTRIES;
use hdl_pcie::records::FetchedBeat;
use hdl_pcie::DmaWrite;
use hdl_primitives::{BufferReadSrc, Snk, TlpSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::{PlaceCommand, WriteTlpHeader};

use inner::EngineInsideSnk;

/// Cycles from a beat that is fetched to its entry in the FIFO.
const STAGES: usize = 4;

/// A beat that was fetched.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Passing {
    valid: Bit,
    beat: FetchedBeat,
}

/// Whether the marks of the device allow bytes with this address type. A command with mark 0 does not place its payload, one with mark 1 has no segment with
/// a translated address, and one with mark 2 has no other ones.
#[hdl_fn]
fn allows(device: Bits<10>, at: Bits<2>) -> Bit {
    !device.get_bit(0) & (!device.get_bit(1) | (at == 0)) & (!device.get_bit(2) | (at == 2))
}

/// Whether the marks of the device allow a segment with bytes.
#[hdl_fn]
fn allows_segment(place: Bit, device: Bits<10>, translated: Bit) -> Bit {
    !place
        | (!device.get_bit(0)
            & (!device.get_bit(1) | !translated)
            & (!device.get_bit(2) | translated))
}

/// Whether a request or a beat with bytes has what its marks allow.
#[hdl_fn]
fn allows_header(place: Bit, header: WriteTlpHeader) -> Bit {
    !place | allows(header.device, header.at)
}

/// Properties of [`DmaWrite`] with beats of 128 bits. `segment_issue`, `request_splitter`, `beat_fetch` and `sync_fifo` have properties of their own; here is what lies
/// between them, and what holds from the command to the request. The solver marks commands by bits of their device, which no block looks at.
#[derive(LogicBlock, Default)]
pub struct DmaWriteProof {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub mps_code: Signal<In, Bits<3>>,
    pub command: Snk<PlaceCommand>,
    pub read: BufferReadSrc<128>,
    pub tlp: TlpSrc<128>,
    /// Registers of the block.
    pub inner_dma: EngineInsideSnk,

    /// A command is as its marks say.
    pub given_marks: Signal<Out, Bit>,

    /// No beat of a write leaves for a command that does not place its payload.
    pub holds_accepted: Signal<Out, Bit>,
    /// A write has AT = 00 if no segment of its command is translated.
    pub holds_untranslated: Signal<Out, Bit>,
    /// It has AT = 10 if all are.
    pub holds_translated: Signal<Out, Bit>,
    /// Each beat with bytes, and each fence, that was fetched enters the FIFO once, with its header, and nothing else does.
    pub holds_passes: Signal<Out, Bit>,
    /// It finds room there.
    pub holds_room: Signal<Out, Bit>,
    /// The data of a beat leave with its header.
    pub holds_together: Signal<Out, Bit>,

    // What is in the registers, so that the properties are an invariant together.
    /// Each register and each word of a memory has what its marks allow.
    pub holds_marks: Signal<Out, Bit>,
    /// What was fetched goes from register to register.
    pub holds_stages: Signal<Out, Bit>,
    /// An entry of the FIFO is reserved for each beat between the reservation and the end of the FIFO, whose pointers are as far apart as it has entries.
    pub holds_reserved: Signal<Out, Bit>,

    /// A write with several beats and a translated address can leave.
    pub reaches_written: Signal<Out, Bit>,
    /// A command with a mark can free its buffer without a write.
    pub reaches_dropped: Signal<Out, Bit>,

    dma: DmaWrite<128, 4, 16>,
    passing: [DFF<Passing>; STAGES],
}

impl Logic for DmaWriteProof {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, passing[..]);
        clock_reset!(self, dma);
        join!(
            self,
            mps_code => dma.mps_code,
            command => dma.command,
            dma.read => read,
            dma.tlp => tlp,
        );
        let command = self.command.record.val();
        let segments = command.segments;
        let one = segments.first_translated;
        let two = segments.second_translated;
        let three = segments.third_translated;
        let device = command.device;
        self.given_marks.next = !self.command.valid.val()
            | ((!device.get_bit(0) | !command.place | command.fence)
                & (!device.get_bit(1) | !(one | two | three))
                & (!device.get_bit(2) | (one & two & three)));

        let reset = self.reset.val();
        for i in 0..STAGES {
            self.passing[i].d.next = if i == 0 {
                Passing {
                    valid: self.inner_dma.fetch_sent.val() & !reset,
                    beat: self.inner_dma.fetch_sent_beat.val(),
                }
            } else if i == 2 {
                // A beat without bytes ends here.
                let was = self.passing[1].q.val();
                Passing {
                    valid: was.valid & (was.beat.place | was.beat.end.fence) & !reset,
                    beat: was.beat,
                }
            } else {
                let was = self.passing[i - 1].q.val();
                Passing {
                    valid: was.valid & !reset,
                    beat: was.beat,
                }
            };
        }

        let leaves = self.dma.tlp.valid.val();
        let header = self.dma.tlp.header.val();
        self.holds_accepted.next = !(leaves & header.device.get_bit(0));
        self.holds_untranslated.next = !(leaves & header.device.get_bit(1)) | (header.at == 0);
        self.holds_translated.next = !(leaves & header.device.get_bit(2)) | (header.at == 2);
        let was = self.passing[STAGES - 1].q.val();
        let enters = self.inner_dma.rotated_valid.val();
        let entry = self.inner_dma.rotated.val();
        self.holds_passes.next = (enters == was.valid)
            & (!enters
                | ((entry.fence == was.beat.end.fence)
                    & (entry.header == was.beat.header)
                    & (entry.first == was.beat.first)
                    & (entry.last == was.beat.last)
                    & (entry.ends == was.beat.end.free)));
        let held = self.inner_dma.beat_fifo_held.val();
        self.holds_room.next = !enters | (held < (FIFO_ENTRIES as u64));
        self.holds_together.next = (held == self.inner_dma.data_fifo_held.val())
            & (self.inner_dma.beat_fifo_write_pointer.val()
                == self.inner_dma.data_fifo_write_pointer.val())
            & (self.inner_dma.beat_fifo_read_pointer.val()
                == self.inner_dma.data_fifo_read_pointer.val());

        // What is in the registers.
        let current = self.inner_dma.issue_current.val();
        let at = current.segments;
        let of_current = allows_segment(true, current.device, at.first_translated)
            & allows_segment(true, current.device, at.second_translated)
            & allows_segment(true, current.device, at.third_translated);
        let issued = self.inner_dma.issue_issued_segment.val();
        let prepared = self.inner_dma.splitter_prepared.val();
        let running = self.inner_dma.splitter_running.val().segment;
        let fetching = self.inner_dma.fetch_current.val();
        let first_sent = self.inner_dma.splitter_sent_memory_memory[0].val();
        let second_sent = self.inner_dma.splitter_sent_memory_memory[1].val();
        let mut words = allows_header(first_sent.place, first_sent.header)
            & allows_header(second_sent.place, second_sent.header);
        for i in 0..FIFO_ENTRIES {
            let word = self.inner_dma.beat_fifo_memory_memory[i].val();
            words = words & (word.fence | allows(word.header.device, word.header.at));
        }
        let mut passing = true;
        for i in 0..STAGES {
            let was = self.passing[i].q.val();
            passing = passing & (!was.valid | allows_header(was.beat.place, was.beat.header));
        }
        let sent_beat = self.inner_dma.fetch_sent_beat.val();
        self.holds_marks.next = words
            & passing
            & (!(self.inner_dma.issue_held.val() & self.inner_dma.issue_has_payload.val())
                | of_current)
            & (!self.inner_dma.issue_issued.val()
                | allows_segment(issued.place, issued.device, issued.translated))
            & (!self.inner_dma.splitter_prepared_valid.val()
                | allows_segment(prepared.place, prepared.device, prepared.translated))
            & (!self.inner_dma.splitter_running_valid.val()
                | allows_segment(running.place, running.device, running.translated))
            & (!self.inner_dma.fetch_held.val() | allows_header(fetching.place, fetching.header))
            & (!self.inner_dma.fetch_sent.val() | allows_header(sent_beat.place, sent_beat.header));

        let start = self.passing[0].q.val();
        let second = self.passing[1].q.val();
        let third = self.passing[2].q.val();
        let rotating_valid = self.inner_dma.rotating_valid.val();
        self.holds_stages.next = (self.inner_dma.reading_valid[0].val() == start.valid)
            & (self.inner_dma.reading_data_stage[0].val() == start.beat)
            & (self.inner_dma.reading_valid[1].val() == second.valid)
            & (self.inner_dma.reading_data_stage[1].val() == second.beat)
            & (rotating_valid == third.valid)
            & (self.inner_dma.rotating.val() == third.beat)
            & (!third.valid | third.beat.place | third.beat.end.fence)
            & (!was.valid | was.beat.place | was.beat.end.fence);

        let needs = takes_entry(self.inner_dma.fetch_sent.val(), sent_beat)
            + takes_entry(start.valid, start.beat)
            + takes_entry(second.valid, second.beat)
            + takes_entry(third.valid, third.beat)
            + takes_entry(was.valid, was.beat);
        let reserved = self.inner_dma.fetch_entries_out.val();
        let apart = self.inner_dma.beat_fifo_write_pointer.val()
            - self.inner_dma.beat_fifo_read_pointer.val();
        self.holds_reserved.next = (reserved == held + needs)
            & (held <= (FIFO_ENTRIES as u64))
            & (reserved <= (FIFO_ENTRIES as u64))
            & (held.get_bits::<5>(0) == apart);

        self.reaches_written.next =
            leaves & (header.at == 2) & self.dma.tlp.last.val() & !self.dma.tlp.first.val();
        self.reaches_dropped.next = self.dma.free.valid.val() & third.beat.header.device.get_bit(0);
    }
}

/// The entries of the FIFO that a beat takes.
#[hdl_fn]
fn takes_entry(valid: Bit, beat: FetchedBeat) -> Bits<6> {
    if valid & (beat.place | beat.end.fence) {
        bits::<6>(1)
    } else {
        bits::<6>(0)
    }
}
