//! Gives each request its tag, and stores by tag where its bytes go.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{Snk, Src, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::read::ReadTlpHeader;

use super::records::{CommandRequest, TagEntry, TagUse, COMMAND_BITS, PLACE_BITS};
use crate::byte_enables;
use crate::records::RequestChunk;

/// A chunk, measured in bytes.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct MeasuredChunk {
    /// The chunk has bytes to read; otherwise only `closes` matters.
    asks: Bit,
    closes: Bit,
    header: WriteTlpHeader,
    command: Bits<COMMAND_BITS>,
    /// Place of the first byte.
    start: Bits<PLACE_BITS>,
    address: Bits<7>,
    bytes: Bits<13>,
}

/// Gives each request its tag, and stores by tag where its bytes go. It sends one request per cycle while there are tags and PCIe accepts requests. It has two stages. Levels: 5 (deadline: 32-bit sum).
#[derive(LogicBlock, Default)]
pub struct ReadIssue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Cycle count, modulo 2^32.
    pub now: Signal<In, Bits<32>>,
    /// Cycles from a request to its deadline.
    pub timeout: Signal<In, Bits<31>>,

    pub chunk: Snk<RequestChunk>,

    pub tag: Snk<TagUse>,

    pub request: Src<ReadTlpHeader>,

    /// At the latest in the cycle in which the request is first shown.
    pub entry_valid: Signal<Out, Bit>,
    pub entry_tag: Signal<Out, Bits<8>>,
    pub entry: Signal<Out, TagEntry>,
    pub command_request: Signal<Out, CommandRequest>,

    measured_valid: DFF<Bit>,
    measured: DFF<MeasuredChunk>,
    /// Requests in front of PCIe. It decides late in a cycle whether it takes one, so this moves a pointer and enables no wide register.
    sent: SyncFifo<ReadTlpHeader, 1, 2>,
    noted_valid: DFF<Bit>,
    noted_tag: DFF<Bits<8>>,
    noted: DFF<TagEntry>,
    told: DFF<CommandRequest>,
}

impl Logic for ReadIssue {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            measured_valid,
            measured,
            noted_valid,
            noted_tag,
            noted,
            told
        );
        clock_reset!(self, sent);
        let measured = self.measured.q.val();
        let room = self.sent.in_.ready.val();
        let goes = self.measured_valid.q.val() & (!measured.asks | (self.tag.valid.val() & room));
        let asks = goes & measured.asks;
        let accept = !self.measured_valid.q.val() | goes;

        // measure_chunk
        let chunk = self.chunk.record.val();
        let header = chunk.header;
        let lead = byte_enables::lowest_lane(header.first_be);
        let end_enables = if header.last_be.any() {
            header.last_be
        } else {
            header.first_be
        };
        let end_lane = byte_enables::highest_lane(end_enables);
        // Position counts from lane 0 of the first double word.
        let position = chunk.position + bit_cast::<19, 2>(lead);
        // Lanes before the first byte, and after the last one.
        let outside = bit_cast::<13, 2>(lead) + bit_cast::<13, 2>(bits::<2>(3) - end_lane);
        if accept {
            self.measured_valid.d.next = self.chunk.valid.val();
            self.measured.d.next = MeasuredChunk {
                asks: chunk.place,
                closes: chunk.end.free,
                header: header,
                command: chunk.end.free_beats,
                start: position.get_bits::<PLACE_BITS>(0),
                address: (bit_cast::<7, 5>(header.address_dw.get_bits::<5>(0)) << 2)
                    | bit_cast::<7, 2>(lead),
                bytes: (bit_cast::<13, 11>(header.length_dw) << 2) - outside,
            };
        }

        // tag_request
        let tag = self.tag.record.val();
        self.sent.in_.valid.next = asks;
        self.sent.in_.data.next = ReadTlpHeader {
            address_dw: measured.header.address_dw,
            at: measured.header.at,
            length_dw: measured.header.length_dw,
            first_be: measured.header.first_be,
            last_be: measured.header.last_be,
            tag: tag.tag,
        };
        self.noted_valid.d.next = asks;
        if asks {
            self.noted_tag.d.next = tag.tag;
            self.noted.d.next = TagEntry {
                phase: tag.phase,
                command: measured.command,
                end: measured.start + bit_cast::<PLACE_BITS, 13>(measured.bytes),
                end_address: measured.address + measured.bytes.get_bits::<7>(0),
                bytes: measured.bytes,
                deadline: self.now.val() + bit_cast::<32, 31>(self.timeout.val()),
            };
        }
        self.told.d.next = CommandRequest {
            command: measured.command,
            asks: asks,
            closes: goes & measured.closes,
        };

        self.chunk.ready.next = accept;
        self.tag.ready.next = asks;
        join!(
            self,
            sent.out.valid => request.valid,
            request.ready => sent.out.ready,
            sent.out.data => request.record,
        );
        self.entry_valid.next = self.noted_valid.q.val();
        self.entry_tag.next = self.noted_tag.q.val();
        self.entry.next = self.noted.q.val();
        self.command_request.next = self.told.q.val();

        if self.reset.val() {
            self.measured_valid.d.next = false;
            self.noted_valid.d.next = false;
            self.told.d.next.asks = false;
            self.told.d.next.closes = false;
        }
    }
}
