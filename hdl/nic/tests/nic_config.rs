//! `NicConfig`: each write reaches its tables once, with row and entry, and the next one waits until they have accepted it.

use hdl_nic::NicConfig;
use hdl_requester::ConfigureKind;
use hdl_rx_pipeline::own_address::address_of;
use hdl_testkit::equivalence::{Random, TestRng};
use hdl_testkit::Dut;
use rand::{Rng, SeedableRng};
use rust_hdl::prelude::*;
use stellar_wire::hw::address::{FrameAddress, PortConfig, VECTOR_BITS};
use stellar_wire::hw::config::{ConfigSelect, ConfigWrite};
use stellar_wire::hw::congestion::NsccConfig;
use stellar_wire::hw::control::QpPeer;
use stellar_wire::hw::host_queues::{RingConfig, EVENT_QUEUE_BITS};
use stellar_wire::hw::messages::SendQueueConfig;
use stellar_wire::hw::pack::{to_words, Record};
use stellar_wire::hw::requester::RequesterConfig;
use stellar_wire::hw::responder::ResponderConfig;
use stellar_wire::hw::spray::{
    EntropyProfileEntry, ExplicitEntropy, PathUse, SprayConfig, EXPLICIT_ROW_BITS, PROFILE_BITS,
};
use stellar_wire::hw::tables::{TableSelect, TableWrite};
use stellar_wire::hw::tenant::TenantEntry;
use stellar_wire::hw::FromBits;
use stellar_wire::rows::TENANT_BITS;

/// Every port with which a table is offered a write.
const VALIDS: [&str; 12] = [
    "table_valid",
    "configure_valid",
    "profile_valid",
    "values_valid",
    "share_valid",
    "owner_valid",
    "address0_valid",
    "address1_valid",
    "peer_valid",
    "responder_valid",
    "completion_queue_valid",
    "event_queue_valid",
];
/// Tables that may be ready without an offer.
const READIES: [&str; 6] = [
    "table_ready",
    "share_ready",
    "owner_ready",
    "responder_ready",
    "completion_queue_ready",
    "event_queue_ready",
];

