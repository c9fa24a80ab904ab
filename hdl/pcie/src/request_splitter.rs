//! Splits segments into memory requests at multiples of the largest request: the maximum payload size for writes, the maximum read request size for
//! reads (PCIe base specification, section 2.2.7).

use hdl_macros::{clock_reset, hdl, hdl_fn, join};
use hdl_primitives::{Checked, Parameters, Snk, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::mtu::LENGTH_BITS;

use crate::records::{CommandEnd, PlaceSegment, RequestChunk};

/// A segment in double words, with the inputs of the splitting loop.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct PreparedSegment {
    pub place: Bit,
    pub end: CommandEnd,
    pub translated: Bit,
    /// Address bits 63:12, and the next two values: a segment of 8 KiB touches at most three aligned blocks of 4 KiB.
    pub frame: Bits<52>,
    pub next_frame: Bits<52>,
    pub third_frame: Bits<52>,
    /// Address bits 11:2.
    pub dword: Bits<10>,
    /// Bytes of the first double word before the first payload byte.
    pub lead: Bits<2>,
    /// Payload bytes in the last double word, modulo 4 (counted from its lane 0).
    pub tail: Bits<2>,
    /// Double words touched, 1 to 2,049.
    pub dwords: Bits<12>,
    /// Double words up to the first cut, 1 to 1,024.
    pub boundary: Bits<11>,
    /// Ring position of lane 0 of the first double word.
    pub position: Bits<19>,
    pub flush: Bit,
    pub device: Bits<10>,
}

/// The next chunk, and the rest of its segment.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct RunningSegment {
    pub segment: PreparedSegment,
    pub first: Bit,
    pub last: Bit,
    /// Offset from the start of `frame`. Bits 11:10 are the number of frames after it.
    pub dword: Bits<12>,
    /// Double words of this chunk.
    pub count: Bits<11>,
    /// Double words after this chunk.
    pub left: Bits<12>,
    pub position: Bits<19>,
}

/// Byte enables of lanes `lead` to 3.
#[hdl_fn]
fn enables_from(lead: Bits<2>) -> Bits<4> {
    bits::<4>(15) << bit_cast::<4, 2>(lead)
}

/// Byte enables of lanes 0 to `tail - 1`, where 0 stands for 4.
#[hdl_fn]
fn enables_below(tail: Bits<2>) -> Bits<4> {
    if tail == 0 {
        bits::<4>(15)
    } else {
        bits::<4>(7) >> bit_cast::<4, 2>(bits::<2>(3) - tail)
    }
}

/// Splits each segment into chunks, one per memory request. It makes one chunk per cycle while there are segments. The three stages share one ready signal.
///
/// `LARGEST` is the highest size code, at most 5. The longest chunk has `128 << LARGEST` bytes. Every cut is at a multiple of the selected size,
/// which divides 4 KiB, so no chunk crosses a 4 KiB boundary. Levels: prepare 4 (64-bit carry beside), loop 6 (select, compare by carry, select),
/// header 4.
#[derive(LogicBlock, Default)]
pub struct RequestSplitter<const LARGEST: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Bytes of the largest request: 128 shifted left by this; codes above `LARGEST` count as `LARGEST`. It must not change while segments
    /// are in flight.
    pub size_code: Signal<In, Bits<3>>,

    pub segment: Snk<PlaceSegment>,

    pub chunk: Src<RequestChunk>,

    /// Largest request in double words.
    max_dwords: DFF<Bits<11>>,
    prepared_valid: DFF<Bit>,
    prepared: DFF<PreparedSegment>,
    running_valid: DFF<Bit>,
    running: DFF<RunningSegment>,
    /// Chunks in front of the receiver. It decides late in a cycle whether it takes one, so this moves a pointer and enables no wide register.
    sent: SyncFifo<RequestChunk, 1, 2>,
}

impl<const LARGEST: usize> Parameters for RequestSplitter<LARGEST> {
    fn check() {
        assert!(
            (1..=5).contains(&LARGEST),
            "RequestSplitter<{LARGEST}>: use 1 (requests of up to 256 bytes) to 5 (4,096 bytes)"
        );
    }
}

