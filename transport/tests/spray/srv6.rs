//! Source routes from entropy values.

use std::net::Ipv6Addr;
use std::sync::Arc;

use proptest::prelude::*;
use stellar_transport::spray::{
    EntropyField, EntropyProfile, GeneratedEntropy, HeaderFields, Policy, Spray, SprayConfig,
    Srv6Template, TemplateError,
};
use stellar_wire::UsidContainer;

use crate::spray::common::{config, next};

const BLOCK: u32 = 0xfcbb_bb00;
/// Generated values of stride 1 with the plane in bit 0: the slot follows.
const SLOT: EntropyField = EntropyField { low: 1, bits: 6 };

fn container(usids: &[u16]) -> UsidContainer {
    UsidContainer::new(BLOCK, usids).expect("a path")
}

fn spray(paths: u8) -> Spray {
    let generated = GeneratedEntropy {
        base: 0xc000,
        stride_log2: 0,
        active: paths,
        backups: 0,
    };
    let profile =
        EntropyProfile::generated(generated, HeaderFields::SourcePort).expect("a usual profile");
    Spray::new(SprayConfig {
        profile: Arc::new(profile),
        ..config(Policy::Obs, paths)
    })
    .expect("usual")
}

#[test]
fn plane_goes_into_every_usid_and_the_uplink_into_that_of_t1() {
    // Own leaf, spine, far leaf, host; planes 0x1000 apart.
    let template = Srv6Template::new(
        container(&[0x0111, 0x0200, 0x0133, 0x0444]),
        0x1000,
        1,
        SLOT,
    )
    .expect("a template");
    let mut spray = spray(120);
    let mut spines = std::collections::BTreeSet::new();
    for _ in 0..120 {
        let path = next(&mut spray);
        let plane = u16::from(path.plane) * 0x1000;
        let uplink = u16::from(path.index.value() / 2);
        let expected = container(&[
            0x0111 + plane,
            0x0200 + plane + uplink,
            0x0133 + plane,
            0x0444 + plane,
        ]);
        let address = template.outer_destination(&path);
        assert_eq!(UsidContainer::from(address), expected);
        spines.insert(expected.usids[1]);
    }
    assert_eq!(spines.len(), 120, "a spine of its own for every path");
}

#[test]
fn the_address_is_what_a_controller_would_write() {
    let template = Srv6Template::new(container(&[0x0010, 0x0100]), 0, 0, SLOT).expect("a template");
    let mut spray = spray(2);
    let path = next(&mut spray);
    assert_eq!(
        template.outer_destination(&path),
        "fcbb:bb00:10:100::"
            .parse::<Ipv6Addr>()
            .expect("an address")
    );
}

proptest! {
    /// Walking the container visits each node of the path once and ends where the template ends.
    #[test]
    fn nodes_are_visited_in_order(
        usids in prop::collection::vec(1_u16..0x4000, 1..=6),
        t1 in any::<prop::sample::Index>(),
        plane_step in 0_u16..0x4000,
        seed_packets in 1_usize..200,
    ) {
        let t1 = t1.index(usids.len());
        let template = Srv6Template::new(container(&usids), plane_step, t1, SLOT).expect("a template");
        let mut spray = spray(128);
        let path = (0..seed_packets).map(|_| next(&mut spray)).last().expect("a packet");
        let mut at = Some(UsidContainer::from(template.outer_destination(&path)));
        for (position, &usid) in usids.iter().enumerate() {
            let here = at.expect("not at the end yet");
            let uplink = if position == t1 { path.index.value() / 2 } else { 0 };
            prop_assert_eq!(here.active(), usid + u16::from(path.plane) * plane_step + u16::from(uplink));
            prop_assert_eq!(here.block, BLOCK);
            at = here.next();
        }
        prop_assert_eq!(at, None);
    }
}

#[test]
fn a_template_is_refused_with_what_is_wrong() {
    let refused = |path, step, t1, field| {
        Srv6Template::new(path, step, t1, field).expect_err("should be refused")
    };
    let empty = UsidContainer {
        block: BLOCK,
        usids: [0; 6],
    };
    assert_eq!(
        refused(empty, 0, 0, SLOT),
        TemplateError::Gap { position: 0 }
    );
    let gap = UsidContainer {
        block: BLOCK,
        usids: [1, 0, 3, 0, 0, 0],
    };
    assert_eq!(refused(gap, 0, 0, SLOT), TemplateError::Gap { position: 1 });
    let path = container(&[0x10, 0x20, 0xffc1]);
    assert_eq!(
        refused(path, 0, 3, SLOT),
        TemplateError::Position {
            position: 3,
            length: 3
        }
    );
    for (low, bits) in [(0, 0), (0, 17), (20, 13), (32, 1), (255, 255)] {
        assert_eq!(
            refused(path, 0, 0, EntropyField { low, bits }),
            TemplateError::Field { low, bits }
        );
    }
    assert_eq!(
        refused(path, 0, 2, SLOT),
        TemplateError::Overflow {
            position: 2,
            largest: 0x1_0000
        }
    );
    assert_eq!(
        refused(path, 0x40, 0, SLOT),
        TemplateError::Overflow {
            position: 2,
            largest: 0x1_0001
        }
    );
    assert!(Srv6Template::new(path, 0x3e, 1, SLOT).is_ok());
}
