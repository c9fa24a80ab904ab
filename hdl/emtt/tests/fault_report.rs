//! Reports of page faults against a model of a few lines, on random tokens with random stalls.

use hdl_emtt::fault_report::{FaultReport, AGAIN_BITS};
use hdl_testkit::library;
use proptest::prelude::*;
use rust_hdl::prelude::*;
use sim_verilated::Model;
use stellar_wire::hw::core::{TokenKind, TranslatedToken};
use stellar_wire::hw::frame::DropReason;
use stellar_wire::hw::pack::to_words;

/// A cycle: the token, the page it lacks, whether the event queue takes a report.
#[derive(Clone, Copy, Debug)]
struct Clock {
    token: Option<Token>,
    ready: bool,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: TokenKind,
    earlier: DropReason,
    access: DropReason,
    mrc: bool,
    rkey: u32,
    va: u64,
    page: u32,
}

impl Token {
    fn faults(&self) -> bool {
        self.kind == TokenKind::Packet
            && self.earlier == DropReason::None
            && self.access == DropReason::PageAbsent
            && self.mrc
    }

    fn to_hw(self) -> TranslatedToken {
        let mut token = TranslatedToken {
            reason: self.earlier,
            access_reason: self.access,
            ..TranslatedToken::default()
        };
        token.token.kind = self.kind;
        token.token.headers.mrc = self.mrc;
        token.token.headers.rkey = self.rkey.to_bits();
        token.token.headers.va = self.va.to_bits();
        token
    }
}

fn token() -> impl Strategy<Value = Token> {
    let kind = prop_oneof![
        12 => Just(TokenKind::Packet),
        1 => Just(TokenKind::Table),
        1 => Just(TokenKind::Fence),
        1 => Just(TokenKind::Error),
    ];
    let earlier = prop_oneof![8 => Just(DropReason::None), 1 => Just(DropReason::WrongState)];
    let access = prop_oneof![
        6 => Just(DropReason::PageAbsent),
        1 => Just(DropReason::None),
        1 => Just(DropReason::InvalidPage),
    ];
    (
        kind,
        earlier,
        access,
        prop::bool::weighted(0.9),
        any::<u32>(),
        any::<u64>(),
        0..3u32,
    )
        .prop_map(|(kind, earlier, access, mrc, rkey, va, page)| Token {
            kind,
            earlier,
            access,
            mrc,
            rkey,
            va,
            page,
        })
}

fn clocks() -> impl Strategy<Value = Vec<Clock>> {
    let clock = (prop::option::weighted(0.6, token()), any::<bool>())
        .prop_map(|(token, ready)| Clock { token, ready });
    prop::collection::vec(clock, 1..300)
}

/// The reports that the block must make. A report stays until it is accepted, and the page that was reported last is not reported again.
#[derive(Default)]
struct Reference {
    waits: Option<(u32, u64)>,
    last: Option<u32>,
}

impl Reference {
    fn clock(&mut self, clock: Clock) {
        let waited = self.waits.is_some();
        if clock.ready {
            self.waits = None;
        }
        let Some(token) = clock.token else { return };
        let known = self.last == Some(token.page);
        if token.kind == TokenKind::Table {
            self.last = None;
        }
        if token.faults() && !waited && !known {
            self.waits = Some((token.rkey >> 8, token.va));
            self.last = Some(token.page);
        }
    }
}

fn drive(model: &mut Model, clock: Clock) {
    let port = |name: &str| model.port(name).unwrap();
    let (in_valid, in_token, in_page, ready) = (
        port("in_valid"),
        port("in_token"),
        port("in_page"),
        port("fault_ready"),
    );
    model.set_u64(in_valid, clock.token.is_some().into());
    if let Some(token) = clock.token {
        model.set(in_token, &to_words(token.to_hw()));
        model.set_u64(in_page, token.page.into());
    }
    model.set_u64(ready, clock.ready.into());
}

fn reported(model: &Model) -> Option<(u32, u64)> {
    let value = |name: &str| model.get_u64(model.port(name).unwrap());
    (value("fault_valid") != 0).then(|| (value("fault_region") as u32, value("fault_va")))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The test is much shorter than the period after which a page is reported again.
    #[test]
    fn faults_are_reported_as_by_the_reference(clocks in clocks()) {
        let mut model = library::<FaultReport>().instantiate();
        let clock_port = model.port("clock").unwrap();
        let mut reference = Reference::default();
        for clock in clocks {
            prop_assert_eq!(reported(&model), reference.waits);
            drive(&mut model, clock);
            model.clock(clock_port);
            reference.clock(clock);
        }
    }
}

/// A report may have been lost in a full ring.
#[test]
fn a_page_that_stays_away_is_reported_again_after_a_while() {
    let mut model = library::<FaultReport>().instantiate();
    let clock_port = model.port("clock").unwrap();
    let fault = Clock {
        token: Some(Token {
            kind: TokenKind::Packet,
            earlier: DropReason::None,
            access: DropReason::PageAbsent,
            mrc: true,
            rkey: 0x1234,
            va: 0x5000,
            page: 7,
        }),
        ready: true,
    };
    let mut reports = 0;
    for _ in 0..(4 << AGAIN_BITS) + 8 {
        drive(&mut model, fault);
        model.clock(clock_port);
        reports += u32::from(reported(&model).is_some());
    }
    assert_eq!(reports, 5, "the first, and one for each time that passed");
}
