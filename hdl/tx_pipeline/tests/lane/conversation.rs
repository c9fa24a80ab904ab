//! Two reference cards that exchange packets, and the tables for the lane of each port.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use hdl_testkit::equivalence::TestRng;
use rand::{Rng, SeedableRng};
use stellar_transport::congestion::NsccParams;
use stellar_transport::endpoint::{
    Endpoint, EndpointConfig, ImmConfig, Memory, MemoryFault, Peer, PlaneAddress, QpConfig,
    TransportConfig, PORTS,
};
use stellar_transport::requester::{MrcConfig, RcConfig};
use stellar_transport::rx::{EmttRow, MrRow, Owner, PageSize, Psn, RxConfig, TableWrite, WriteTlp};
use stellar_transport::spray::{
    EntropyField, EntropyProfile, GeneratedEntropy, HeaderFields, PlaneMask, Policy, SkipScope,
    SprayConfig,
};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Wqe, WqeOpcode};
use stellar_wire::{MacAddr, UsidContainer};

use crate::lane::routes::{QpRoute, SourceRoute, Tables, QPS};

/// Queue pairs of card 0 and their peers on card 1: MRC, RC, and one that uses memory without permission.
pub const PAIRS: [(u32, u32); 3] = [(2, 7), (3, 6), (4, 5)];
const RC: u32 = 3;
const KEY: u32 = 1 << 8 | 0x5a;
const PD: u32 = 9;
const DATA_DSCP: u8 = 10;
const CONTROL_DSCP: u8 = 46;

/// Memory in which every byte can be read, and depends on its address.
struct Addresses;

impl Memory for Addresses {
    fn read(&mut self, address: u64, _: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        for (i, byte) in into.iter_mut().enumerate() {
            *byte = (((address + i as u64) * 7) >> 2) as u8;
        }
        Ok(())
    }

    fn write(&mut self, _: &WriteTlp) {}
}

fn plane(card: u8, port: u8, version6: bool) -> PlaneAddress {
    let ip: IpAddr = if version6 {
        Ipv6Addr::new(0xfd00, port.into(), 0, 0, 0, 0, 0xa, card.into()).into()
    } else {
        [10, port, 0, card + 1].into()
    };
    PlaneAddress {
        mac: MacAddr([2, 0, 0, 0, card, port]),
        ip,
    }
}

fn planes(card: u8, version6: bool) -> [PlaneAddress; PORTS] {
    [plane(card, 0, version6), plane(card, 1, version6)]
}

fn route(card: u8) -> SourceRoute {
    SourceRoute {
        container: UsidContainer::new(
            0xfcbb_0000,
            &[0x0100, 0x2000, 0x0300, 0xe000 + u16::from(card)],
        )
        .expect("a container"),
        plane_step: 0x40,
        t1: 1,
        uplink: EntropyField { low: 3, bits: 5 },
    }
}

fn card(number: u8, version6: bool) -> Endpoint<Addresses> {
    let config = EndpointConfig {
        planes: planes(number, version6),
        rx: RxConfig::default(),
        data_dscp: DATA_DSCP,
        control_dscp: CONTROL_DSCP,
        event_entries: 64,
    };
    let mut card = Endpoint::new(config, Addresses).expect("a card");
    let entry = EmttRow {
        valid: true,
        owner: Owner::Host,
        device: 0,
        frame: 0x4_0000,
    };
    card.write_table(&TableWrite::Emtt { index: 3, entry })
        .expect("a page");
    let entry = MrRow {
        valid: true,
        key: KEY as u8,
        pd: PD,
        remote_write: true,
        remote_read: false,
        remote_atomic: false,
        page_size: PageSize::Size1G,
        base_va: 0,
        length: 1 << 30,
        first_emtt: 3,
        on_demand: false,
    };
    let index = KEY >> 8;
    card.write_table(&TableWrite::Mr { index, entry })
        .expect("a region");
    card
}

fn mrc(version6: bool) -> MrcConfig {
    let fields = if version6 {
        HeaderFields::SourcePortAndFlowLabel
    } else {
        HeaderFields::SourcePort
    };
    let values = GeneratedEntropy {
        base: if version6 { 0x1234_c000 } else { 0xc000 },
        stride_log2: if version6 { 13 } else { 0 },
        active: 32,
        backups: 4,
    };
    let rtt = Ticks::from_us(6);
    let nscc = NsccParams::from_path(rtt, 400, 1024, false).expect("a path");
    let spray = SprayConfig {
        policy: Policy::EvState,
        paths: 32,
        planes_up: PlaneMask::BOTH,
        seed: 77,
        profile: Arc::new(EntropyProfile::generated(values, fields).expect("a profile")),
        rotation: 0,
        skip: SkipScope::default(),
        probe_interval: Ticks::from_us(10),
        base_rtt: rtt,
        bend_after: 1,
    };
    MrcConfig::new(nscc, spray)
}

