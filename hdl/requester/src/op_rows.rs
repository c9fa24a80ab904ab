//! The operation in progress, and the rows of the queue pairs.

use hdl_macros::{clock, hdl};
use hdl_primitives::RowRam;
use rust_hdl::prelude::*;
use stellar_wire::hw::requester::{ControlPacket, RequesterConfig};
use stellar_wire::hw::Qpn;

use crate::records::{ConfigureKind, Op, OpKind, Pick, RequesterState};

/// Registers and state of 2^`Q` queue pairs, and those of the operation in progress.
///
/// The rows of the queue pair that enters the register of `OpPick` are read in that cycle, so they are at the read ports whenever the operation is taken. A row that is written in the
/// cycle in which it is read, or a cycle later, is that of the last operation, and its rows stay beside it: `op` changes only when an operation is taken, and in the cycle after
/// that nothing is chosen.
///
/// Levels: 3.
#[derive(LogicBlock, Default)]
pub struct OpRows<const Q: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,

    // Choice.
    /// Queue pair of `pick` in the next cycle.
    pub next_qp: Signal<In, Qpn>,
    pub pick: Signal<In, Pick>,
    pub control: Signal<In, ControlPacket>,
    /// Registers that a configuration of the requester brings.
    pub settings: Signal<In, RequesterConfig>,
    /// The operation `pick` is taken.
    pub takes: Signal<In, Bit>,
    /// A SACK has followed another one at once. The window has begun with it; the flow needs the rest of it later.
    pub chained: Signal<In, Bit>,

    /// The operation and its queue pair's rows, which stay when it is done. They are valid once a flow has started after a reset.
    pub op: Signal<Out, Op>,

    // Results. The operation was done in the last cycle and leaves this state; it is a configuration of the requester and is done in this cycle.
    pub writes_state: Signal<In, Bit>,
    pub state_after: Signal<In, RequesterState>,
    pub writes_settings: Signal<In, Bit>,

    configs: RowRam<RequesterConfig, Q>,
    states: RowRam<RequesterState, Q>,
    held: DFF<Op>,
    /// `held` has the rows of a queue pair.
    loaded: DFF<Bit>,
}

impl<const Q: usize> Logic for OpRows<Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, held, loaded);
        clock!(self, clock, configs, states);
        let pick = self.pick.val();
        let op = self.held.q.val();
        let writes_state = self.writes_state.val();

        // read
        let row = self.next_qp.val().get_bits::<Q>(0);
        self.configs.read_address.next = row;
        self.states.read_address.next = row;
        let has_rows = self.loaded.q.val() & (pick.qp == op.qp);
        let brings_settings =
            (pick.kind == OpKind::Configure) & (pick.configure == ConfigureKind::Requester);
        let left_state = if writes_state {
            self.state_after.val()
        } else {
            op.state
        };
        let taken = Op {
            kind: pick.kind,
            qp: pick.qp,
            port: pick.port,
            slot: pick.slot,
            configure: pick.configure,
            now: self.now.val(),
            control: self.control.val(),
            settings: if brings_settings {
                self.settings.val()
            } else if has_rows {
                op.settings
            } else {
                self.configs.read_data.val()
            },
            state: if has_rows {
                left_state
            } else {
                self.states.read_data.val()
            },
        };
        if writes_state {
            self.held.d.next.state = self.state_after.val();
        }
        if self.chained.val() {
            self.held.d.next.now = self.now.val();
            self.held.d.next.control = self.control.val();
        }
        if self.takes.val() {
            self.held.d.next = taken;
            self.loaded.d.next = true;
        }
        self.op.next = op;

        // write
        let written_row = op.qp.get_bits::<Q>(0);
        self.states.write_enable.next = writes_state;
        self.states.write_address.next = written_row;
        self.states.write_data.next = self.state_after.val();
        self.configs.write_enable.next = self.writes_settings.val();
        self.configs.write_address.next = written_row;
        self.configs.write_data.next = op.settings;
        if self.reset.val() {
            self.loaded.d.next = false;
        }
    }
}
