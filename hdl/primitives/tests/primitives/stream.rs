//! Stream bundles join blocks to each other and to ports.
use hdl_macros::hdl;
use hdl_primitives::{Delay, FlowSnk, FlowSrc, StreamSnk, StreamSrc};
use hdl_verilog::equivalence::{check, Random};
use rust_hdl::prelude::*;

/// Passes beats while `open`; the flow is delayed by a clock.
#[derive(LogicBlock, Default)]
struct Gate<const W: usize> {
    clock: Signal<In, Clock>,
    open: Signal<In, Bit>,
    from: StreamSnk<W>,
    to: StreamSrc<W>,
    flow_from: FlowSnk<W>,
    flow_to: FlowSrc<W>,
    flow_data: Delay<Bits<W>, 1>,
}

impl<const W: usize> Logic for Gate<W> {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, flow_data);
        self.to.valid.next = self.from.valid.val() & self.open.val();
        self.to.data.next = self.from.data.val();
        self.to.bytes.next = self.from.bytes.val();
        self.to.last.next = self.from.last.val();
        self.to.error.next = self.from.error.val();
        self.from.ready.next = self.to.ready.val() & self.open.val();
        self.flow_data.data.next = self.flow_from.data.val();
        self.flow_to.valid.next = self.flow_from.valid.val();
        self.flow_to.data.next = self.flow_data.delayed.val();
        self.flow_to.bytes.next = self.flow_from.bytes.val();
        self.flow_to.last.next = self.flow_from.last.val();
        self.flow_to.error.next = self.flow_from.error.val();
    }
}

/// Two gates in a row, all bundles joined.
#[derive(LogicBlock, Default)]
struct TwoGates {
    clock: Signal<In, Clock>,
    open: Signal<In, Bit>,
    from: StreamSnk<64>,
    to: StreamSrc<64>,
    flow_from: FlowSnk<64>,
    flow_to: FlowSrc<64>,
    first: Gate<64>,
    second: Gate<64>,
}

impl Logic for TwoGates {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, first, second);
        self.first.open.next = self.open.val();
        self.second.open.next = true;
        StreamSnk::<64>::link(&mut self.from, &mut self.first.from);
        StreamSrc::<64>::join(&mut self.first.to, &mut self.second.from);
        StreamSrc::<64>::link(&mut self.to, &mut self.second.to);
        FlowSnk::<64>::link(&mut self.flow_from, &mut self.first.flow_from);
        FlowSrc::<64>::join(&mut self.first.flow_to, &mut self.second.flow_from);
        FlowSrc::<64>::link(&mut self.flow_to, &mut self.second.flow_to);
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
            uut.from.error.next = bool::random(rng);
            uut.to.ready.next = bool::random(rng);
            uut.flow_from.valid.next = bool::random(rng);
            uut.flow_from.data.next = Bits::random(rng);
            uut.flow_from.bytes.next = Bits::random(rng);
            uut.flow_from.last.next = bool::random(rng);
            uut.flow_from.error.next = bool::random(rng);
        },
        200,
        1,
    )
    .unwrap();
    for port in [
        "from_ready",
        "to_valid",
        "to_bytes",
        "flow_to_last",
        "flow_from_error",
    ] {
        assert!(
            design.ports.iter().any(|p| p.name == port),
            "{port} is a port"
        );
    }
}
