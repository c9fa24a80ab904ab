//! Table writes to the tables they are for.

use hdl_host_if::{EventSettingsSrc, OwnerSrc};
use hdl_macros::{clock, hdl};
use hdl_primitives::{AddressFlowSrc, QpRowFlowSrc, QpSettingsSrc, Snk, TableWriteSrc};
use hdl_requester::bundles::{ConfigureSrc, EngineSettingsSrc, ShareSrc};
use hdl_requester::ConfigureKind;
use hdl_rx_pipeline::own_address::{address_of, OwnAddress};
use hdl_spray_engine::profile::{ExplicitSrc, ProfileSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, PortConfig, VECTOR_BITS};
use stellar_wire::hw::config::{ConfigSelect, ConfigWrite};
use stellar_wire::hw::congestion::NsccConfig;
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::host_queues::{RingConfig, EVENT_QUEUE_BITS};
use stellar_wire::hw::messages::SendQueueConfig;
use stellar_wire::hw::requester::RequesterConfig;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::hw::spray::{
    EntropyProfileEntry, ExplicitEntropy, PathUse, SprayConfig, EXPLICIT_ROW_BITS, PROFILE_BITS,
};
use stellar_wire::hw::tables::{TableSelect, TableWrite, TABLE_ENTRY_BITS};
use stellar_wire::hw::tenant::TenantEntry;
use stellar_wire::hw::{FromBits, QPN_BITS};
use stellar_wire::rows::TENANT_BITS;

/// Passes each write to its table, and accepts the next one when that table has accepted it. Tables without `ready` accept it at once.
///
/// A queue pair's requester registers name its doorbell page too, so they go to two tables. The card has `P` ports, one or two. If it has one, the second has no
/// tables, and reliable connections are of the first one, whatever their row says. `Q` is the log2 of the queue pairs.
#[derive(LogicBlock)]
pub struct NicConfig<const P: usize = 2, const Q: usize = 10> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    pub write: Snk<ConfigWrite>,

    // Receive core and local translation: QP, MR and eMTT entries.
    pub table: TableWriteSrc,
    /// High for one cycle when the receive core accepts the write.
    pub table_taken: Signal<Out, Bit>,

    // Requester engine.
    pub configure: ConfigureSrc,
    pub settings: EngineSettingsSrc,
    pub profile: ProfileSrc,
    pub values: ExplicitSrc,
    pub share: ShareSrc,
    // Doorbells.
    pub owner: OwnerSrc,

    // Frames of each port.
    pub address: [AddressFlowSrc; P],
    pub port: [Signal<Out, PortConfig>; P],
    /// Whom each port accepts frames for. The address is known once software has written it.
    pub own: [Signal<Out, OwnAddress>; P],
    pub peer: QpRowFlowSrc<QpPeer>,

    // Responder and host queues.
    pub responder: QpSettingsSrc<ResponderConfig>,
    pub completion_queue: QpSettingsSrc<RingConfig>,
    pub event_queue: EventSettingsSrc,

    port_config: [DFF<PortConfig>; P],
    has_port_config: [DFF<Bit>; P],
    /// A write goes to two tables, and the first one has accepted it.
    owner_done: DFF<Bit>,
}

impl<const P: usize, const Q: usize> Default for NicConfig<P, Q> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            write: Default::default(),
            table: Default::default(),
            table_taken: Default::default(),
            configure: Default::default(),
            settings: Default::default(),
            profile: Default::default(),
            values: Default::default(),
            share: Default::default(),
            owner: Default::default(),
            address: std::array::from_fn(|_| Default::default()),
            port: std::array::from_fn(|_| Default::default()),
            own: std::array::from_fn(|_| Default::default()),
            peer: Default::default(),
            responder: Default::default(),
            completion_queue: Default::default(),
            event_queue: Default::default(),
            port_config: std::array::from_fn(|_| Default::default()),
            has_port_config: std::array::from_fn(|_| Default::default()),
            owner_done: Default::default(),
        }
    }
}

