//! Counts the packets of WRITEs with immediate that have not arrived, and says which messages are whole (reference: `Immediates`).

use hdl_macros::{clock_reset, hdl, hdl_fn};
use hdl_primitives::{FlowSrc, OfferSnk, UltraRam};
use rust_hdl::prelude::*;
use stellar_wire::config::{RECEIVE_PLACE_BITS, RECEIVE_RING_BITS};

use crate::count_records::{Arrival, Counted, CountedPacket, Lacking, MissingQuery};
use crate::missing_count::{ones_of, MissingCount};

/// Most packets that are between the input and the output.
pub const UNDER_WAY: usize = 5;

/// A packet whose range is known.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Ranged {
    arrival: Arrival,
    /// PSNs right before that of the packet which belong to its message and may be missing.
    count: Bits<RECEIVE_PLACE_BITS>,
    /// Not all of them are in the word of the packet.
    walks: Bit,
}

/// A packet of which it is known what has arrived of its range.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Found {
    packet: CountedPacket,
    count: Bits<RECEIVE_PLACE_BITS>,
    /// The PSNs of the packet's word that are in the range and have arrived.
    found: Bits<64>,
    /// `count` is already the number of those that are missing.
    walked: Bit,
}

/// A packet whose entry is read.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Tallied {
    packet: CountedPacket,
    count: Bits<RECEIVE_PLACE_BITS>,
    /// How many of them have arrived.
    ones: Bits<7>,
    /// The packet one, two or three places before this one writes the same entry, which has been read before that.
    follows: Bits<3>,
}

/// A packet with its entry.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Storing {
    packet: CountedPacket,
    lacking: Bits<RECEIVE_PLACE_BITS>,
    entry: Lacking,
}

/// What a packet makes of its entry.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Stored {
    entry: Lacking,
    /// The message became whole.
    whole: Bit,
}

/// Whether the packet writes its entry.
#[hdl_fn]
fn writes(packet: CountedPacket) -> Bit {
    packet.stores | packet.measures | packet.counts_down
}

/// What the packet makes of its entry: that of its own message, or one packet fewer that is missing. Levels: 5 (distance, comparison 2, gate, difference, choice), two of them behind carry chains.
#[hdl_fn]
fn store(storing: Storing) -> Stored {
    let packet = storing.packet;
    let entry = storing.entry;
    let distance = entry.last - packet.psn;
    let span = bit_cast::<24, RECEIVE_PLACE_BITS>(entry.span);
    let is_packet_of_entry = distance.any() & (distance <= span);
    let fewer = packet.counts_down & is_packet_of_entry & entry.missing.any();
    let left = entry.missing - 1;
    Stored {
        entry: Lacking {
            last: if packet.counts_down {
                entry.last
            } else {
                packet.psn
            },
            span: if packet.counts_down {
                entry.span
            } else {
                packet.span
            },
            missing: if fewer {
                left
            } else if packet.counts_down {
                entry.missing
            } else {
                storing.lacking
            },
        },
        whole: (fewer & !left.any()) | (packet.measures & !storing.lacking.any()),
    }
}

/// Counts the packets of each message of the stash that have not arrived. It accepts one packet per cycle, except while it waits for a [`MissingCount`]: when the last packet of a message overtakes
/// others of it which lie in earlier words of the window. What arrives in the meantime waits, so a packet is either among those that the count found, or counted down by itself.
///
/// There are 2^`A` entries, whose place the packet says. `Q` and `R` are those of [`MissingCount`].
///
/// Stages: `ranged` (the PSNs that may be missing; the packet is noted in the ring before), `found` (those of them that have arrived), `tallied` (their number; the entry is read), `storing` (the entry
/// is written). An entry that is written after its read is forwarded.
/// Levels planned: ranged 4, found 6, tallied 5, storing 7 (entry chosen, distance, comparison, missing, entry chosen).
#[derive(LogicBlock, Default)]
pub struct MessageCount<const Q: usize, const A: usize, const R: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub arrival: OfferSnk<Arrival>,
    /// The packets in the same order.
    pub out: FlowSrc<Counted>,

    entries: UltraRam<Lacking, A>,
    missing: MissingCount<Q, R>,
    ranged_valid: DFF<Bit>,
    ranged: DFF<Ranged>,
    /// The count of the packet in `ranged` has started.
    started: DFF<Bit>,
    found_valid: DFF<Bit>,
    found: DFF<Found>,
    tallied_valid: DFF<Bit>,
    tallied: DFF<Tallied>,
    storing_valid: DFF<Bit>,
    storing: DFF<Storing>,
    counted_valid: DFF<Bit>,
    counted: DFF<Counted>,
    /// What was written in the last cycle, and in the one before.
    written: DFF<Lacking>,
    written_before: DFF<Lacking>,
}

