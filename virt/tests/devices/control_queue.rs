//! Whatever a guest writes into its control queue, the result is a status and never a panic.

use std::sync::Arc;

use proptest::prelude::*;
use stellar_driver::fake::FakeCard;
use stellar_virt::host::{ControlError, QueuePlace, ServiceError, TURN};
use stellar_wire::vstellar::*;
use virtio_queue::desc::split::Descriptor;
use vm_memory::{Bytes, GuestAddress};

use crate::devices::common::{ports, Guest, Host, MEMORY, SHARED};
use crate::devices::hypervisor::NoIommu;

const NEXT: u16 = 1;
const WRITE: u16 = 2;
/// Address at which tests write messages by hand.
const REQUEST: u64 = MEMORY - 0x2000;
const ANSWER: u64 = MEMORY - 0x1000;

/// A guest that fills its queue by hand.
struct Bare {
    guest: Guest,
    made: u16,
}

impl Bare {
    fn new() -> Self {
        let host = Host::new(0, FakeCard::new(), Box::new(NoIommu));
        let guest = Guest::new(&host, 1);
        Self { guest, made: 0 }
    }

    fn queue(&self) -> QueuePlace {
        self.guest.driver.queue()
    }

    fn store(&self, at: u64, bytes: &[u8]) {
        let memory = &self.guest.memory;
        memory.write_slice(bytes, GuestAddress(at)).unwrap();
    }

    /// Makes a chain available that begins at descriptor `head`.
    fn offer(&mut self, chain: &[Descriptor], head: u16) {
        for (index, descriptor) in (0..).zip(chain) {
            let at = GuestAddress(self.queue().descriptors + 16 * index);
            self.guest.memory.write_obj(*descriptor, at).unwrap();
        }
        let place = u64::from(self.made % self.queue().size);
        self.store(self.queue().available + 4 + 2 * place, &head.to_le_bytes());
        self.made = self.made.wrapping_add(1);
        self.store(self.queue().available + 2, &self.made.to_le_bytes());
    }

    /// Makes a chain available; returns the host's result.
    fn notify(&mut self, chain: &[Descriptor], head: u16) -> Result<usize, ServiceError> {
        self.offer(chain, head);
        self.store(ANSWER, &[0xee; MOST_ANSWER]);
        let id = self.guest.id;
        let host = Arc::clone(&self.guest.host);
        let processed = host.service().process(id);
        processed
    }

    /// Number of bytes that the host reports as written for the last chain.
    fn written(&self) -> u32 {
        let place = u64::from((self.made - 1) % self.queue().size);
        let at = GuestAddress(self.queue().used + 4 + 8 * place + 4);
        self.guest.memory.read_obj(at).unwrap()
    }

    /// The status in the reply.
    fn status(&self) -> Option<Status> {
        let mut bytes = [0; MOST_ANSWER];
        let at = GuestAddress(ANSWER);
        self.guest.memory.read_slice(&mut bytes, at).unwrap();
        Answer::from_bytes(&bytes, Opcode::DestroyQp).ok()?.err()
    }

    fn counters(&self) -> GuestCounters {
        self.guest.host.service().counters(self.guest.id).unwrap()
    }
}

fn read(at: u64, length: usize) -> Descriptor {
    Descriptor::new(at, length as u32, NEXT, 1)
}

fn write(at: u64, length: usize) -> Descriptor {
    Descriptor::new(at, length as u32, WRITE, 0)
}

/// A guest whose ring is full at any time, and one that makes one request. It waits for no more than a turn of the other one.
#[test]
fn a_guest_that_never_stops_delays_another_by_one_turn() {
    let mut flood = Bare::new();
    let host = Arc::clone(&flood.guest.host);
    let mut quiet = Guest::new(&host, 2);
    let request = Request::DestroyQp { qp: 1 }.to_bytes();
    flood.store(REQUEST, &request);
    let chain = [read(REQUEST, request.len()), write(ANSWER, MOST_ANSWER)];
    let mut made = 0;
    for round in 0..100u16 {
        while made < usize::from(QUEUE_SIZE) {
            flood.offer(&chain, 0);
            made += 1;
        }
        host.service().notify(flood.guest.id);
        let (served, processed) = host.service().serve().unwrap();
        assert_eq!((served, processed.unwrap()), (flood.guest.id, TURN));
        made -= TURN;
        if round % 10 == 3 {
            let mut turns = Vec::new();
            let answer = quiet.driver.call(&Request::QueryCounters, || {
                let mut service = host.service();
                service.notify(quiet.id);
                for _ in 0..2 {
                    let (served, processed) = service.serve().unwrap();
                    turns.push((served, processed.unwrap()));
                }
            });
            assert!(matches!(answer, Ok(Answer::Counters(_))));
            assert_eq!(turns, [(flood.guest.id, TURN), (quiet.id, 1)]);
            made -= TURN;
        }
    }
    // What the flood left is processed, and then nobody waits.
    let mut left = 0;
    while let Some((_, processed)) = host.service().serve() {
        left += processed.unwrap();
    }
    assert_eq!(left, made);
}

