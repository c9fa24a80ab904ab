//! The frame end of the transmit lane: records and payload in, frames out.

use hdl_macros::{clock_reset, hdl, join};
use hdl_primitives::{BlockFifo, Credit, Delay, FlowSnk, MacTxSrc, SyncFifo};
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::TxPacket;

use crate::frame_assembler::{self, FrameAssembler};
use crate::header_build::{self, HeaderBuild};
use crate::icrc_insert::{self, IcrcInsert};
use crate::payload_buffer::PayloadBuffer;
use crate::records::{FrameHeader, MacBeat};

/// For a lane of 1,024 bits, with 64 KiB of payload.
pub type TxFrameBuilder1024 = TxFrameBuilder<1024, 128, 7, 9, 10>;
/// For a lane of 512 bits, with 32 KiB of payload.
pub type TxFrameBuilder512 = TxFrameBuilder<512, 64, 6, 9, 10>;

/// Cycles from the record of an acknowledgement to the first beat of its frame, if nothing is before it: headers, FIFO 1, assembly, iCRC, FIFO 1.
pub const ANSWER_LATENCY: usize =
    header_build::LATENCY + 1 + frame_assembler::LATENCY + icrc_insert::LATENCY + 1;
/// The same of a request whose payload has arrived. Its header passes a FIFO in block RAM, which takes 2 cycles.
pub const LATENCY: usize = ANSWER_LATENCY + 1;

/// Headers of requests wait for payload. There are as many entries as the DMA read engine of a lane of 1,024 bits has commands. A port of 200 Gb/s sends a
/// packet of 256 bytes in 3.6 cycles. A read of 1.5 us takes 377 cycles, and 40 pass between the record and the read, and between payload and frame: so 116
/// packets wait.
pub const REQUEST_ADDRESS: usize = 8;
pub const REQUEST_COUNT: usize = REQUEST_ADDRESS + 1;
/// Headers of acknowledgements wait for the frame before them only. There are enough entries for one per [`crate::tx_packet_builder::CLOCKS_PER_PACKET`]
/// cycles.
pub const ANSWER_ADDRESS: usize = 4;
pub const ANSWER_COUNT: usize = ANSWER_ADDRESS + 1;
/// Size in beats. From the credit to the beat's return at full rate there are the cycles of the assembler and iCRC, 1 of the FIFO and 2 of the credit. With
/// more entries than that, a frame continues without a gap after a stall.
const BEAT_ADDRESS: usize = 5;
const BEAT_COUNT: usize = BEAT_ADDRESS + 1;
const _: () = assert!(header_build::LATENCY + 3 < 1 << ANSWER_ADDRESS);
const _: () = assert!(frame_assembler::LATENCY + icrc_insert::LATENCY + 4 < 1 << BEAT_ADDRESS);

/// Builds frames from header records and payload. A beat has `W` bits, `N` = W / 8 = 2^`B`. The payload buffer has 2^`A` beats, `C` = `A` + 1. Use it by its
/// names [`TxFrameBuilder1024`] and [`TxFrameBuilder512`].
///
/// Frames of requests leave in the order of their records, and so do acknowledgements; an acknowledgement passes requests that wait for their payload. A frame
/// begins when all of its payload has arrived; then its beats follow each other as fast as the MAC accepts them. Between the record FIFO and the output FIFO
/// nothing stalls: beats are issued against credits of the output FIFO.
#[derive(LogicBlock)]
pub struct TxFrameBuilder<
    const W: usize,
    const N: usize,
    const B: usize,
    const A: usize,
    const C: usize,
> {
    pub clock: Signal<In, Clock>,
    /// Discards records, payload and frames in progress. A frame that has left in part is cut, so reset the MAC too.
    pub reset: Signal<In, Bit>,

    /// Packets to send. The sender reserves space for their headers: 2^[`REQUEST_ADDRESS`] of requests and 2^[`ANSWER_ADDRESS`] of acknowledgements.
    pub packet: FlowSnk<TxPacket>,
    /// The packet is an acknowledgement, so it has no payload.
    pub packet_answers: Signal<In, Bit>,
    /// High for one cycle: the header of a request left its FIFO.
    pub request_freed: Signal<Out, Bit>,
    /// High for one cycle: the header of an acknowledgement left its FIFO.
    pub answer_freed: Signal<Out, Bit>,

    // Payload of packets that have any, in the order of their records, sooner or later than these: exactly
    // `payload_length` bytes. Byte 0 in lane 0; every beat full but the last.
    pub payload_valid: Signal<In, Bit>,
    pub payload_data: Signal<In, Bits<W>>,
    pub payload_last: Signal<In, Bit>,
    /// With `payload_last`: the payload could not be read, and this is its only beat. The frame is left out.
    pub payload_error: Signal<In, Bit>,
    pub payload_ready: Signal<Out, Bit>,
    /// Number of payload beats of a frame, by its `payload_length`, in the cycle after that in which the last of them is used; otherwise 0.
    pub payload_freed: Signal<Out, Bits<8>>,

    // To the MAC: from the destination address to the iCRC; padding to 60 bytes and FCS are the MAC's.
    pub mac: MacTxSrc<W>,

    /// High for one cycle: a frame was dropped, because its payload could not be read.
    pub left_out: Signal<Out, Bit>,
    /// High for one cycle: a packet's payload had more or fewer beats than its record. Frames are wrong until a reset.
    pub payload_mismatch: Signal<Out, Bit>,

    build: HeaderBuild<B>,
    build_answers: Delay<Bit, { header_build::LATENCY }>,
    requests: BlockFifo<FrameHeader, REQUEST_ADDRESS, REQUEST_COUNT>,
    answers: SyncFifo<FrameHeader, ANSWER_ADDRESS, ANSWER_COUNT>,
    payload: PayloadBuffer<W, A, C>,
    beat_credit: Credit<BEAT_COUNT>,
    assembler: FrameAssembler<W, N, B>,
    icrc: IcrcInsert<W, N>,
    data_fifo: SyncFifo<Bits<W>, BEAT_ADDRESS, BEAT_COUNT>,
    beat_fifo: SyncFifo<MacBeat, BEAT_ADDRESS, BEAT_COUNT>,
}

