//! Tests the driver over a socket: memory that both sides map, and what remains of it when one side disconnects.

mod served;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::simulation::{data_socket, LOOK, LOOK_AWAY, MOST_SLOTS, RUNG};
use stellar_wire::host::Doorbell;

use super::VfioUser;
use crate::device::{DeviceError, PciFunction};
use crate::error::Error;
use crate::fake;
use crate::{AccessFlags, Context, Modify, QpState, QueuePairConfig};
use served::{Served, VECTORS};

const PAGE: usize = 4096;

fn open(served: &Served) -> Arc<dyn PciFunction> {
    let function = VfioUser::open(served.socket()).unwrap();
    Arc::new(function.with_windows(PAGE))
}

fn bring_up(served: &Served) -> Context {
    fake::open(open(served))
}

#[test]
fn driver_and_card_see_the_same_bytes() {
    let mut served = Served::new();
    let context = bring_up(&served);
    let reached = Arc::clone(&served.reached);
    let before = reached.windows();
    // The last page is used in part.
    let memory = context.alloc(2 * PAGE + 16).unwrap();
    assert_eq!(reached.windows(), before + 3);
    assert_eq!(served.data_reached.windows(), before + 3);
    for offset in [0, PAGE - 8, PAGE, 2 * PAGE + 8] {
        let address = memory.address() + offset as u64;
        let word = 0x1122_3344_5566_0000 + offset as u64;
        memory.write(offset, &word.to_le_bytes()).unwrap();
        assert_eq!(reached.read(address), word);
        reached.write(address, !word);
        assert_eq!(memory.read_word(offset).unwrap(), !word);
    }
    // Across the edge of two windows.
    let mut bytes = [0; 16];
    memory.read(PAGE - 8, &mut bytes).unwrap();
    let words = [PAGE - 8, PAGE].map(|offset| !(0x1122_3344_5566_0000 + offset as u64));
    assert_eq!(bytes, *words.map(u64::to_le_bytes).as_flattened());
    let beyond = memory.read(2 * PAGE + 9, &mut [0; 8]);
    assert!(matches!(beyond, Err(DeviceError::OutsideBuffer { .. })));
    drop(memory);
    assert_eq!(reached.windows(), before);
    drop(context);
    assert!(!served.has_died());
    assert_eq!(reached.windows(), 0);
}

/// The card may have none. The probe refuses one that should have it (`probe.rs`).
#[test]
fn a_data_function_that_is_not_served_does_not_answer() {
    let served = Served::new();
    std::fs::remove_file(data_socket(served.socket())).unwrap();
    let function = VfioUser::open(served.socket()).unwrap();
    assert_ne!(
        function
            .config_load(stellar_wire::host::config_space::Function::Control, 0)
            .unwrap(),
        u32::MAX
    );
    assert_eq!(
        function
            .config_load(stellar_wire::host::config_space::Function::Data, 0)
            .unwrap(),
        u32::MAX
    );
}

#[test]
fn vectors_signal_whoever_waits() {
    let served = Served::new();
    let function = open(&served);
    let event = function.interrupt(7).unwrap();
    let wait = || event.wait(Duration::from_micros(50)).unwrap();
    assert!(!wait());
    served.reached.raise(7);
    assert!(wait());
    assert!(!wait());
    let none = function.interrupt(VECTORS as u16);
    assert!(matches!(none, Err(DeviceError::NoVector { .. })));
}

/// A store to a slot is a plain store. The driver sends a message to have the slot polled, once and whenever the server's clock stands still.
#[test]
fn a_doorbell_is_a_store_to_a_slot_that_is_named_once() {
    let served = Served::new();
    let function = open(&served);
    let ring = |offset, word| function.write64(Bar::Doorbells, offset, word).unwrap();
    let slot = 5 * PAGE as u64 + u64::from(Doorbell::slot(127));
    ring(slot, 0x11);
    assert_eq!(served.reached.take_told(), [(LOOK, slot)]);
    assert_eq!(served.take_slot(slot), RUNG | 0x11);
    ring(slot, 0x22);
    ring(slot, 0x33);
    assert_eq!(served.take_slot(slot), RUNG | 0x33);
    assert_eq!(served.reached.take_told(), []);
    served.stand_still(true);
    ring(slot, 0x44);
    assert_eq!(served.reached.take_told(), [(LOOK, slot)]);
    assert_eq!(served.take_slot(slot), RUNG | 0x44);
    assert_eq!(served.card.take_doorbells(), []);
    // Anywhere else in a page, and in no page, it is a message.
    let first = 5 * PAGE as u64 + u64::from(Doorbell::OFFSET);
    let pushed = u64::from(Doorbell::PUSH_OFFSET);
    ring(first, 0x55);
    ring(pushed, 0x66);
    let messages = [(first, 0x55), (pushed, 0x66)];
    assert_eq!(served.card.take_doorbells(), messages);
    assert_eq!(served.reached.take_told(), []);
}