impl<const Q: usize, const A: usize, const R: usize> Logic for MessageCount<Q, A, R> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, ranged_valid, ranged, started);
        dff_setup!(self, clock, found_valid, found, tallied_valid, tallied);
        dff_setup!(self, clock, storing_valid, storing, counted_valid, counted);
        dff_setup!(self, clock, written, written_before);
        clock_reset!(self, missing);
        clock!(self, clock, entries);

        // range: the packets of the message that lie before this packet, but not before the first missing PSN.
        let ranged = self.ranged.q.val();
        let waits = self.ranged_valid.q.val() & ranged.walks;
        let moves = !waits | self.missing.done.val();
        self.arrival.ready.next = moves;
        let enters = moves & self.arrival.valid.val();
        let arrival = self.arrival.record.val();
        let arrived = arrival.packet;
        let depth = arrived.psn.get_bits::<RECEIVE_PLACE_BITS>(0) - arrival.epsn;
        let shorter = if arrived.span < depth {
            arrived.span
        } else {
            depth
        };
        let in_word = bit_cast::<RECEIVE_PLACE_BITS, 6>(arrived.psn.get_bits::<6>(0));
        let may_lack = arrived.measures & !arrival.in_order;
        if moves {
            self.ranged_valid.d.next = self.arrival.valid.val();
        }
        if enters {
            self.ranged.d.next = Ranged {
                arrival,
                count: if may_lack {
                    shorter
                } else {
                    bits::<RECEIVE_PLACE_BITS>(0)
                },
                walks: may_lack & (arrived.span > in_word) & (depth > in_word),
            };
        }
        // Nothing is noted while a count is under way, which would find it.
        self.missing.note_valid.next = enters & arrival.notes;
        self.missing.note_qp.next = arrived.qp;
        self.missing.note_word.next = arrived.psn.get_bits::<RECEIVE_RING_BITS>(6);
        self.missing.note_bits.next = arrival.bitmap;

        // find
        let packet = ranged.arrival.packet;
        let to = packet.psn.get_bits::<RECEIVE_PLACE_BITS>(0);
        let from = to - ranged.count;
        self.missing.start.next = waits & !self.started.q.val();
        self.started.d.next = waits & !moves;
        self.missing.query.next = MissingQuery {
            qp: packet.qp,
            touched: ranged.arrival.touched,
            from,
            to,
            count: ranged.count,
        };
        let below = !(Bits::<64>::mask() << packet.psn.get_bits::<6>(0));
        let above = Bits::<64>::mask() << from.get_bits::<6>(0);
        self.found_valid.d.next = self.ranged_valid.q.val() & moves;
        if self.ranged_valid.q.val() & moves {
            self.found.d.next = Found {
                packet,
                count: if ranged.walks {
                    self.missing.missing.val()
                } else {
                    ranged.count
                },
                found: ranged.arrival.bitmap & below & above,
                walked: ranged.walks,
            };
        }
        self.entries.read_address.next = packet.slot.get_bits::<A>(0);

        // tally
        let found = self.found.q.val();
        let tallied = self.tallied.q.val();
        let storing = self.storing.q.val();
        let counted = self.counted.q.val();
        let asked = found.packet;
        let next = tallied.packet;
        let stores = storing.packet;
        let last = counted.packet;
        let behind_next = self.tallied_valid.q.val() & writes(next) & (asked.slot == next.slot);
        let behind_storing =
            self.storing_valid.q.val() & writes(stores) & (asked.slot == stores.slot);
        let behind_stored = self.counted_valid.q.val() & writes(last) & (asked.slot == last.slot);
        self.tallied_valid.d.next = self.found_valid.q.val();
        if self.found_valid.q.val() {
            self.tallied.d.next = Tallied {
                packet: asked,
                count: found.count,
                ones: if found.walked {
                    bits::<7>(0)
                } else {
                    ones_of(found.found)
                },
                follows: bit_cast::<3, 1>(behind_next.into())
                    | (bit_cast::<3, 1>(behind_storing.into()) << 1_u64)
                    | (bit_cast::<3, 1>(behind_stored.into()) << 2_u64),
            };
        }

        // store
        let stored = store(storing);
        let written = stored.entry;
        self.entries.write_enable.next = self.storing_valid.q.val() & writes(stores);
        self.entries.write_address.next = stores.slot.get_bits::<A>(0);
        self.entries.write_data.next = written;
        self.written.d.next = written;
        self.written_before.d.next = self.written.q.val();
        self.counted_valid.d.next = self.storing_valid.q.val();
        if self.storing_valid.q.val() {
            self.counted.d.next = Counted {
                packet: stores,
                whole: stored.whole,
            };
        }
        self.out.valid.next = self.counted_valid.q.val();
        self.out.record.next = counted;

        // read: the entry comes from the memory, unless one of the packets before has written it since.
        self.storing_valid.d.next = self.tallied_valid.q.val();
        if self.tallied_valid.q.val() {
            self.storing.d.next = Storing {
                packet: next,
                lacking: tallied.count - bit_cast::<RECEIVE_PLACE_BITS, 7>(tallied.ones),
                entry: if tallied.follows.get_bit(0) {
                    written
                } else if tallied.follows.get_bit(1) {
                    self.written.q.val()
                } else if tallied.follows.get_bit(2) {
                    self.written_before.q.val()
                } else {
                    self.entries.read_data.val()
                },
            };
        }

        if self.reset.val() {
            self.ranged_valid.d.next = false;
            self.started.d.next = false;
            self.found_valid.d.next = false;
            self.tallied_valid.d.next = false;
            self.storing_valid.d.next = false;
            self.counted_valid.d.next = false;
        }
    }
}
