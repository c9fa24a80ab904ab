//! Removes the bytes before the IP header: byte 0 of the output stream is the first byte of the IP header.

use hdl_macros::{hdl, hdl_fn};
use rust_hdl::prelude::*;
use stellar_wire::ethernet::MIN_PAYLOAD;
use stellar_wire::hw::layout::{ipv4, shift_bytes};
use stellar_wire::{Header, Ipv4};

use crate::beat::BeatInfo;
use crate::bundles::{BeatFlowSnk, BeatFlowSrc};
use crate::lane_width::LaneWidth;
use crate::network_order::be16;

/// Cycles from the last input beat to the last output beat. It is one less if all bytes of the last beat move into the beat before it.
pub const LATENCY: usize = 2;

/// A beat that starts `drop` bytes into `held` and ends in `next`.
#[hdl_fn]
fn spliced<const W: usize>(held: Bits<W>, next: Bits<W>, drop: usize) -> Bits<W> {
    (held >> ((8 * drop) as u64)) | (next << ((W - 8 * drop) as u64))
}

/// Lengths of IPv4 packets that Ethernet pads, a bit for each: from a header alone up to less than its least payload.
const PADDED_LENGTHS: u64 = (1 << MIN_PAYLOAD) - (1 << Ipv4::LEN);

/// Returns whether Ethernet pads an IPv4 packet of this length. 2 levels: a comparison would be a carry chain.
#[hdl_fn]
fn is_padded_length(total: Bits<16>) -> Bit {
    let low = total.get_bits::<6>(0);
    bits::<64>(PADDED_LENGTHS).get_bit(low.index()) & !total.get_bits::<10>(6).any()
}

/// Shifts frames by 14, 18, 54 or 58 bytes.
///
/// A beat waits in `held` for the next beat, whose first bytes complete it. The last beat of a frame waits one cycle. So each input beat makes at
/// most one output beat, and frames without a gap between them never collide. A last beat makes no output beat if all of its bytes moved into
/// the beat before it. A frame that ends before its IP header begins becomes one beat of zero bytes.
///
/// A frame of one beat that Ethernet has padded ends where its IPv4 packet ends
/// ([`without_padding`](stellar_wire::ipv4::without_padding)). At either width, a padded frame is one beat.
/// LUT levels: byte multiplexer with 4 inputs 1, byte counts 3, padding 5.
#[derive(LogicBlock, Default)]
pub struct Align<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub in_: BeatFlowSnk<W>,

    pub out: BeatFlowSrc<W>,

    held_valid: DFF<Bit>,
    held_data: DFF<Bits<W>>,
    held_beat: DFF<BeatInfo>,

    valid: DFF<Bit>,
    data: DFF<Bits<W>>,
    beat: DFF<BeatInfo>,
    _width: LaneWidth<W>,
}

impl<const W: usize> Logic for Align<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, held_valid, held_data, held_beat, valid, data, beat);
        let next = self.in_.beat.val();
        let held = self.held_beat.q.val();
        let outer = held.outer;
        let behind = self.held_data.q.val();
        // All beats of a frame have the same outer headers, so the held beat's shift is the next one's too.
        let shift = if next.outer.tagged {
            if next.outer.encapsulated {
                bits::<8>(shift_bytes(true, true) as u64)
            } else {
                bits::<8>(shift_bytes(true, false) as u64)
            }
        } else if next.outer.encapsulated {
            bits::<8>(shift_bytes(false, true) as u64)
        } else {
            bits::<8>(shift_bytes(false, false) as u64)
        };
        let held_shift = if outer.tagged {
            if outer.encapsulated {
                bits::<8>(shift_bytes(true, true) as u64)
            } else {
                bits::<8>(shift_bytes(true, false) as u64)
            }
        } else if outer.encapsulated {
            bits::<8>(shift_bytes(false, true) as u64)
        } else {
            bits::<8>(shift_bytes(false, false) as u64)
        };
        let absorbed = next.last & !next.first & (next.bytes <= shift);
        let leaves = self.held_valid.q.val() & (held.last | self.in_.valid.val());

        if self.in_.valid.val() {
            self.held_valid.d.next = !absorbed;
            self.held_data.d.next = self.in_.data.val();
            self.held_beat.d.next = next;
        } else if leaves {
            self.held_valid.d.next = false;
        }

        let left = if held.bytes < held_shift {
            bits::<8>(0)
        } else {
            held.bytes - held_shift
        };
        // cut_padding
        let header_plain = behind.get_bits::<{ 8 * Ipv4::LEN }>(8 * shift_bytes(false, false));
        let header_tagged = behind.get_bits::<{ 8 * Ipv4::LEN }>(8 * shift_bytes(true, false));
        let plain_total = be16(header_plain, ipv4::TOTAL_LENGTH);
        let tagged_total = be16(header_tagged, ipv4::TOTAL_LENGTH);
        let plain_padded = is_padded_length(plain_total)
            & (held.bytes == (shift_bytes(false, false) + MIN_PAYLOAD) as u64);
        let tagged_padded = is_padded_length(tagged_total)
            & (held.bytes == (shift_bytes(true, false) + MIN_PAYLOAD) as u64);
        let total = if outer.tagged {
            tagged_total
        } else {
            plain_total
        };
        let may_be_padded = if outer.tagged {
            tagged_padded
        } else {
            plain_padded
        };
        let padded = held.first & may_be_padded & !outer.ipv6 & !outer.encapsulated;
        let of_packet = if padded { total.get_bits::<8>(0) } else { left };

        let full = bits::<8>((W / 8) as u64);
        let ends_with_next = !held.last & absorbed;
        self.valid.d.next = leaves;
        self.beat.d.next = BeatInfo {
            first: held.first,
            last: held.last | ends_with_next,
            error: if held.last {
                held.error
            } else {
                next.error & ends_with_next
            },
            bytes: if held.last {
                of_packet
            } else if ends_with_next {
                (full - held_shift) + next.bytes
            } else {
                full
            },
            outer,
        };
        let ahead = self.in_.data.val();
        let plain = spliced(behind, ahead, shift_bytes(false, false));
        let tagged = spliced(behind, ahead, shift_bytes(true, false));
        let encapsulated = spliced(behind, ahead, shift_bytes(false, true));
        let both = spliced(behind, ahead, shift_bytes(true, true));
        self.data.d.next = if outer.tagged {
            if outer.encapsulated {
                both
            } else {
                tagged
            }
        } else if outer.encapsulated {
            encapsulated
        } else {
            plain
        };

        if self.reset.val() {
            self.held_valid.d.next = false;
            self.valid.d.next = false;
        }
        self.out.valid.next = self.valid.q.val();
        self.out.data.next = self.data.q.val();
        self.out.beat.next = self.beat.q.val();
    }
}
