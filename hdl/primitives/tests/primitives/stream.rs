//! Bundles connect blocks to each other and to ports, alone, nested and in arrays.
use hdl_macros::{bundle, clock, hdl, join};
use hdl_primitives::{Delay, MacRxSnk, MacRxSrc, MacTxSnk, MacTxSrc, OfferSnk, OfferSrc, Snk, Src};
use hdl_testkit::equivalence::{check, Random};
use rust_hdl::prelude::*;

/// A request and its answer.
#[bundle]
struct LookupSrc<T: Synth> {
    pub ask: Src<T>,
    pub answer: OfferSnk<T>,
}

/// Passes beats while `open`; frames from the MAC and answers are delayed by a cycle.
#[derive(LogicBlock, Default)]
struct Gate<const W: usize> {
    clock: Signal<In, Clock>,
    open: Signal<In, Bit>,
    from: MacTxSnk<W>,
    to: MacTxSrc<W>,
    mac_from: MacRxSnk<W>,
    mac_to: MacRxSrc<W>,
    lookup_from: LookupSnk<Bits<W>>,
    lookup_to: LookupSrc<Bits<W>>,
    mac_data: Delay<Bits<W>, 1>,
    answer_data: Delay<Bits<W>, 1>,
}

impl<const W: usize> Logic for Gate<W> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, mac_data, answer_data);
        self.to.valid.next = self.from.valid.val() & self.open.val();
        self.to.data.next = self.from.data.val();
        self.to.bytes.next = self.from.bytes.val();
        self.to.last.next = self.from.last.val();
        self.from.ready.next = self.to.ready.val() & self.open.val();
        self.mac_data.data.next = self.mac_from.data.val();
        self.mac_to.valid.next = self.mac_from.valid.val();
        self.mac_to.data.next = self.mac_data.delayed.val();
        self.mac_to.bytes.next = self.mac_from.bytes.val();
        self.mac_to.last.next = self.mac_from.last.val();
        self.mac_to.error.next = self.mac_from.error.val();
        self.lookup_to.ask.valid.next = self.lookup_from.ask.valid.val();
        self.lookup_to.ask.record.next = self.lookup_from.ask.record.val();
        self.lookup_from.ask.ready.next = self.lookup_to.ask.ready.val();
        self.lookup_from.answer.valid.next = self.lookup_to.answer.valid.val();
        self.answer_data.data.next = self.lookup_to.answer.record.val();
        self.lookup_from.answer.record.next = self.answer_data.delayed.val();
        self.lookup_to.answer.ready.next = self.lookup_from.answer.ready.val();
    }
}

/// Two gates one behind the other, with all bundles joined. The bundles of the MAC are arrays of two.
#[derive(LogicBlock, Default)]
struct TwoGates {
    clock: Signal<In, Clock>,
    open: Signal<In, Bit>,
    from: MacTxSnk<64>,
    to: MacTxSrc<64>,
    mac_from: [MacRxSnk<64>; 2],
    mac_to: [MacRxSrc<64>; 2],
    lookup_from: LookupSnk<Bits<64>>,
    lookup_to: LookupSrc<Bits<64>>,
    gates: [Gate<64>; 2],
}

impl Logic for TwoGates {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, gates[..]);
        self.gates[1].open.next = true;
        join!(
            self,
            open => gates[0].open,
            from => gates[0].from,
            gates[0].to => gates[1].from,
            gates[1].to => to,
            lookup_from => gates[0].lookup_from,
            gates[0].lookup_to => gates[1].lookup_from,
            gates[1].lookup_to => lookup_to,
        );
        for i in 0..2 {
            join!(self, mac_from[i] => gates[i].mac_from, gates[i].mac_to => mac_to[i]);
        }
    }
}

#[test]
fn joined_bundles_agree_with_their_simulation() {
    let design = check(
        TwoGates::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.open.next = bool::random(rng);
            uut.from.valid.next = bool::random(rng);
            uut.from.data.next = Bits::random(rng);
            uut.from.bytes.next = Bits::random(rng);
            uut.from.last.next = bool::random(rng);
            uut.to.ready.next = bool::random(rng);
            for mac in &mut uut.mac_from {
                mac.valid.next = bool::random(rng);
                mac.data.next = Bits::random(rng);
                mac.bytes.next = Bits::random(rng);
                mac.last.next = bool::random(rng);
                mac.error.next = bool::random(rng);
            }
            uut.lookup_from.ask.valid.next = bool::random(rng);
            uut.lookup_from.ask.record.next = Bits::random(rng);
            uut.lookup_from.answer.ready.next = bool::random(rng);
            uut.lookup_to.ask.ready.next = bool::random(rng);
            uut.lookup_to.answer.valid.next = bool::random(rng);
            uut.lookup_to.answer.record.next = Bits::random(rng);
        },
        200,
        1,
    )
    .unwrap();
    for port in [
        "from_ready",
        "to_valid",
        "to_bytes",
        "mac_to0_last",
        "mac_from1_error",
        "lookup_from_ask",
        "lookup_from_ask_ready",
        "lookup_to_answer_valid",
    ] {
        assert!(
            design.ports.iter().any(|p| p.name == port),
            "{port} is a port"
        );
    }
}
