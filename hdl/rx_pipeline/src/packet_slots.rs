//! Packets of a lane in front of the core, and whether the first of them must wait for tokens in flight.

use hdl_macros::{clock_reset, hdl};
use hdl_primitives::{SyncFifo, TokenSnk};
use rust_hdl::prelude::*;
use stellar_wire::hw::core::CoreToken;

use crate::frame_verdict::JudgedFrame;
use crate::hazard::{conflicts, conflicts_next, packet_key, HazardKey, Scoreboard};

/// Holds up to two packets. It decides a cycle ahead whether the first one has a hazard, because the comparison of PSNs and the choice of a token do not fit one cycle.
///
/// The packet that is first in the next cycle is either first now, or the one behind it. Both are compared with the tokens in flight, and with those that may be issued in
/// this cycle; which of the two it is selects at the end. That a packet goes moves a pointer and the keys, and enables no wide register.
/// Levels planned: 7 (choice of the packet 1, distance of PSNs 3, queue pair 1, tokens 1, choice 1).
///
/// `NEAR_BITS` and `Q` are those of [`CoreIssue`](crate::CoreIssue).
#[derive(LogicBlock, Default)]
pub struct PacketSlots<const NEAR_BITS: usize, const Q: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards the packets.
    pub reset: Signal<In, Bit>,
    /// Only `span` and `headers` of the token are used.
    pub packet: TokenSnk<CoreToken>,

    /// The first packet. Its key is valid if there is one.
    pub first: Signal<Out, JudgedFrame>,
    pub key: Signal<Out, HazardKey>,
    /// It must wait for tokens in flight. Valid with `key`.
    pub hazard: Signal<Out, Bit>,
    /// It is issued in this cycle.
    pub goes: Signal<In, Bit>,

    /// Tokens in flight, and others that are issued in this cycle if they are valid.
    pub scoreboard: Signal<In, Scoreboard>,
    pub write: Signal<In, HazardKey>,
    pub error: Signal<In, HazardKey>,
    pub other_lane: Signal<In, HazardKey>,

    packets: SyncFifo<JudgedFrame, 1, 2>,
    first_key: DFF<HazardKey>,
    has_hazard: DFF<Bit>,
    /// Key of the second packet, if there are two.
    second_key: DFF<HazardKey>,
}

impl<const NEAR_BITS: usize, const Q: usize> Logic for PacketSlots<NEAR_BITS, Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, first_key, has_hazard, second_key);
        clock_reset!(self, packets);
        let token = self.packet.token.val();
        let room = self.packets.in_.ready.val();
        self.packet.ready.next = room;
        self.packets.in_.valid.next = self.packet.valid.val();
        self.packets.in_.data.next = JudgedFrame {
            span: token.span,
            headers: token.headers,
        };
        let goes = self.goes.val();
        let first = self.first_key.q.val();
        self.packets.out.ready.next = goes;
        self.first.next = self.packets.out.data.val();
        self.key.next = first;
        self.hazard.next = self.has_hazard.q.val();

        // look_ahead
        let arriving = packet_key::<Q>(self.packet.valid.val(), token.headers);
        let behind = if room {
            arriving
        } else {
            self.second_key.q.val()
        };
        let staying = if first.valid { first } else { behind };
        let scoreboard = self.scoreboard.val();
        let staying_hazard = conflicts_next(staying, scoreboard, NEAR_BITS)
            | conflicts(staying, self.write.val(), false, NEAR_BITS)
            | conflicts(staying, self.error.val(), false, NEAR_BITS)
            | conflicts(staying, self.other_lane.val(), false, NEAR_BITS);
        let behind_hazard = conflicts_next(behind, scoreboard, NEAR_BITS)
            | conflicts(behind, first, false, NEAR_BITS);
        if room {
            self.second_key.d.next = arriving;
        }
        self.first_key.d.next = if goes { behind } else { staying };
        self.has_hazard.d.next = if goes { behind_hazard } else { staying_hazard };
        if self.reset.val() {
            self.first_key.d.next.valid = false;
        }
    }
}
