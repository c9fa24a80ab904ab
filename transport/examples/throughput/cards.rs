//! The cards and their queue pairs.

use std::sync::Arc;

use stellar_transport::congestion::NsccParams;
use stellar_transport::endpoint::{
    CardModel, Endpoint, EndpointConfig, ImmConfig, Memory, MemoryFault, Peer, PlaneAddress,
    QpConfig, TransportConfig, PORTS,
};
use stellar_transport::requester::{coalesce_from, MrcConfig};
use stellar_transport::rx::{EmttRow, MrRow, Owner, PageSize, Psn, RxConfig, TableWrite, WriteTlp};
use stellar_transport::spray::{EntropyProfile, PlaneMask, Policy, SkipScope, SprayConfig};
use stellar_transport::time::Ticks;
use stellar_wire::MacAddr;

const MTU_LOG2: u8 = 12;
const SACK_EVERY: u8 = 4;
pub const KEY: u32 = 1 << 8 | 5;
/// Where the region begins, in memory and on the bus.
pub const BASE: u64 = 1 << 30;

/// Memory whose bytes nobody looks at.
pub struct Blank;

impl Memory for Blank {
    fn read(&mut self, _: u64, _: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        into.fill(0);
        Ok(())
    }

    fn write(&mut self, _: &WriteTlp) {}
}

pub type Card = Endpoint<Blank>;
pub type Failure = Box<dyn std::error::Error>;

fn planes(card: usize) -> [PlaneAddress; PORTS] {
    [0, 1].map(|port: u8| PlaneAddress {
        mac: MacAddr([2, 0, 0, 0, port, card as u8]),
        ip: [10, port, 0, card as u8 + 1].into(),
    })
}

/// A card with a region of one page.
pub fn card(number: usize, model: CardModel) -> Result<Card, Failure> {
    let config = EndpointConfig {
        planes: planes(number),
        rx: RxConfig::default(),
        data_dscp: 0,
        control_dscp: 46,
        event_entries: 256,
    };
    let mut card = Endpoint::with_model(config, model, Blank)?;
    let entry = EmttRow {
        valid: true,
        owner: Owner::Host,
        device: 0,
        frame: BASE >> 12,
    };
    card.write_table(&TableWrite::Emtt { index: 0, entry })?;
    let entry = MrRow {
        valid: true,
        key: KEY as u8,
        pd: 1,
        remote_write: true,
        remote_read: false,
        remote_atomic: false,
        page_size: PageSize::Size1G,
        base_va: BASE,
        length: 1 << 30,
        first_emtt: 0,
        on_demand: false,
    };
    card.write_table(&TableWrite::Mr {
        index: KEY >> 8,
        entry,
    })?;
    Ok(card)
}

/// One end of a queue pair that has the same number at the other card.
pub fn queue_pair(
    card: usize,
    number: u32,
    profile: &Arc<EntropyProfile>,
) -> Result<QpConfig, Failure> {
    let mtu = 1 << MTU_LOG2;
    let nscc = NsccParams::from_path(Ticks::from_us(6), 400, mtu, false)?;
    let mut mrc = MrcConfig::new(
        nscc,
        SprayConfig {
            policy: Policy::Obs,
            paths: 128,
            planes_up: PlaneMask::BOTH,
            seed: number,
            profile: profile.clone(),
            rotation: 0,
            skip: SkipScope::default(),
            probe_interval: Ticks::from_us(20),
            base_rtt: Ticks::from_us(6),
            bend_after: 1,
        },
    );
    mrc.coalesce_from = coalesce_from(mrc.mpr, SACK_EVERY, mtu);
    Ok(QpConfig {
        number,
        page: 0,
        peer: Peer {
            qp: number,
            planes: planes(1 - card),
        },
        pd: 1,
        pkey: 0xffff,
        mtu_log2: MTU_LOG2,
        sq_psn: Psn::new(0),
        rq_psn: Psn::new(0),
        remote_write: true,
        sq: None,
        cq_entries: 4096,
        imm: ImmConfig {
            max_wimm: 32,
            completions: true,
        },
        sack_every: SACK_EVERY,
        srv6: None,
        transport: TransportConfig::Mrc(mrc),
    })
}