impl<const P: usize, const Q: usize> Logic for NicConfig<P, Q> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, owner_done);
        clock!(self, clock, port_config[..], has_port_config[..]);
        let valid = self.write.valid.val();
        let write = self.write.record.val();
        let select = write.select;

        // row: a queue pair
        let row = bit_cast::<QPN_BITS, Q>(write.index.get_bits::<Q>(0));
        self.configure.qp.next = row;
        self.owner.qp.next = row;
        self.peer.qp.next = row;
        self.responder.qp.next = row;
        self.completion_queue.qp.next = row;
        self.profile.index.next = write.index.get_bits::<PROFILE_BITS>(0);
        self.values.row.next = write.index.get_bits::<EXPLICIT_ROW_BITS>(0);

        // entry
        let row_of_two_ports = RequesterConfig::from_bits(write.entry);
        let requester = RequesterConfig {
            plane: row_of_two_ports.plane & (P == 2),
            ..row_of_two_ports
        };
        self.settings.requester.next = requester;
        self.settings.queue.next = SendQueueConfig::from_bits(write.entry);
        self.settings.spray.next = SprayConfig::from_bits(write.entry);
        self.settings.nscc.next = NsccConfig::from_bits(write.entry);
        self.settings.path_use.next = PathUse::from_bits(write.entry);
        self.owner.present.next = requester.valid;
        self.owner.page.next = requester.page;
        self.profile.record.next = EntropyProfileEntry::from_bits(write.entry);
        self.values.record.next = ExplicitEntropy::from_bits(write.entry);
        self.peer.record.next = QpPeer::from_bits(write.entry);
        self.responder.record.next = ResponderConfig::from_bits(write.entry);
        self.completion_queue.record.next = RingConfig::from_bits(write.entry);
        self.event_queue.queue.next = write.index.get_bits::<EVENT_QUEUE_BITS>(0);
        self.event_queue.record.next = RingConfig::from_bits(write.entry);

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
            | (select == ConfigSelect::Nscc)
            | (select == ConfigSelect::PathUse);
        let owner_done = self.owner_done.q.val();
        self.owner.valid.next = valid & is_requester & !owner_done;
        if valid & is_requester & self.owner.ready.val() {
            self.owner_done.d.next = true;
        }
        self.configure.valid.next = valid & is_engine & (owner_done | !is_requester);
        self.configure.record.next = match select {
            ConfigSelect::SendQueue => ConfigureKind::SendQueue,
            ConfigSelect::Spray => ConfigureKind::Spray,
            ConfigSelect::Nscc => ConfigureKind::Nscc,
            ConfigSelect::PathUse => ConfigureKind::PathUse,
            _ => ConfigureKind::Requester,
        };
        if self.configure.ready.val() {
            self.owner_done.d.next = false;
        }
        self.profile.valid.next = valid & (select == ConfigSelect::Profile);
        self.values.valid.next = valid & (select == ConfigSelect::Explicit);
        self.share.valid.next = valid & (select == ConfigSelect::Tenant);
        self.share.tenant.next = write.index.get_bits::<TENANT_BITS>(0);
        self.share.record.next = TenantEntry::from_bits(write.entry);

        let is_port = valid & (select == ConfigSelect::Port);
        for p in 0..P {
            let of_port = write.index.get_bit(0) == (p == 1);
            self.port_config[p].d.next = if is_port & of_port {
                PortConfig::from_bits(write.entry)
            } else {
                self.port_config[p].q.val()
            };
            let written = self.has_port_config[p].q.val();
            self.has_port_config[p].d.next = (written | (is_port & of_port)) & !self.reset.val();
            self.port[p].next = self.port_config[p].q.val();
            self.own[p].next = address_of(self.port_config[p].q.val(), written);
            self.address[p].vector.next = write.index.get_bits::<VECTOR_BITS>(0);
            self.address[p].record.next = FrameAddress::from_bits(write.entry);
        }
        self.address[0].valid.next = valid & (select == ConfigSelect::Address0);
        if P == 2 {
            self.address[1].valid.next = valid & (select == ConfigSelect::Address1);
        }
        self.peer.valid.next = valid & (select == ConfigSelect::Peer);

        self.responder.valid.next = valid & (select == ConfigSelect::Responder);
        self.completion_queue.valid.next = valid & (select == ConfigSelect::CompletionQueue);
        self.event_queue.valid.next = valid & (select == ConfigSelect::EventQueue);

        self.write.ready.next = match select {
            ConfigSelect::Qp | ConfigSelect::Mr | ConfigSelect::Emtt => self.table.ready.val(),
            ConfigSelect::Requester
            | ConfigSelect::SendQueue
            | ConfigSelect::Spray
            | ConfigSelect::Nscc
            | ConfigSelect::PathUse => self.configure.ready.val(),
            ConfigSelect::Tenant => self.share.ready.val(),
            ConfigSelect::Responder => self.responder.ready.val(),
            ConfigSelect::CompletionQueue => self.completion_queue.ready.val(),
            ConfigSelect::EventQueue => self.event_queue.ready.val(),
            _ => true,
        };
        if self.reset.val() {
            self.owner_done.d.next = false;
        }
    }
}
