//! Resources of the card, and the free ones among them.

use stellar_wire::config::MAX_MPR;
use stellar_wire::host::config_space::DOORBELL_PAGES;
use stellar_wire::host::Wqe;
use stellar_wire::rows::TENANT_BITS;

use crate::numbers::{DoorbellPages, Numbers, QueuePairNumbers, Runs};
use crate::probe::Probe;
use crate::qp::SEND_ENTRIES;
use crate::vectors::VECTORS;

/// The event queue of the card itself.
pub const CARD_EVENTS: u16 = 0;
/// Vector of that event queue; the others are for completion queues, and for event queues of contexts.
pub const EVENT_VECTOR: u16 = 0;
/// Maximum number of entries of a ring that the card writes.
pub const MOST_ENTRIES: u32 = 1 << 20;
/// Contexts that have a share of the ports of their own. Those with a higher page share one.
pub const TENANTS: u32 = (1 << TENANT_BITS) - 1;
/// Number of protection domains: all that 20 bits can name, except the one in the rows of memory regions that were never written.
const DOMAINS: u32 = (1 << 20) - 1;

/// Resources of a card (verbs: `ibv_device_attr`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Queue pairs.
    pub queue_pairs: u32,
    /// Entries of a send queue.
    pub send_entries: u32,
    /// Bytes of inline data of a work request.
    pub inline_bytes: u32,
    /// Maximum number of WRITEs with immediate in flight in each direction of a queue pair.
    pub write_imm: u16,
    /// Maximum number of them in flight to all MRC queue pairs together, the number of each rounded up to a power of two.
    pub write_imm_stash: u32,
    /// Entries of a completion queue, for each of its queue pairs.
    pub completion_entries: u32,
    /// Completion queues with an interrupt of their own; without one there can be any number. A context's event queue takes one of these interrupts as long as
    /// more than half of them are free.
    pub completion_vectors: u16,
    /// Memory regions.
    pub regions: u32,
    /// Pages of all regions together.
    pub translations: u32,
    /// Protection domains.
    pub domains: u32,
    /// Contexts: each has a doorbell page.
    pub contexts: u32,
    /// Hosts that queue pairs can be connected to at a time (verbs: `max_ah`). Queue pairs with the same way to their peers, by both ports, count once.
    pub peer_hosts: u32,
    /// Contexts with a share of the ports of their own ([`crate::Device::set_tenant_share`]); further ones have one together.
    pub tenant_shares: u32,
    /// Contexts with an event queue of their own; further ones share that of the card.
    pub event_queues: u32,
    /// Packets that the window of an MRC queue pair may span when it sends ([`crate::RtsAttributes::window`]).
    pub send_window: u32,
    /// Packets that the window of its peer may span: more are refused. The peer's `window` must not be larger.
    pub receive_window: u32,
    /// Entropy profiles ([`crate::PathAttributes::profile`]).
    pub entropy_profiles: u8,
    /// How many of them, from profile 0 on, can have explicit values ([`crate::Device::set_explicit_profile`]).
    pub explicit_profiles: u8,
    /// An RC queue pair can have paths and a policy ([`crate::RcRtrAttributes::paths`]).
    pub rc_paths: bool,
}

/// The first queue pair that an application gets. 0 and 1 are management's, and 2 is that of MRC's endpoint: peers send it EV probes and Port Status Updates.
const FIRST_OF_APPLICATIONS: u32 = 3;

impl Limits {
    /// Returns the limits of a card that was probed.
    pub fn of(probe: &Probe) -> Self {
        let queue_pairs = 1 << probe.features.log2_queue_pairs;
        let vectors = probe.msi_x_vectors.min(probe.features.vectors.into());
        Self {
            queue_pairs: queue_pairs - FIRST_OF_APPLICATIONS,
            send_entries: SEND_ENTRIES.1,
            inline_bytes: Wqe::INLINE as u32,
            write_imm: 1 << probe.immediates.log2_most,
            write_imm_stash: 1 << probe.immediates.log2_stash,
            completion_entries: MOST_ENTRIES,
            completion_vectors: vectors.saturating_sub(EVENT_VECTOR + 1),
            regions: 1 << probe.features.log2_regions,
            translations: 1 << probe.features.log2_translations,
            domains: DOMAINS,
            contexts: DOORBELL_PAGES,
            peer_hosts: VECTORS,
            tenant_shares: TENANTS,
            event_queues: (1 << probe.features.log2_event_queues) - 1,
            send_window: probe.features.send_window().min(MAX_MPR),
            receive_window: probe.features.receive_window(),
            entropy_profiles: probe.data_path.entropy_profiles(),
            explicit_profiles: probe.data_path.explicit_profiles,
            rc_paths: probe.data_path.rc_paths,
        }
    }
}

/// Numbers to allocate.
pub struct Pools {
    pub queue_pairs: QueuePairNumbers,
    pub regions: Numbers,
    /// Low byte of the next key of a region's number: a key of an earlier region does not fit.
    pub keys: Vec<u8>,
    pub translations: Runs,
    /// Entries for WRITEs with immediate that wait for their order.
    pub stash: Runs,
    pub domains: Numbers,
    pub vectors: Numbers,
    pub pages: DoorbellPages,
    pub event_queues: Numbers,
}

impl Pools {
    /// Makes the allocator. All resources are free.
    pub fn new(limits: &Limits) -> Self {
        let from = |what, first: u32, count: u32| Numbers::new(what, first, first + count);
        let vectors = limits.completion_vectors.into();
        Self {
            queue_pairs: QueuePairNumbers::new(
                FIRST_OF_APPLICATIONS,
                FIRST_OF_APPLICATIONS + limits.queue_pairs,
            ),
            regions: from("memory regions", 0, limits.regions),
            keys: vec![0; limits.regions as usize],
            translations: Runs::new("page translations", limits.translations),
            stash: Runs::new(
                "entries for WRITEs with immediate in flight",
                limits.write_imm_stash,
            ),
            domains: from("protection domains", 1, limits.domains),
            vectors: from("interrupt vectors", u32::from(EVENT_VECTOR) + 1, vectors),
            pages: DoorbellPages::new(limits.contexts),
            event_queues: from(
                "event queues",
                u32::from(CARD_EVENTS) + 1,
                limits.event_queues,
            ),
        }
    }
}
