//! Registers of a queue pair: those of the simulated card.

use std::sync::Arc;

use hdl_requester::ConfigureKind;
use stellar_transport::congestion::NsccParams;
use stellar_transport::requester::{coalesce_from, MrcConfig, QpIdentity, SqRing};
use stellar_transport::responder::default_sack_every;
use stellar_transport::rx::Psn;
use stellar_transport::spray::{
    EntropyProfile, GeneratedEntropy, HeaderFields, PlaneMask, Policy, SkipScope, SprayConfig,
};
use stellar_transport::time::Ticks;
use stellar_wire::host::WqeSize;
use stellar_wire::rows::Row as _;

const RING_LOG2: u8 = 11;

/// Packed records of a queue pair over all 128 paths.
pub struct Registers {
    pub profile: Vec<u32>,
    /// Kind, port and record.
    pub rows: [(ConfigureKind, &'static str, Vec<u32>); 4],
}

impl Registers {
    pub fn new(qp: u32, mtu: u32) -> Self {
        let profile = GeneratedEntropy {
            base: 0xc000,
            stride_log2: 0,
            active: 128,
            backups: 4,
        };
        let nscc = NsccParams::from_path(Ticks::from_us(6), 400, mtu, false).expect("a path");
        let generated = EntropyProfile::generated(profile, HeaderFields::SourcePort);
        let generated = generated.expect("a profile");
        let profile = generated.rows().expect("rows").profile;
        let spray = SprayConfig {
            policy: Policy::Obs,
            paths: 128,
            planes_up: PlaneMask::BOTH,
            seed: qp + 1,
            profile: Arc::new(generated),
            rotation: (qp % 8) as u8,
            skip: SkipScope::default(),
            probe_interval: Ticks::from_us(10),
            base_rtt: Ticks::from_us(6),
            bend_after: 1,
        };
        let config = MrcConfig {
            early_loss: 128,
            coalesce_from: coalesce_from(1024, default_sack_every(mtu), mtu),
            ..MrcConfig::new(nscc, spray)
        };
        let identity = QpIdentity {
            local: qp,
            peer: qp,
            pd: 1,
            mtu,
        };
        let requester = config.row(&identity, qp, Psn::new(0)).pack();
        let spray = config.spray.row(0).pack();
        let nscc = config.nscc.registers().pack();
        let queue = ring(qp).row(mtu, 16).pack();
        Self {
            profile: profile.pack(),
            rows: [
                (ConfigureKind::Requester, "settings_requester", requester),
                (ConfigureKind::Spray, "settings_spray", spray),
                (ConfigureKind::Nscc, "settings_nscc", nscc),
                (ConfigureKind::SendQueue, "settings_queue", queue),
            ],
        }
    }
}

pub fn ring(qp: u32) -> SqRing {
    SqRing {
        base: 0x5000_0000 + 0x2_0000 * u64::from(qp),
        log2_entries: RING_LOG2,
        entry: WqeSize::Bytes64,
    }
}
