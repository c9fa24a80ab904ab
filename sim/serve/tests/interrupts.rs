//! The eventfds of interrupt vectors change while the card raises the vectors.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sim_nic::PcieSettings;
use sim_serve::Server;
use stellar_driver::{
    AsyncEvent, Context, DeviceConfig, Interrupt, PciFunction, PortAddress, Probe, VfioUser,
};
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::registers::EVENT_CONSUMER;
use stellar_wire::host::{ConsumerIndex, Doorbell};

/// Vector of the event queue.
const EVENTS: u16 = 0;
/// A queue pair that does not exist.
const NOBODYS: u32 = 77;
/// Longest time that the card may take to raise a vector, on its own clock.
const SOON: Duration = Duration::from_micros(20);

fn bring_up(socket: &Path) -> (Arc<dyn PciFunction>, Context) {
    let function: Arc<dyn PciFunction> = Arc::new(VfioUser::open(socket).unwrap());
    let ports = [0, 1].map(|plane| PortAddress {
        mac: [2, 0, 0, plane, 0, 1],
        ip: [10, plane, 0, 1].into(),
    });
    let probe = Probe::new(Arc::clone(&function)).unwrap();
    let device = probe.bring_up(DeviceConfig::new(ports, 1)).unwrap();
    (function, device.open().unwrap())
}

/// Makes the card raise the vector of its event queue, from which `taken` events were read: rings for a queue pair of another page.
fn provoke(function: &dyn PciFunction, context: &Context, taken: u32) {
    assert_eq!(context.poll_event().unwrap(), None);
    // The event queue must be armed first. It is the card's own, and contexts that have one of their own do not wait for it.
    let arms = ConsumerIndex {
        qp: 0,
        index: taken,
        arm: true,
    };
    let at = EVENT_CONSUMER.offset.into();
    let word = u64::from_le_bytes(arms.to_bytes());
    function.write64(Bar::Registers, at, word).unwrap();
    let doorbell = Doorbell {
        qp: NOBODYS,
        producer: 1,
    };
    let word = u64::from_le_bytes(doorbell.to_bytes());
    let page = context.doorbells();
    page.store(Doorbell::OFFSET.into(), word).unwrap();
}

fn is_raised(vector: &Arc<dyn Interrupt>, within: Duration) -> bool {
    vector.wait(within).unwrap()
}

#[test]
fn a_vector_that_is_pointed_elsewhere_in_use_loses_no_interrupt() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &PcieSettings::default()).unwrap();
    let (function, context) = bring_up(server.sockets()[0]);
    let mut old = function.interrupt(EVENTS).unwrap();
    for round in 0..12 {
        provoke(function.as_ref(), &context, round);
        // The message leaves the card before, during or after this change.
        for _ in 0..round {
            context.device().fence().unwrap();
        }
        let new = function.interrupt(EVENTS).unwrap();
        let raised = [is_raised(&new, SOON), is_raised(&old, Duration::ZERO)];
        assert_eq!(
            raised.iter().filter(|raised| **raised).count(),
            1,
            "{round}: {raised:?}"
        );
        let refused = AsyncEvent::DoorbellRefused {
            page: context.page().into(),
            qp: NOBODYS,
        };
        assert_eq!(context.poll_event().unwrap(), Some(refused));
        old = new;
    }
    // The old eventfd gets no more signals.
    let last = function.interrupt(EVENTS).unwrap();
    provoke(function.as_ref(), &context, 12);
    assert!(is_raised(&last, SOON) && !is_raised(&old, Duration::ZERO));
}
