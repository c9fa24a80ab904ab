//! The time that a question may take.

use std::time::Duration;

use hdl_proofs::{decide, named, refute, Limits, Problem, Tools, Verdict};

/// ABC looks at the clock between its steps only.
#[test]
fn an_engine_that_does_not_end_is_stopped_and_the_depth_is_that_of_the_last_search_that_ended() {
    let directory = tempfile::tempdir().unwrap();
    let design = named("credit").unwrap().design().unwrap();
    let tools = Tools::default();
    let problem = Problem::new(&design, directory.path(), &tools, |text| text).unwrap();
    let hanging = Tools {
        abc: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hanging_abc.sh").into(),
        ..tools
    };
    let limits = Limits {
        depth: 20,
        seconds: 0,
    };
    let (verdict, time) = decide(&problem, 0, limits, &hanging).unwrap();
    assert!(matches!(verdict, Verdict::Bounded(4)), "{verdict:?}");
    // The first search, that for an invariant, and that of 8 cycles.
    assert!(time < Duration::from_secs(60), "{time:?}");
    assert!(!refute(&problem, 0, limits, &hanging).unwrap());
}