impl<const LARGEST: usize> Logic for RequestSplitter<LARGEST> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            max_dwords,
            prepared_valid,
            prepared,
            running_valid,
            running
        );
        clock_reset!(self, sent);
        let code = self.size_code.val();
        let known = if code > (LARGEST as u64) {
            bits::<3>(LARGEST as u64)
        } else {
            code
        };
        self.max_dwords.d.next = bits::<11>(32) << bit_cast::<11, 3>(known);
        let max_dwords = self.max_dwords.q.val();

        let header_room = self.sent.in_.ready.val();
        let step = self.running_valid.q.val() & header_room;
        let load = !self.running_valid.q.val() | (step & self.running.q.val().last);
        let accept = !self.prepared_valid.q.val() | load;

        // prepare_segment
        let segment = self.segment.record.val();
        let lead = segment.address.get_bits::<2>(0);
        let bytes = segment.length + bit_cast::<LENGTH_BITS, 2>(lead);
        let into_block = bit_cast::<11, 10>(segment.address.get_bits::<10>(2)) & (max_dwords - 1);
        if accept {
            self.prepared_valid.d.next = self.segment.valid.val();
            self.prepared.d.next = PreparedSegment {
                place: segment.place,
                end: segment.end,
                translated: segment.translated,
                frame: segment.address.get_bits::<52>(12),
                next_frame: segment.address.get_bits::<52>(12) + 1,
                third_frame: segment.address.get_bits::<52>(12) + 2,
                dword: segment.address.get_bits::<10>(2),
                lead: lead,
                tail: bytes.get_bits::<2>(0),
                dwords: bit_cast::<12, LENGTH_BITS>((bytes + 3) >> 2),
                boundary: max_dwords - into_block,
                position: segment.position - bit_cast::<19, 2>(lead),
                flush: segment.flush,
                device: segment.device,
            };
        }

        // split_chunk: the first chunk of a segment ends at the first boundary, the next ones have the maximum size.
        let running = self.running.q.val();
        let prepared = self.prepared.q.val();
        let todo = if load { prepared.dwords } else { running.left };
        let limit = if load { prepared.boundary } else { max_dwords };
        let more = todo > bit_cast::<12, 11>(limit);
        if load | step {
            self.running_valid.d.next = !load | self.prepared_valid.q.val();
            self.running.d.next = RunningSegment {
                segment: if load { prepared } else { running.segment },
                first: load,
                last: !more,
                dword: if load {
                    bit_cast::<12, 10>(prepared.dword)
                } else {
                    running.dword + bit_cast::<12, 11>(running.count)
                },
                count: if more { limit } else { todo.get_bits::<11>(0) },
                left: if more {
                    todo - bit_cast::<12, 11>(limit)
                } else {
                    bits(0)
                },
                position: if load {
                    prepared.position
                } else {
                    running.position + (bit_cast::<19, 11>(running.count) << 2)
                },
            };
        }

        // make_header
        let after_lead = enables_from(running.segment.lead);
        let before_end = enables_below(running.segment.tail);
        let from = if running.first { after_lead } else { bits(15) };
        let below = if running.last { before_end } else { bits(15) };
        let single = running.count == 1;
        let frame = if running.dword.get_bit(11) {
            running.segment.third_frame
        } else if running.dword.get_bit(10) {
            running.segment.next_frame
        } else {
            running.segment.frame
        };
        let ends = running.segment.end.free & running.last;
        self.sent.in_.valid.next = self.running_valid.q.val();
        self.sent.in_.data.next = RequestChunk {
            place: running.segment.place,
            end: CommandEnd {
                fence: running.segment.end.fence,
                free: ends,
                free_beats: running.segment.end.free_beats,
            },
            header: WriteTlpHeader {
                address_dw: (bit_cast::<62, 52>(frame) << 10)
                    | bit_cast::<62, 10>(running.dword.get_bits::<10>(0)),
                at: bit_cast::<2, 1>(running.segment.translated.into()) << 1,
                length_dw: running.count,
                first_be: if single { from & below } else { from },
                last_be: if single { bits(0) } else { below },
                ends,
                flush: running.segment.flush,
                device: running.segment.device,
                of_host_queue: false,
                message: false,
                vector: bits(0),
            },
            position: running.position,
        };

        self.segment.ready.next = accept;
        join!(
            self,
            sent.out.valid => chunk.valid,
            sent.out.data => chunk.record,
            chunk.ready => sent.out.ready,
        );

        if self.reset.val() {
            self.prepared_valid.d.next = false;
            self.running_valid.d.next = false;
        }
    }
}
