//! The driver over a socket: memory that both sides map, and what is left of it when one side goes.

mod served;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::VfioUser;
use crate::device::{DeviceError, PciFunction};
use crate::error::Error;
use crate::{
    AccessFlags, Context, DeviceConfig, Modify, PortAddress, Probe, QpState, QueuePairConfig,
};
use served::{Served, VECTORS};

const PAGE: usize = 4096;

fn open(served: &Served) -> Arc<dyn PciFunction> {
    let function = VfioUser::open(served.socket()).unwrap();
    Arc::new(function.with_windows(PAGE))
}

fn bring_up(served: &Served) -> Context {
    let ports = [1, 2].map(|last| PortAddress {
        mac: [2, 0, 0, 0, 0, last],
        ip: [10, 0, 0, last].into(),
    });
    let probe = Probe::new(open(served)).unwrap();
    let device = probe.bring_up(DeviceConfig::new(ports, 1)).unwrap();
    device.open().unwrap()
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