#[test]
fn chains_that_hold_no_request_are_answered_with_why() {
    let mut bare = Bare::new();
    let good = Request::DestroyQp { qp: 1 }.to_bytes();
    let mut unknown = good.clone();
    unknown[0] = 200;
    let room = write(ANSWER, MOST_ANSWER);
    let cases: [(&[u8], Descriptor, Descriptor, Status); 7] = [
        (&good, read(REQUEST, good.len()), room, Status::BadHandle),
        (
            &unknown,
            read(REQUEST, good.len()),
            room,
            Status::UnknownCommand,
        ),
        // Too short: cut in a field, in the header, empty.
        (
            &good,
            read(REQUEST, good.len() - 1),
            room,
            Status::Malformed,
        ),
        (&good, read(REQUEST, 1), room, Status::Malformed),
        (&good, read(REQUEST, 0), room, Status::Malformed),
        // Addresses outside of the guest's memory.
        (
            &good,
            read(MEMORY - 4, good.len()),
            room,
            Status::BadAddress,
        ),
        // Space for a status only.
        (
            &good,
            read(REQUEST, good.len()),
            write(ANSWER, MOST_ANSWER - 1),
            Status::Malformed,
        ),
    ];
    for (index, (bytes, request, answer, expected)) in cases.into_iter().enumerate() {
        bare.store(REQUEST, bytes);
        assert_eq!(
            bare.notify(&[request, answer], 0).unwrap(),
            1,
            "case {index}"
        );
        assert_eq!(
            (bare.status(), bare.written()),
            (Some(expected), 8),
            "case {index}"
        );
    }
    assert_eq!(bare.counters().refused, 7);
}

#[test]
fn chains_without_room_for_a_status_are_counted_and_given_back() {
    let mut bare = Bare::new();
    let good = Request::AllocPd.to_bytes();
    bare.store(REQUEST, &good);
    let request = read(REQUEST, good.len());
    let alone = Descriptor::new(REQUEST, good.len() as u32, 0, 0);
    let chains: [&[Descriptor]; 5] = [
        &[alone],
        &[request, write(ANSWER, HEADER - 1)],
        &[request, write(MEMORY - 4, MOST_ANSWER)],
        &[request, write(u64::MAX - 8, MOST_ANSWER)],
        // A chain that forms a loop, without a writable descriptor.
        &[request, Descriptor::new(REQUEST, 8, NEXT, 0)],
    ];
    for (index, chain) in (1..).zip(chains) {
        assert_eq!(bare.notify(chain, 0).unwrap(), 1);
        assert_eq!(bare.written(), 0, "chain {index}");
        assert_eq!(bare.counters().unanswerable, index);
    }
    let counters = bare.counters();
    assert_eq!(
        counters.done, 0,
        "none was executed: its answer would be lost"
    );
}

#[test]
fn a_queue_that_breaks_the_rules_stops_until_it_is_set_up_anew() {
    let mut bare = Bare::new();
    // More chains than the queue has descriptors.
    bare.made = QUEUE_SIZE + 1;
    let broken = bare.notify(&[], 0);
    let is_broken = |result: &Result<usize, ServiceError>| {
        matches!(result, Err(ServiceError::Control(ControlError::Broken(_))))
    };
    assert!(is_broken(&broken), "{broken:?}");
    let still = bare.notify(&[], 0);
    let not_ready = |result: &Result<usize, ServiceError>| {
        matches!(result, Err(ServiceError::Control(ControlError::NotReady)))
    };
    assert!(not_ready(&still), "{still:?}");
    // The guest follows the rules again.
    let place = bare.queue();
    bare.store(place.available, &[0; 4]);
    bare.store(place.used, &[0; 4]);
    bare.made = 0;
    bare.guest
        .host
        .service()
        .activate(bare.guest.id, place)
        .unwrap();
    // A head beyond the table.
    let beyond = bare.notify(&[], QUEUE_SIZE);
    assert!(is_broken(&beyond), "{beyond:?}");
    for (size, descriptors, available, used) in [
        (0, 0x1000, 0x2000, 0x3000),
        (3, 0x1000, 0x2000, 0x3000),
        (128, 0x1000, 0x2000, 0x3000),
        (64, 0x1001, 0x2000, 0x3000),
        (64, 0x1000, 0x2001, 0x3000),
        (64, 0x1000, 0x2000, 0x3002),
        (64, MEMORY - 16, 0x2000, 0x3000),
        (64, 0x1000, MEMORY, 0x3000),
        (64, 0x1000, 0x2000, SHARED),
    ] {
        let place = QueuePlace {
            size,
            descriptors,
            available,
            used,
        };
        let set = bare.guest.host.service().activate(bare.guest.id, place);
        let refused = matches!(set, Err(ServiceError::Control(ControlError::Place(_))));
        assert!(refused, "{place:?}");
    }
    let still = bare.notify(&[], 0);
    assert!(not_ready(&still), "{still:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Guests write random requests through valid chains. Every chain is returned, and the neighbour's queue pair does not change.
    #[test]
    fn whatever_a_guest_writes_is_answered(messages in prop::collection::vec((0u8..18, prop::collection::vec(any::<u8>(), 6..MOST_REQUEST)), 1..40)) {
        let mut bare = Bare::new();
        let mut neighbour = Guest::new(&bare.guest.host, 2);
        let pair = neighbour.pair();
        let qp = pair.qp.number();
        for (code, mut message) in messages {
            message[..2].copy_from_slice(&[code, 0]);
            bare.store(REQUEST, &message);
            let chain = [read(REQUEST, message.len()), write(ANSWER, MOST_ANSWER)];
            prop_assert_eq!(bare.notify(&chain, 0).unwrap(), 1);
            prop_assert!(bare.written() >= 8);
        }
        let state = neighbour.call(Request::QueryQp { qp }).unwrap();
        prop_assert_eq!(state, Answer::State(GuestQpState::Reset));
        neighbour.connect(qp, 9, ports(1));
    }
}
