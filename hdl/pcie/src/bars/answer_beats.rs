//! Sends completions as AMD's completer completion stream.

use hdl_macros::hdl;
use hdl_primitives::{Checked, Parameters, Snk};
use rust_hdl::prelude::*;
use stellar_wire::hw::completer::{CompleterAnswer, CC_DWORDS};

use crate::bundles::AxisSrc;
use crate::requester::message_gate::{INSIDE_BITS, LEFT_BITS};

/// For 1,024 bits (CPM5, PG346): `tuser` of 165 bits.
pub type AnswerBeats1024 = AnswerBeats<1024, 32, 165>;
/// For 512 bits (PCIE4, PCIE4C, PL PCIE5; PG213, PG343): `tuser` of 81 bits.
pub type AnswerBeats512 = AnswerBeats<512, 16, 81>;

/// Bits of the longest completion: descriptor and 128 bytes.
const BITS: usize = 32 * CC_DWORDS + 1024;

/// Sends completions as AMD's completer completion stream: descriptor and payload without a gap, in the dword-aligned mode without straddle, in which
/// the block needs nothing in `tuser`.
///
/// A completion of the MSI-X table waits until the interrupt messages that were in the request stream before it have left: PCIe lets no completion pass a write
/// (base specification, section 2.4.1), and the host takes it as a sign that its mask is in effect. Requests behind it are executed meanwhile, up to the next
/// one that needs a completion.
///
/// A beat has `W` bits, which are `N` = W / 32 double words. `tuser` has `U` bits. The next completion is taken with the last beat. There is no reset: what has begun ends. Levels: 2.
#[derive(LogicBlock, Default)]
pub struct AnswerBeats<const W: usize, const N: usize, const U: usize> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,

    pub answer: Snk<CompleterAnswer>,
    pub cc: AxisSrc<W, N, U>,

    /// Messages in the request stream, and those that leave it.
    pub messages: Signal<In, Bits<INSIDE_BITS>>,
    pub messages_left: Signal<In, Bits<LEFT_BITS>>,

    /// Messages that go before what is here.
    before: DFF<Bits<INSIDE_BITS>>,
    /// What has not left, the next double word lowest.
    data: DFF<Bits<BITS>>,
    /// Double words of it.
    dwords: DFF<Bits<6>>,
}

impl<const W: usize, const N: usize, const U: usize> Parameters for AnswerBeats<W, N, U> {
    fn check() {
        assert!(
            matches!((W, N, U), (512, 16, 81) | (1024, 32, 165)),
            "AnswerBeats<{W}, {N}, {U}>: use <512, 16, 81> or <1024, 32, 165>"
        );
    }
}

impl<const W: usize, const N: usize, const U: usize> Logic for AnswerBeats<W, N, U> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, data, dwords, before);
        let dwords = self.dwords.q.val();
        let valid = dwords.any();
        let last = dwords <= N as u64;
        let before = self.before.q.val();
        let left = bit_cast::<INSIDE_BITS, LEFT_BITS>(self.messages_left.val());
        let offers = valid & !before.any();
        let moves = offers & self.cc.tready.val();
        let ready = !valid | (moves & last);

        let all = bit_cast::<N, N>(Bits::<N>::mask());
        self.cc.tvalid.next = offers;
        // A beat may hold later ones, too. A reset of the stream leaves none.
        self.before.d.next = if self.messages.val().any() & (left < before) {
            before - left
        } else {
            bits(0)
        };
        self.cc.tdata.next = self.data.q.val().get_bits::<W>(0);
        self.cc.tkeep.next = if last {
            all >> (bits::<6>(N as u64) - dwords)
        } else {
            all
        };
        self.cc.tlast.next = last;
        self.cc.tuser.next = bits::<U>(0);
        if moves {
            self.data.d.next = self.data.q.val() >> (W as u64);
            self.dwords.d.next = if last {
                bits::<6>(0)
            } else {
                dwords - N as u64
            };
        }

        self.answer.ready.next = ready;
        if ready & self.answer.valid.val() {
            let answer = self.answer.record.val();
            let descriptor = Bits::<96>::from(answer.descriptor);
            self.data.d.next = (bit_cast::<BITS, 1024>(answer.payload) << (32 * CC_DWORDS as u64))
                | bit_cast::<BITS, 96>(descriptor);
            self.dwords.d.next = answer.dwords;
            self.before.d.next = if answer.after_messages {
                self.messages.val() - left
            } else {
                bits(0)
            };
        }
    }
}