impl<const W: usize, const N: usize, const B: usize, const A: usize, const C: usize> Default
    for TxFrameBuilder<W, N, B, A, C>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            packet: Default::default(),
            packet_answers: Default::default(),
            request_freed: Default::default(),
            answer_freed: Default::default(),
            payload_valid: Default::default(),
            payload_data: Default::default(),
            payload_last: Default::default(),
            payload_error: Default::default(),
            payload_ready: Default::default(),
            payload_freed: Default::default(),
            mac: Default::default(),
            left_out: Default::default(),
            payload_mismatch: Default::default(),
            build: Default::default(),
            build_answers: Default::default(),
            requests: Default::default(),
            answers: Default::default(),
            payload: Default::default(),
            beat_credit: Credit::new(1 << BEAT_ADDRESS),
            assembler: Default::default(),
            icrc: Default::default(),
            data_fifo: Default::default(),
            beat_fifo: Default::default(),
        }
    }
}

impl<const W: usize, const N: usize, const B: usize, const A: usize, const C: usize> Logic
    for TxFrameBuilder<W, N, B, A, C>
{
    #[hdl]
    fn update(&mut self) {
        clock_reset!(
            self,
            build,
            requests,
            answers,
            payload,
            beat_credit,
            assembler,
            icrc,
            data_fifo,
            beat_fifo
        );
        clock!(self, clock, build_answers);

        // Records to headers.
        let built = self.build.out_valid.val();
        let answers = self.build_answers.delayed.val();
        join!(
            self,
            packet.valid => build.in_valid,
            packet.record => build.in_packet,
            packet_answers => build_answers.data,
        );
        self.requests.in_.valid.next = built & !answers;
        self.requests.in_.data.next = self.build.out_header.val();
        self.answers.in_.valid.next = built & answers;
        self.answers.in_.data.next = self.build.out_header.val();
        assert!(
            !built
                | (answers & self.answers.in_.ready.val())
                | (!answers & self.requests.in_.ready.val()),
            "header FIFO overflow"
        );

        self.payload.in_valid.next = self.payload_valid.val();
        self.payload.in_data.next = self.payload_data.val();
        self.payload.in_last.next = self.payload_last.val();
        self.payload.in_error.next = self.payload_error.val();
        self.payload_ready.next = self.payload.in_ready.val();

        // Headers and payload to beats.
        join!(self, requests.out => assembler.request, answers.out => assembler.answer);
        self.request_freed.next =
            self.requests.out.valid.val() & self.assembler.request.ready.val();
        self.answer_freed.next = self.answers.out.valid.val() & self.assembler.answer.ready.val();
        self.assembler.payload_waiting.next = self.payload.waiting.val();
        self.payload.start.next = self.assembler.payload_start.val();
        self.assembler.payload_data.next = self.payload.out_data.val();
        self.assembler.payload_last.next = self.payload.out_last.val();
        self.assembler.payload_error.next = self.payload.out_error.val();
        self.payload.take.next = self.assembler.payload_take.val();
        self.payload_freed.next = self.assembler.payload_freed.val();
        self.left_out.next = self.assembler.left_out.val();
        self.payload_mismatch.next = self.assembler.payload_mismatch.val();
        self.assembler.room.next = self.beat_credit.room.val();
        self.beat_credit.take.next = self.assembler.issued.val();
        self.icrc.in_valid.next = self.assembler.out_valid.val();
        self.icrc.in_data.next = self.assembler.out_data.val();
        self.icrc.in_beat.next = self.assembler.out_beat.val();

        // Beats to the MAC.
        self.data_fifo.in_.valid.next = self.icrc.out_valid.val();
        self.data_fifo.in_.data.next = self.icrc.out_data.val();
        self.beat_fifo.in_.valid.next = self.icrc.out_valid.val();
        self.beat_fifo.in_.data.next = MacBeat {
            bytes: self.icrc.out_bytes.val(),
            last: self.icrc.out_last.val(),
        };
        assert!(
            !self.icrc.out_valid.val() | self.data_fifo.in_.ready.val(),
            "output FIFO overflow"
        );
        let leaves = self.data_fifo.out.valid.val() & self.mac.ready.val();
        self.beat_credit.give.next = leaves;
        self.data_fifo.out.ready.next = self.mac.ready.val();
        self.beat_fifo.out.ready.next = self.mac.ready.val();
        let beat = self.beat_fifo.out.data.val();
        self.mac.valid.next = self.data_fifo.out.valid.val();
        self.mac.data.next = self.data_fifo.out.data.val();
        self.mac.bytes.next = beat.bytes;
        self.mac.last.next = beat.last;
    }
}