/// An offer to one table.
struct Offer {
    valid: &'static str,
    /// Without one, the table accepts at once.
    ready: Option<&'static str>,
    /// Ports and their values.
    values: Vec<(&'static str, Vec<u32>)>,
}

/// The low bits of an entry, as many as a `T` has.
fn low<T: Synth>(write: &ConfigWrite) -> Vec<u32> {
    let mut words = to_words(write.entry);
    words.truncate(T::BITS.div_ceil(32));
    if T::BITS % 32 != 0 {
        *words.last_mut().expect("a word") &= (1 << (T::BITS % 32)) - 1;
    }
    words
}

fn row(write: &ConfigWrite, bits: usize) -> Vec<u32> {
    vec![u64::from(write.index) as u32 & ((1 << bits) - 1)]
}

fn offer(
    [valid, index, record]: [&'static str; 3],
    ready: Option<&'static str>,
    (row, entry): (Vec<u32>, Vec<u32>),
) -> Offer {
    Offer {
        valid,
        ready,
        values: vec![(index, row), (record, entry)],
    }
}

/// Writes to a table of the receive core or of the translation.
fn table(select: TableSelect, write: &ConfigWrite) -> Offer {
    let record = TableWrite {
        select,
        index: write.index,
        entry: write.entry.get_bits(0),
    };
    Offer {
        valid: "table_valid",
        ready: Some("table_ready"),
        values: vec![("table_write", to_words(record))],
    }
}

fn engine(kind: ConfigureKind, settings: &'static str, entry: Vec<u32>, qp: Vec<u32>) -> Offer {
    Offer {
        valid: "configure_valid",
        ready: Some("configure_ready"),
        values: vec![
            ("configure", vec![kind as u32]),
            ("configure_qp", qp),
            (settings, entry),
        ],
    }
}

/// The offers that a write causes, one after the other. A write to a port causes none.
fn offers(write: &ConfigWrite) -> Vec<Offer> {
    let qp = row(write, 10);
    let one = match write.select {
        ConfigSelect::Qp => table(TableSelect::Qp, write),
        ConfigSelect::Mr => table(TableSelect::Mr, write),
        ConfigSelect::Emtt => table(TableSelect::Emtt, write),
        ConfigSelect::Requester => {
            let entry = low::<RequesterConfig>(write);
            let config = Record::<RequesterConfig>::new(&entry);
            let owner = Offer {
                valid: "owner_valid",
                ready: Some("owner_ready"),
                values: vec![
                    ("owner_qp", qp.clone()),
                    ("owner_page", vec![config.u64("page") as u32]),
                    ("owner_present", vec![config.bool("valid").into()]),
                ],
            };
            let kind = ConfigureKind::Requester;
            return vec![owner, engine(kind, "settings_requester", entry, qp)];
        }
        ConfigSelect::SendQueue => {
            let entry = low::<SendQueueConfig>(write);
            engine(ConfigureKind::SendQueue, "settings_queue", entry, qp)
        }
        ConfigSelect::Spray => {
            let entry = low::<SprayConfig>(write);
            engine(ConfigureKind::Spray, "settings_spray", entry, qp)
        }
        ConfigSelect::Nscc => {
            let entry = low::<NsccConfig>(write);
            engine(ConfigureKind::Nscc, "settings_nscc", entry, qp)
        }
        ConfigSelect::PathUse => {
            let entry = low::<PathUse>(write);
            engine(ConfigureKind::PathUse, "settings_path_use", entry, qp)
        }
        ConfigSelect::Profile => offer(
            ["profile_valid", "profile_index", "profile"],
            None,
            (row(write, PROFILE_BITS), low::<EntropyProfileEntry>(write)),
        ),
        ConfigSelect::Explicit => offer(
            ["values_valid", "values_row", "values"],
            None,
            (row(write, EXPLICIT_ROW_BITS), low::<ExplicitEntropy>(write)),
        ),
        ConfigSelect::Tenant => offer(
            ["share_valid", "share_tenant", "share"],
            Some("share_ready"),
            (row(write, TENANT_BITS), low::<TenantEntry>(write)),
        ),
        ConfigSelect::Address0 => offer(
            ["address0_valid", "address0_vector", "address0"],
            None,
            (row(write, VECTOR_BITS), low::<FrameAddress>(write)),
        ),
        ConfigSelect::Address1 => offer(
            ["address1_valid", "address1_vector", "address1"],
            None,
            (row(write, VECTOR_BITS), low::<FrameAddress>(write)),
        ),
        ConfigSelect::Peer => offer(
            ["peer_valid", "peer_qp", "peer"],
            None,
            (qp, low::<QpPeer>(write)),
        ),
        ConfigSelect::Responder => offer(
            ["responder_valid", "responder_qp", "responder"],
            Some("responder_ready"),
            (qp, low::<ResponderConfig>(write)),
        ),
        ConfigSelect::CompletionQueue => offer(
            [
                "completion_queue_valid",
                "completion_queue_qp",
                "completion_queue",
            ],
            Some("completion_queue_ready"),
            (qp, low::<RingConfig>(write)),
        ),
        ConfigSelect::EventQueue => offer(
            ["event_queue_valid", "event_queue_queue", "event_queue"],
            Some("event_queue_ready"),
            (row(write, EVENT_QUEUE_BITS), low::<RingConfig>(write)),
        ),
        ConfigSelect::Port => return vec![],
    };
    vec![one]
}

/// What software has written last about each port, and whether it did since the last reset.
type Ports = [(PortConfig, bool); 2];

fn check_ports(dut: &Dut, ports: &Ports) {
    for (p, &(config, written)) in ports.iter().enumerate() {
        let own = address_of(config, written);
        assert_eq!(dut.words(["port0", "port1"][p]), to_words(config));
        assert_eq!(dut.words(["own0", "own1"][p]), to_words(own));
    }
}

fn reset(dut: &mut Dut) {
    dut.set("write_valid", 0);
    dut.reset(1);
}

/// Offers a write until it is accepted, or for `patience` cycles. Returns whether it was accepted.
fn run(dut: &mut Dut, write: &ConfigWrite, patience: usize, rng: &mut TestRng) -> bool {
    let mut left = offers(write).into_iter().peekable();
    dut.set_record("write", *write);
    dut.set("write_valid", 1);
    for _ in 0..patience {
        for ready in READIES {
            dut.set(ready, rng.random_bool(0.4).into());
        }
        dut.set("configure_ready", 0);
        dut.eval();
        let expected = left.peek().map(|offer| offer.valid);
        for valid in VALIDS {
            assert_eq!(dut.is(valid), expected == Some(valid), "{valid}");
        }
        for (port, value) in left.peek().iter().flat_map(|offer| &offer.values) {
            assert_eq!(&dut.words(port), value, "{port}");
        }
        // The requester is ready when it has executed what was offered.
        let executes = dut.is("configure_valid") && rng.random_bool(0.2);
        dut.set("configure_ready", executes.into());
        dut.eval();
        let goes = left
            .next_if(|offer| offer.ready.is_none_or(|ready| dut.is(ready)))
            .map(|offer| offer.valid);
        assert_eq!(dut.is("table_taken"), goes == Some("table_valid"));
        let done = left.peek().is_none();
        assert_eq!(dut.is("write_ready"), done);
        dut.clock();
        if done {
            dut.set("write_valid", 0);
            dut.eval();
            return true;
        }
    }
    false
}

#[test]
fn each_write_reaches_its_tables_and_no_others() {
    let mut rng = TestRng::seed_from_u64(1);
    let mut dut = Dut::new::<NicConfig>();
    reset(&mut dut);
    let mut ports = Ports::default();
    let mut seen = vec![0; ConfigSelect::ALL.len()];
    for _ in 0..4_000 {
        let at = rng.random_range(0..ConfigSelect::ALL.len());
        let write = ConfigWrite {
            select: ConfigSelect::ALL[at],
            index: Bits::random(&mut rng),
            entry: Bits::random(&mut rng),
        };
        // Some writes are cut off by a reset.
        let cut = rng.random_bool(0.05);
        let patience = if cut { rng.random_range(0..6) } else { 1_000 };
        let done = run(&mut dut, &write, patience, &mut rng);
        assert!(done || cut, "a write is not accepted");
        seen[at] += u32::from(done);
        if done && write.select == ConfigSelect::Port {
            ports[usize::from(write.index.get_bit(0))] = (PortConfig::from_bits(write.entry), true);
        }
        check_ports(&dut, &ports);
        if cut {
            reset(&mut dut);
            for (_, written) in &mut ports {
                *written = false;
            }
            dut.eval();
            check_ports(&dut, &ports);
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

/// A card with one port: whatever a row says, reliable connections send by that port.
#[test]
fn with_one_port_every_connection_is_of_port_0() {
    let mut rng = TestRng::seed_from_u64(2);
    let mut dut = Dut::new::<NicConfig<1>>();
    reset(&mut dut);
    let mut by_port1 = 0;
    for _ in 0..200 {
        let write = ConfigWrite {
            select: ConfigSelect::Requester,
            index: Bits::random(&mut rng),
            entry: Bits::random(&mut rng),
        };
        dut.set_record("write", write);
        dut.set("write_valid", 1);
        dut.eval();
        let row = RequesterConfig::from_bits(write.entry);
        by_port1 += u32::from(row.plane);
        let expected = RequesterConfig {
            plane: false,
            ..row
        };
        assert_eq!(dut.words("settings_requester"), to_words(expected));
        dut.clock();
    }
    assert!(by_port1 > 50, "{by_port1}");
}
