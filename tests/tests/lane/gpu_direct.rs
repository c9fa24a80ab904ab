//! The owner in the eMTT and the switch's ACS setting decide whether a write to GPU memory passes the root complex.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sim_cosim::traffic::{Message, Wrapping};
use sim_cosim::{LaneWidth, MemoryMap, RegionSpec, Session, SessionConfig};
use sim_pcie::{AcsConfig, Refusal, Route};
use stellar_transport::rx::{Owner, PageSize, QpMode};

const QP: u32 = 9;
const RKEY: u32 = 0x0377;
const VA: u64 = 0x7000_0000_0000;

/// Receives one 3,000-byte WRITE into a region whose pages all belong to `owner`.
fn receive(owner: Owner, acs: AcsConfig) -> Session {
    let width = LaneWidth::Bits1024;
    let config = SessionConfig {
        acs,
        ..SessionConfig::new(width)
    };
    let mut session = Session::new(super::library(width), &config).unwrap();
    session.write_qp(QP, super::ready(QpMode::Mrc, 0)).unwrap();
    let writes = session.map.add_region(
        &mut session.world.fabric,
        RegionSpec {
            rkey: RKEY,
            pd: super::PD,
            va: VA,
            length: 8192,
            page: PageSize::Size4K,
        },
        |_| owner,
    );
    for write in &writes {
        session.write_table(write).unwrap();
    }
    session.world.settle().unwrap();
    let data: Vec<u8> = (0..3000u32).map(|i| (i * 7 + 1) as u8).collect();
    let message = Message {
        mrc: true,
        qp: QP,
        psn: 0,
        msn: 0,
        va: VA + 2001,
        rkey: RKEY,
        data: &data,
        mtu: 1024,
        immediate: None,
        wrapping: Wrapping::default(),
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let frames: Vec<Vec<u8>> = message
        .frames(&mut rng)
        .iter()
        .map(|f| f.emit().unwrap())
        .collect();
    for frame in &frames {
        session.receive(frame.clone(), false);
    }
    session.settle_and_compare().unwrap();
    session.expect_packets(&frames, 0);
    session
}

#[test]
fn a_gpu_owned_page_is_reached_without_the_root_complex() {
    let session = receive(Owner::Gpu, MemoryMap::stellar_acs());
    let placed = session.verify_memory().unwrap();
    assert_eq!((placed.gpu, placed.host), (3000, 0));
    assert_eq!(session.bytes_by(Route::PeerDirect), 3000);
    assert_eq!(
        session.bytes_by(Route::Host) + session.bytes_by(Route::Hairpin),
        0
    );
    assert_eq!(session.tlps_by_at().1, 0, "every TLP is translated");
}

#[test]
fn with_the_owner_flipped_to_host_the_same_traffic_goes_through_the_iommu() {
    let session = receive(Owner::Host, MemoryMap::stellar_acs());
    let placed = session.verify_memory().unwrap();
    assert_eq!((placed.gpu, placed.host), (0, 3000));
    assert_eq!(session.bytes_by(Route::Host), 3000);
    assert_eq!(session.bytes_by(Route::PeerDirect), 0);
    assert_eq!(session.tlps_by_at().0, 0, "no TLP is translated");
    let iotlb = session.world.fabric.iommu().counters();
    assert!(
        iotlb.iotlb_hits + iotlb.iotlb_misses > 0,
        "the IOMMU translated"
    );
}

#[test]
fn with_translation_blocking_it_is_refused_and_reported() {
    let acs = AcsConfig {
        translation_blocking: true,
        ..MemoryMap::stellar_acs()
    };
    let mut session = receive(Owner::Gpu, acs);
    assert!(session.verify_memory().is_err(), "nothing may arrive");
    assert_eq!(session.world.fabric.gpu(0).touched_bytes(), 0);
    let refused = session
        .world
        .fabric
        .counters()
        .refused(Refusal::AcsTranslationBlocking);
    assert_eq!(refused.bytes, 3000);
    let reports = session.world.fabric.take_reports();
    assert_eq!(reports.len() as u64, refused.tlps);
    assert!(reports
        .iter()
        .all(|r| r.refusal == Refusal::AcsTranslationBlocking));
}
