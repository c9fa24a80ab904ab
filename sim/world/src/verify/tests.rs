//! Every kind of error is found.

use sim_net::Topology;
use stellar_transport::endpoint::Memory;
use stellar_transport::rx::{Owner, WriteTlp};

use super::verify;
use crate::pair::{RECEIVER, SENDER};
use crate::scenario::{Scenario, Setup};
use crate::transfer::{run, Transfer, LEAF_SPINE, LEAF_SPINE_FILE};
use crate::{CheckError, Nic, Plan, ReferenceNic, RegionId};

/// A correct run: messages of 0 to 8,192 bytes in one region per host.
fn good() -> crate::pair::PairWorld {
    let scenario = Scenario::find("tiny-messages").expect("it is in the list");
    let world = scenario.run(&Setup::full(1)).expect("it ends well").world;
    assert!(verify(&world).is_ok());
    world
}

/// Bus address of the first byte of the receiver's buffer.
fn first_byte(world: &crate::pair::PairWorld) -> u64 {
    world.host(RECEIVER).region(RegionId(0)).locate(0).0
}

fn tlp(address: u64, at: u8) -> WriteTlp {
    WriteTlp {
        address: address & !3,
        at,
        length_dw: 1,
        first_be: 0xf,
        last_be: 0,
        data: vec![0; 4],
    }
}

#[test]
fn a_wrong_byte() {
    let mut world = good();
    let address = first_byte(&world);
    let memory = world.host_mut(RECEIVER).nic.memory_mut();
    let mut byte = [0];
    memory.load(Owner::Gpu, address, &mut byte);
    memory.store(Owner::Gpu, address, &[!byte[0]]);
    let error = verify(&world).expect_err("the byte is wrong");
    let CheckError::Content {
        offset: 0,
        found,
        expected,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(found, !expected);
}

#[test]
fn a_byte_outside_every_message() {
    let mut world = good();
    let address = first_byte(&world) - 64;
    world
        .host_mut(RECEIVER)
        .nic
        .memory_mut()
        .write(&tlp(address, 2));
    let error = verify(&world).expect_err("nobody sent that");
    assert!(
        matches!(error, CheckError::Stray { written, expected, .. } if written == expected + 4),
        "{error}"
    );
}

#[test]
fn a_write_to_memory_that_is_not_there_or_with_the_wrong_address_type() {
    for (offset, at) in [(1 << 40, 2), (0, 0)] {
        let mut world = good();
        let address = first_byte(&world) + offset;
        world
            .host_mut(RECEIVER)
            .nic
            .memory_mut()
            .write(&tlp(address, at));
        let error = verify(&world).expect_err("nothing is mapped there");
        assert!(
            matches!(error, CheckError::Unmapped { count: 1, .. }),
            "{error}"
        );
    }
}

#[test]
fn completions_out_of_order_and_completions_of_what_was_not_posted() {
    let mut world = good();
    world.host_mut(SENDER).completions.swap(1, 2);
    let error = verify(&world).expect_err("swapped");
    assert!(
        matches!(error, CheckError::Order { found: 2, .. }),
        "{error}"
    );

    let mut world = good();
    let last = *world.host(SENDER).completions().last().expect("some");
    world.host_mut(SENDER).completions.push(last);
    let error = verify(&world).expect_err("one too many");
    assert!(
        error.to_string().contains("where nothing was due"),
        "{error}"
    );
}

#[test]
fn immediates_out_of_order_and_immediates_that_were_not_sent() {
    let received = || {
        let topology = Topology::from_toml(LEAF_SPINE_FILE, LEAF_SPINE).expect("it is valid");
        let plan = Plan::new(topology, 1).expect("it has hosts");
        let transfer = Transfer {
            messages: 8,
            immediates: true,
            ..Transfer::whole(64)
        };
        let world = run::<ReferenceNic>(&plan, transfer).expect("it ends well");
        let world = world.world;
        assert_eq!(world.host(RECEIVER).completions().len(), 8);
        world
    };
    let mut world = received();
    world.host_mut(RECEIVER).completions.swap(1, 2);
    let error = verify(&world).expect_err("swapped");
    assert!(
        matches!(error, CheckError::Immediate { found: 2, .. }),
        "{error}"
    );

    let mut world = received();
    let again = world.host(RECEIVER).completions()[7];
    world.host_mut(RECEIVER).completions.push(again);
    let error = verify(&world).expect_err("received twice");
    assert!(
        matches!(&error, CheckError::Immediate { found: 7, expected, .. } if expected == "nothing"),
        "{error}"
    );
}
