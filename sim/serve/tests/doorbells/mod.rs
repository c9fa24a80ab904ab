//! Doorbells as stores into mapped pages, compared with doorbells as messages.

mod ends;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sim_serve::Server;
use stellar_driver::*;
use stellar_wire::host::simulation::{LOOK, PAGES_REGION, REGION, RUNG};
use stellar_wire::host::Doorbell;
use vfio_user::Client;
use vm_memory::{Bytes, MmapRegion, VolatileMemory};

use ends::{connect, ends, serve, traffic, End, Way, QPS, TIMEOUT, WALL};

/// Bursts of WRITEs, each of one queue pair.
type Script = Vec<Vec<usize>>;

/// Results of a script, and the cost of posting.
#[derive(Default)]
struct Outcome {
    /// Completions of every queue pair, in order of arrival.
    completed: Vec<Vec<(u64, WcStatus)>>,
    posted: u64,
    messages: u64,
    wall: Duration,
}

/// Posts burst by burst, and reads completions after each.
fn run(server: &Server, ends: &[End; 2], script: &Script, outcome: &mut Outcome) {
    outcome.completed.resize(QPS, Vec::new());
    for burst in script {
        let (before, began) = (traffic(server), Instant::now());
        for qp in burst {
            outcome.posted += 1;
            ends[0].post(&ends[1], *qp, outcome.posted);
        }
        outcome.wall += began.elapsed();
        outcome.messages += traffic(server).messages - before.messages;
        let found = ends[0].completed(burst.len());
        for (all, found) in outcome.completed.iter_mut().zip(found) {
            all.extend(found);
        }
    }
}

/// Doorbells between two polls of the server, in any order, have the same completions as doorbells that are messages, and need almost no messages.
#[test]
fn stores_complete_what_messages_complete() {
    let burst = prop::collection::vec(0..QPS, 8..24);
    let strategy = prop::collection::vec(burst, 1..4);
    let mut runner = TestRunner::deterministic();
    let scripts: [Script; 4] = [(); 4].map(|()| strategy.new_tree(&mut runner).unwrap().current());
    let (_directory, server) = serve();
    let [stores, messages] = [Way::Stores, Way::Messages].map(|way| {
        let ends = ends(&server, way);
        let before = traffic(&server);
        let mut outcome = Outcome::default();
        for script in &scripts {
            // A queue pair starts again, and rings with the same words as before.
            connect(&ends);
            run(&server, &ends, script, &mut outcome);
        }
        let taken = traffic(&server).doorbells - before.doorbells;
        assert_eq!(taken > 0, way == Way::Stores, "{taken} of {way:?}");
        let each = outcome.wall.as_nanos() as f64 / 1e3 / outcome.posted as f64;
        println!(
            "{way:?}: {} WRITEs posted with {} messages, {each:.1} us of wall time each",
            outcome.posted, outcome.messages
        );
        outcome
    });
    let posted = scripts.iter().flatten().flatten().count() as u64;
    assert_eq!((stores.posted, messages.posted), (posted, posted));
    assert_eq!(stores.completed, messages.completed);
    let completed = stores.completed.iter().flatten();
    assert_eq!(completed.clone().count() as u64, posted);
    assert!(completed.clone().all(|done| done.1 == WcStatus::Success));
    // With messages there is one message per doorbell. With stores there is one per slot, and one for each time that the clock stops.
    assert_eq!(messages.messages, posted);
    assert!(stores.messages * 4 < posted, "{} messages", stores.messages);
}

