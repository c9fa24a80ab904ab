//! Table writes to the tables they are for.

use hdl_macros::hdl;
use hdl_primitives::{FlowSrc, Src, TableWriteSrc};
use hdl_requester::ConfigureKind;
use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, PortConfig};
use stellar_wire::hw::config::{ConfigSelect, ConfigWrite};
use stellar_wire::hw::congestion::NsccConfig;
use stellar_wire::hw::control::ControlPeer;
use stellar_wire::hw::host_queues::{InterruptEntry, RingConfig};
use stellar_wire::hw::messages::SendQueueConfig;
use stellar_wire::hw::requester::RequesterConfig;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::hw::spray::{EntropyProfileEntry, SprayConfig};
use stellar_wire::hw::tables::{TableSelect, TableWrite, TABLE_ENTRY_BITS};
use stellar_wire::hw::FromBits;

/// Passes each write to its table, and accepts the next one when that table has accepted it. Tables without `ready` accept it at once.
///
/// A queue pair's requester registers name its doorbell page too, so they go to two tables.
#[derive(LogicBlock, Default)]
pub struct NicConfig {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub config_valid: Signal<In, Bit>,
    pub settings: Signal<In, ConfigWrite>,
    pub config_ready: Signal<Out, Bit>,

    /// Row: a queue pair, a profile or a vector.
    pub row: Signal<Out, Bits<10>>,

    // Receive core and payload location: QP, MR and eMTT entries.
    pub table: TableWriteSrc,
    /// High for one cycle when the receive core accepts the write.
    pub table_taken: Signal<Out, Bit>,

    // Requester engine.
    pub configure: Src<ConfigureKind>,
    pub requester: Signal<Out, RequesterConfig>,
    pub queue: Signal<Out, SendQueueConfig>,
    pub spray: Signal<Out, SprayConfig>,
    pub nscc: Signal<Out, NsccConfig>,
    pub profile: FlowSrc<EntropyProfileEntry>,
    // Doorbells.
    pub owner_valid: Signal<Out, Bit>,
    pub owner_ready: Signal<In, Bit>,

    // Frames: bit p is port p's.
    pub address_valid: Signal<Out, Bits<2>>,
    pub address: Signal<Out, FrameAddress>,
    pub port: [Signal<Out, PortConfig>; 2],
    pub peer: FlowSrc<ControlPeer>,

    // Responder and host queues.
    pub responder: Src<ResponderConfig>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_ready: Signal<In, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_ready: Signal<In, Bit>,
    pub ring: Signal<Out, RingConfig>,
    pub interrupt: Src<InterruptEntry>,

    port_config0: DFF<PortConfig>,
    port_config1: DFF<PortConfig>,
    /// A write goes to two tables, and the first one has accepted it.
    owner_done: DFF<Bit>,
}

impl Logic for NicConfig {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, port_config0, port_config1, owner_done);
        let valid = self.config_valid.val();
        let write = self.settings.val();
        let select = write.select;
        self.row.next = write.index.get_bits::<10>(0);

        self.requester.next = RequesterConfig::from_bits(write.entry);
        self.queue.next = SendQueueConfig::from_bits(write.entry);
        self.spray.next = SprayConfig::from_bits(write.entry);
        self.nscc.next = NsccConfig::from_bits(write.entry);
        self.profile.record.next = EntropyProfileEntry::from_bits(write.entry);
        self.address.next = FrameAddress::from_bits(write.entry);
        self.peer.record.next = ControlPeer::from_bits(write.entry);
        self.responder.record.next = ResponderConfig::from_bits(write.entry);
        self.ring.next = RingConfig::from_bits(write.entry);
        self.interrupt.record.next = InterruptEntry::from_bits(write.entry);

        let is_table = (select == ConfigSelect::Qp)
            | (select == ConfigSelect::Mr)
            | (select == ConfigSelect::Emtt);
        self.table.valid.next = valid & is_table;
        self.table.write.next = TableWrite {
            select: match select {
                ConfigSelect::Mr => TableSelect::Mr,
                ConfigSelect::Emtt => TableSelect::Emtt,
                _ => TableSelect::Qp,
            },
            index: write.index,
            entry: write.entry.get_bits::<TABLE_ENTRY_BITS>(0),
        };
        self.table_taken.next = valid & is_table & self.table.ready.val();

        let is_requester = select == ConfigSelect::Requester;
        let is_engine = is_requester
            | (select == ConfigSelect::SendQueue)
            | (select == ConfigSelect::Spray)
            | (select == ConfigSelect::Nscc);
        let owner_done = self.owner_done.q.val();
        self.owner_valid.next = valid & is_requester & !owner_done;
        if valid & is_requester & self.owner_ready.val() {
            self.owner_done.d.next = true;
        }
        self.configure.valid.next = valid & is_engine & (owner_done | !is_requester);
        self.configure.record.next = match select {
            ConfigSelect::SendQueue => ConfigureKind::SendQueue,
            ConfigSelect::Spray => ConfigureKind::Spray,
            ConfigSelect::Nscc => ConfigureKind::Nscc,
            _ => ConfigureKind::Requester,
        };
        if self.configure.ready.val() {
            self.owner_done.d.next = false;
        }
        self.profile.valid.next = valid & (select == ConfigSelect::Profile);

        let address0 = valid & (select == ConfigSelect::Address0);
        let address1 = valid & (select == ConfigSelect::Address1);
        self.address_valid.next =
            (bit_cast::<2, 1>(address1.into()) << 1) | bit_cast::<2, 1>(address0.into());
        if valid & (select == ConfigSelect::Port) {
            if write.index.get_bit(0) {
                self.port_config1.d.next = PortConfig::from_bits(write.entry);
            } else {
                self.port_config0.d.next = PortConfig::from_bits(write.entry);
            }
        }
        self.port[0].next = self.port_config0.q.val();
        self.port[1].next = self.port_config1.q.val();
        self.peer.valid.next = valid & (select == ConfigSelect::ControlPeer);

        self.responder.valid.next = valid & (select == ConfigSelect::Responder);
        self.completion_valid.next = valid & (select == ConfigSelect::CompletionQueue);
        self.event_valid.next = valid & (select == ConfigSelect::EventQueue);
        self.interrupt.valid.next = valid & (select == ConfigSelect::Interrupt);

        self.config_ready.next = match select {
            ConfigSelect::Qp | ConfigSelect::Mr | ConfigSelect::Emtt => self.table.ready.val(),
            ConfigSelect::Requester
            | ConfigSelect::SendQueue
            | ConfigSelect::Spray
            | ConfigSelect::Nscc => self.configure.ready.val(),
            ConfigSelect::Responder => self.responder.ready.val(),
            ConfigSelect::CompletionQueue => self.completion_ready.val(),
            ConfigSelect::EventQueue => self.event_ready.val(),
            ConfigSelect::Interrupt => self.interrupt.ready.val(),
            _ => true,
        };
        if self.reset.val() {
            self.owner_done.d.next = false;
        }
    }
}
