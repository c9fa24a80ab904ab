//! The token queue alone, against a list: every frame and every lost frame comes out once, in order, however the two mix.

use std::collections::VecDeque;

use hdl_rx_pipeline::frame_verdict::JudgedFrame;
use hdl_rx_pipeline::TokenQueue;
use hdl_testkit::library;
use proptest::prelude::*;
use proptest::test_runner::Config;
use stellar_wire::hw::core::{BufferSpan, CoreToken};
use stellar_wire::hw::frame::PacketHeaders;
use stellar_wire::hw::pack::{to_words, Record};

/// The input: nothing, a frame, or a lost frame.
#[derive(Clone, Copy, Debug)]
enum Arrival {
    Nothing,
    Frame,
    Lost,
}

fn judged(number: u32) -> JudgedFrame {
    JudgedFrame {
        span: BufferSpan {
            start: u64::from(number & 0xfff).into(),
            beats: 1u64.into(),
        },
        headers: PacketHeaders {
            psn: u64::from(number).into(),
            ..PacketHeaders::default()
        },
    }
}

/// Feeds `arrivals` while the core accepts a token whenever `taking` says so (repeated). Then drains everything.
fn run(arrivals: &[Arrival], taking: &[bool]) {
    let mut model = library::<TokenQueue>().instantiate();
    let port = |name| model.port(name).expect("a port of the queue");
    let (clock, reset) = (port("clock"), port("reset"));
    let (in_valid, in_frame, in_lost) = (port("in_valid"), port("in_frame"), port("in_lost"));
    let (out_valid, out_token, out_ready) =
        (port("out_valid"), port("out_token"), port("out_ready"));
    model.set_u64(reset, 1);
    model.clock(clock);
    model.set_u64(reset, 0);

    let mut expected: VecDeque<Option<u32>> = VecDeque::new();
    let mut offered: Option<Vec<u32>> = None;
    let drain = std::iter::repeat_n(&Arrival::Nothing, 2 * arrivals.len() + 10);
    for (n, arrival) in arrivals.iter().chain(drain).enumerate() {
        let number = n as u32;
        match arrival {
            Arrival::Nothing => {}
            Arrival::Frame => expected.push_back(Some(number)),
            Arrival::Lost => expected.push_back(None),
        }
        model.set_u64(in_valid, matches!(arrival, Arrival::Frame).into());
        model.set_u64(in_lost, matches!(arrival, Arrival::Lost).into());
        if matches!(arrival, Arrival::Frame) {
            model.set(in_frame, &to_words(judged(number)));
        }
        let ready = n >= arrivals.len() || taking[n % taking.len()];
        model.set_u64(out_ready, ready.into());
        let valid = model.get_u64(out_valid) == 1;
        let words = model.get_words(out_token).to_vec();
        if let Some(before) = offered.take() {
            assert!(valid, "an offered token was withdrawn");
            assert_eq!(words, before, "an offered token changed");
        }
        if valid && ready {
            let token = Record::<CoreToken>::new(&words);
            match expected.pop_front().expect("nothing is owed") {
                Some(number) => {
                    assert_eq!(token.variant("headers.reason"), "DropReason::None");
                    assert_eq!(token.u64("headers.psn"), u64::from(number));
                    assert_eq!(token.u64("span.beats"), 1);
                }
                None => {
                    assert_eq!(token.variant("headers.reason"), "DropReason::BufferFull");
                    assert_eq!(token.u64("span.beats"), 0);
                }
            }
        } else if valid {
            offered = Some(words);
        }
        model.clock(clock);
    }
    assert_eq!(expected.len(), 0, "all comes out");
}

proptest! {
    #![proptest_config(Config { cases: 60, failure_persistence: None, ..Config::default() })]

    #[test]
    fn frames_and_lost_frames_leave_in_order(
        arrivals in proptest::collection::vec(
            prop_oneof![Just(Arrival::Nothing), Just(Arrival::Frame), Just(Arrival::Lost)],
            1..300,
        ),
        taking in proptest::collection::vec(any::<bool>(), 1..40),
    ) {
        run(&arrivals, &taking);
    }
}