/// A server polls a limited number of slots, so the driver releases one slot for each further one.
#[test]
fn the_server_is_asked_to_look_at_no_more_slots_than_it_does() {
    let served = Served::new();
    let function = open(&served);
    let slot = |page: usize| (page * PAGE) as u64 + u64::from(Doorbell::slot(0));
    for page in 0..MOST_SLOTS {
        function.write64(Bar::Doorbells, slot(page), 1).unwrap();
    }
    let looks: Vec<_> = (0..MOST_SLOTS).map(|page| (LOOK, slot(page))).collect();
    assert_eq!(served.reached.take_told(), looks);
    let more = slot(MOST_SLOTS);
    function.write64(Bar::Doorbells, more, 1).unwrap();
    let told = served.reached.take_told();
    assert_eq!(told, [(LOOK_AWAY, slot(0)), (LOOK, more)]);
    function.write64(Bar::Doorbells, slot(0), 1).unwrap();
    let told = served.reached.take_told();
    assert_eq!(told, [(LOOK_AWAY, slot(1)), (LOOK, slot(0))]);
}

#[test]
fn doorbells_are_messages_for_who_asks_for_it() {
    let served = Served::new();
    let function = VfioUser::open(served.socket()).unwrap();
    let function: Arc<dyn PciFunction> = Arc::new(function.with_doorbell_messages());
    let slot = u64::from(Doorbell::slot(2));
    function.write64(Bar::Doorbells, slot, 0x77).unwrap();
    assert_eq!(served.card.take_doorbells(), [(slot, 0x77)]);
    assert_eq!(served.take_slot(slot), 0);
    assert_eq!(served.reached.take_told(), []);
}

/// One of everything that holds memory of the card, and the card.
fn everything(context: &Context) -> Vec<Box<dyn Any>> {
    let pd = context.alloc_pd().unwrap();
    let cq = context.create_cq(16, true).unwrap();
    let qp = pd.create_qp(&cq, QueuePairConfig::default()).unwrap();
    qp.modify(Modify::Init(Default::default())).unwrap();
    assert_eq!(qp.state(), QpState::Init);
    let memory = context.alloc(3 * PAGE).unwrap();
    let region = pd.register(memory.clone(), AccessFlags::default());
    let (device, doorbells) = (context.device(), context.doorbells());
    vec![
        Box::new(pd),
        Box::new(cq),
        Box::new(qp),
        Box::new(memory),
        Box::new(region.unwrap()),
        Box::new(device),
        Box::new(doorbells),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn dropped_in_any_order_nothing_stays_mapped(order in Just((0..7usize).collect::<Vec<_>>()).prop_shuffle()) {
        let mut served = Served::new();
        let context = bring_up(&served);
        let mut objects: Vec<Option<_>> = everything(&context).into_iter().map(Some).collect();
        prop_assert_eq!(objects.len(), order.len());
        drop(context);
        for index in order {
            prop_assert!(served.reached.windows() > 0);
            drop(objects[index].take());
        }
        prop_assert!(!served.has_died());
        prop_assert_eq!(served.reached.windows(), 0);
        prop_assert_eq!(served.data_reached.windows(), 0);
    }
}

#[test]
fn memory_outlives_a_server_that_dies() {
    let mut served = Served::new();
    let context = bring_up(&served);
    let objects = everything(&context);
    let memory = context.alloc(PAGE).unwrap();
    memory.write(8, &[0x5a; 8]).unwrap();
    served.reached.die();
    let lost = context.device().fence();
    assert!(matches!(
        lost,
        Err(Error::Device(DeviceError::Backend { .. }))
    ));
    assert!(served.has_died());
    assert_eq!(memory.read_word(8).unwrap(), 0x5a5a_5a5a_5a5a_5a5a);
    assert!(context.alloc(PAGE).is_err());
    drop(objects);
    drop(context);
    assert_eq!(memory.read_word(8).unwrap(), 0x5a5a_5a5a_5a5a_5a5a);
}
