//! Packs the extension headers of a packet, in the order of the wire and without holes.

use hdl_macros::hdl;
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::TxExtensions;
use stellar_wire::mrc::{CcState, Meth, Seth, Tseth};
use stellar_wire::{Header, Reth};

use crate::extension_bytes::{
    aeth_bytes, meth_bytes, neth_bytes, peth_bytes, reth_bytes, seth_bytes, tseth_bytes,
};
use crate::opcode::extension_set;
use crate::wire_order::network_order;

/// Cycles from the record to the headers.
pub const LATENCY: usize = 2;
/// Bits of the longest set: SETH and CC_STATE.
pub const EXTENSION_BITS: usize = 8 * (Seth::LEN + CcState::LEN);
/// Bits of RETH and immediate.
const TAIL_BITS: usize = 160;

/// Packs the extension headers of a packet, in the order of the wire and without holes. It accepts one packet per cycle. Bytes of `out_words` beyond the headers are zero. LUT levels: 2 for the opcode and 2 to select; then 1 for one of three
/// places and the control headers, 2 to count.
#[derive(LogicBlock, Default)]
pub struct ExtensionHeaders {
    pub clock: Signal<In, Clock>,
    pub in_opcode: Signal<In, Bits<8>>,
    pub in_extensions: Signal<In, TxExtensions>,
    pub out_headers: Signal<Out, Bits<288>>,
    /// Length in words of four bytes, 0 to 9.
    pub out_words: Signal<Out, Bits<4>>,
    /// A TSETH is among them.
    pub out_tseth: Signal<Out, Bit>,

    has_meth: DFF<Bit>,
    has_tseth: DFF<Bit>,
    meth: DFF<Bits<32>>,
    tseth: DFF<Bits<32>>,
    /// RETH and immediate.
    tail: DFF<Bits<160>>,
    /// The headers of control packets.
    control: DFF<Bits<288>>,
    words: DFF<Bits<4>>,

    packed: DFF<Bits<288>>,
    packed_words: DFF<Bits<4>>,
    packed_tseth: DFF<Bit>,
}

impl Logic for ExtensionHeaders {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, has_meth, has_tseth, meth, tseth, tail, control, words);
        dff_setup!(self, clock, packed, packed_words, packed_tseth);
        let record = self.in_extensions.val();
        let set = extension_set(self.in_opcode.val());

        // select
        let timestamp = tseth_bytes(record.timestamp);
        let immediate = if set.immediate {
            network_order(record.immediate)
        } else {
            bits::<32>(0)
        };
        let reth = reth_bytes(record.reth);
        let reth_tail = bit_cast::<TAIL_BITS, 128>(reth)
            | (bit_cast::<TAIL_BITS, 32>(immediate) << ((8 * Reth::LEN) as u64));
        self.has_meth.d.next = set.meth;
        self.has_tseth.d.next = set.may_have_tseth & record.timestamped;
        self.meth.d.next = meth_bytes(record.meth);
        self.tseth.d.next = timestamp;
        self.tail.d.next = if set.reth {
            reth_tail
        } else {
            bit_cast::<TAIL_BITS, 32>(immediate)
        };
        let seth = seth_bytes(record.seth, record.reflection, record.cc_state);
        let neth = neth_bytes(record.neth, record.reflection);
        let peth = peth_bytes(record.peth, record.reflection, record.timestamp);
        self.control.d.next = if set.seth {
            seth
        } else if set.neth {
            bit_cast::<EXTENSION_BITS, 160>(neth)
        } else if set.peth {
            bit_cast::<EXTENSION_BITS, 128>(peth)
        } else if set.aeth {
            bit_cast::<EXTENSION_BITS, 32>(aeth_bytes(record.aeth))
        } else {
            bits::<EXTENSION_BITS>(0)
        };
        self.words.d.next = set.words;

        // pack
        let tail = bit_cast::<EXTENSION_BITS, TAIL_BITS>(self.tail.q.val());
        let meth = bit_cast::<EXTENSION_BITS, 32>(self.meth.q.val());
        let tseth = bit_cast::<EXTENSION_BITS, 32>(self.tseth.q.val());
        let data = if self.has_tseth.q.val() {
            meth | (tseth << ((8 * Meth::LEN) as u64))
                | (tail << ((8 * (Meth::LEN + Tseth::LEN)) as u64))
        } else if self.has_meth.q.val() {
            meth | (tail << ((8 * Meth::LEN) as u64))
        } else {
            tail
        };
        self.packed.d.next = data | self.control.q.val();
        self.packed_tseth.d.next = self.has_tseth.q.val();
        self.packed_words.d.next =
            self.words.q.val() + bit_cast::<4, 1>(self.has_tseth.q.val().into());

        self.out_headers.next = self.packed.q.val();
        self.out_words.next = self.packed_words.q.val();
        self.out_tseth.next = self.packed_tseth.q.val();
    }
}