fn qp(card: u8, number: u32, peer: u32, version6: bool) -> QpConfig {
    let is_rc = number.min(peer) == RC;
    QpConfig {
        number,
        page: number,
        peer: Peer {
            qp: peer,
            planes: planes(1 - card, version6),
        },
        pd: PD,
        pkey: 0x8000 | number.max(peer) as u16,
        mtu_log2: 10,
        sq_psn: Psn::new(0xff_fff0),
        rq_psn: Psn::new(0xff_fff0),
        remote_write: true,
        sq: None,
        cq_entries: 1024,
        imm: ImmConfig {
            max_wimm: 16,
            completions: true,
        },
        sack_every: 1,
        srv6: version6.then(|| route(card).template()),
        transport: if is_rc {
            TransportConfig::Rc(RcConfig::default())
        } else {
            TransportConfig::Mrc(mrc(version6))
        },
    }
}

/// A frame that has left a port of a card.
pub struct Left {
    pub card: usize,
    pub port: usize,
    pub frame: Vec<u8>,
}

/// Writes of all lengths in both directions over links that lose and delay; returns every frame.
pub fn conversation(version6: bool) -> Vec<Left> {
    let mut rng = TestRng::seed_from_u64(version6.into());
    let mut cards = [card(0, version6), card(1, version6)];
    for (a, b) in PAIRS {
        let pairs = [(a, b), (b, a)];
        for (number, (local, peer)) in pairs.into_iter().enumerate() {
            cards[number]
                .create_qp(qp(number as u8, local, peer, version6), Ticks(0))
                .expect("a queue pair");
        }
        for i in 0..24 {
            for (number, local) in [(0, a), (1, b)] {
                let inline = rng.random_bool(0.2);
                let length = if inline {
                    rng.random_range(0..=64)
                } else {
                    rng.random_range(0..=5000)
                };
                // At the end, the last queue pair writes outside of the region.
                let rkey = if a == PAIRS[2].0 && i == 20 {
                    KEY ^ 1
                } else {
                    KEY
                };
                let wqe = Wqe {
                    opcode: if rng.random() {
                        WqeOpcode::Write
                    } else {
                        WqeOpcode::WriteImm
                    },
                    inline,
                    length,
                    remote_va: rng.random_range(0..1 << 20),
                    rkey,
                    immediate: rng.random(),
                    wr_id: i,
                    local_va: rng.random_range(0..1 << 20),
                    lkey: KEY,
                    inline_data: std::array::from_fn(|_| rng.random()),
                    ..Wqe::default()
                };
                cards[number].post(local, wqe).expect("room");
            }
        }
    }
    let mut left = vec![];
    let mut under_way: VecDeque<(u32, usize, usize, Vec<u8>)> = VecDeque::new();
    for now in (0..60_000u32).step_by(40) {
        while under_way.front().is_some_and(|(due, ..)| *due <= now) {
            let (_, to, port, frame) = under_way.pop_front().expect("a frame");
            cards[to].receive(port, &frame, Ticks(now));
        }
        for (number, card) in cards.iter_mut().enumerate() {
            card.on_timer(Ticks(now));
            for port in 0..PORTS {
                if let Some(frame) = card.poll_transmit(port, Ticks(now)) {
                    // Plane 1 fails for a while, so that paths are probed.
                    let dead = port == 1 && (2_000..20_000).contains(&now);
                    if !dead && rng.random_bool(0.97) {
                        under_way.push_back((now + 400, 1 - number, port, frame.clone()));
                    }
                    left.push(Left {
                        card: number,
                        port,
                        frame,
                    });
                }
            }
        }
    }
    left
}

/// The tables of a port of a card.
pub fn tables(card: u8, port: u8, version6: bool) -> Tables {
    let own = plane(card, port, version6);
    let nobody = QpRoute {
        peer_qp: 0,
        pkey: 0,
        peer: own,
        source_route: None,
    };
    let mut routes = vec![nobody; QPS];
    for (a, b) in PAIRS {
        let (local, peer) = if card == 0 { (a, b) } else { (b, a) };
        routes[local as usize] = QpRoute {
            peer_qp: peer,
            pkey: 0x8000 | local.max(peer) as u16,
            peer: plane(1 - card, port, version6),
            source_route: version6.then(|| route(card)),
        };
    }
    Tables {
        port,
        mac: own.mac,
        ip: match own.ip {
            IpAddr::V4(ip) => u128::from(u32::from(ip)).into(),
            IpAddr::V6(ip) => ip,
        },
        data_dscp: DATA_DSCP,
        control_dscp: CONTROL_DSCP,
        udp_port: RxConfig::default().udp_port,
        hop_limit: 64,
        routes,
    }
}