/// A store wakes a server whose clock is stopped. While the clock runs, a store needs no message.
#[test]
fn a_store_wakes_a_clock_that_stands_still() {
    let (_directory, server) = serve();
    let ends = ends(&server, Way::Stores);
    for round in 0..2 {
        // Reading from the server wakes it, so it stops again after that.
        let before = traffic(&server);
        ends[0].rest();
        for wr_id in 0..16 {
            ends[0].post(&ends[1], wr_id as usize % QPS, wr_id);
        }
        let after = traffic(&server);
        let messages = after.messages - before.messages;
        // In the first round, messages name the slots to the server.
        let most = if round == 0 { 2 * QPS as u64 } else { 4 };
        assert!(
            (1..=most).contains(&messages),
            "round {round}: {messages} messages"
        );
        // No wait and no message follow, so completions are due to the stores.
        let deadline = Instant::now() + WALL;
        let mut done = 0;
        while done < 16 {
            assert!(Instant::now() < deadline, "{done} of 16 in round {round}");
            std::thread::sleep(Duration::from_millis(1));
            done += ends[0].cq.poll(16).unwrap().len();
        }
    }
    let after = traffic(&server);
    assert!(after.doorbells > 0);
}

/// A slot of a page rings only for the page's queue pairs, whatever word it contains. Every refusal is reported.
#[test]
fn a_slot_rings_for_no_queue_pair_of_another_page() {
    let (_directory, server) = serve();
    let ends = ends(&server, Way::Stores);
    let other = ends[0].context.device().open().unwrap();
    let page = other.doorbells();
    let rung = traffic(&server).doorbells;
    let victim = ends[0].qps[0].number();
    let doorbell = Doorbell {
        qp: victim,
        producer: 1,
    };
    let word = u64::from_le_bytes(doorbell.to_bytes());
    for slot in [0, 1, Doorbell::SLOT_COUNT - 1] {
        page.store(Doorbell::slot(slot).into(), word).unwrap();
    }
    assert_eq!(traffic(&server).doorbells - rung, 3);
    let refused = AsyncEvent::DoorbellRefused {
        page: other.page().into(),
        qp: victim,
    };
    for _ in 0..3 {
        assert_eq!(other.wait_event(TIMEOUT).unwrap(), Some(refused));
    }
    assert_eq!(other.poll_event().unwrap(), None);
    assert_eq!(ends[0].context.poll_event().unwrap(), None);
    // The queue pair is not affected.
    ends[0].post(&ends[1], 0, 5);
    assert_eq!(ends[0].completed(1)[0], [(5, WcStatus::Success)]);
}

/// The doorbell pages of a connection.
fn map(client: &Client) -> MmapRegion {
    let region = client.region(PAGES_REGION).unwrap();
    let file = region.file_offset.clone().unwrap();
    MmapRegion::from_file(file, region.size as usize).unwrap()
}

#[test]
fn a_driver_that_goes_leaves_zeros_and_has_no_way_into_the_next_ones_pages() {
    let (_directory, server) = serve();
    let slot = u64::from(Doorbell::slot(3));
    let connect = || Client::new(server.sockets()[0]).unwrap();
    let look = |client: &mut Client| {
        let word = slot.to_le_bytes();
        client.region_write(REGION, LOOK, &word).unwrap();
    };
    let ring = |memory: &MmapRegion| {
        let memory = memory.as_volatile_slice();
        let stored = memory.store((RUNG | 1).to_le(), slot as usize, Ordering::Release);
        stored.unwrap();
    };
    let mut first = connect();
    let old = map(&first);
    ring(&old);
    look(&mut first);
    assert_eq!(traffic(&server).doorbells, 1);
    // The word is not taken before the driver disconnects.
    first.shutdown().unwrap();
    drop(first);
    let mut second = connect();
    ring(&old);
    let new = map(&second);
    let word: u64 = new
        .as_volatile_slice()
        .load(slot as usize, Ordering::Acquire)
        .unwrap();
    assert_eq!(word, 0);
    look(&mut second);
    assert_eq!(
        traffic(&server).doorbells,
        1,
        "the first driver rang in the second's page"
    );
    ring(&new);
    look(&mut second);
    assert_eq!(traffic(&server).doorbells, 2);
    // Memory space is off: the card has accepted none of them.
    assert_eq!(server.counts(0).unwrap().refused, 2);
}
