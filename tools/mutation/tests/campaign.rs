//! A campaign on a small design: a mutant that the tests can see is killed, and one that does the same survives.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use sim_verilated::{ModelSpec, Port};
use stellar_mutation::campaign::{Campaign, Fate, Judged};
use stellar_mutation::discovery::{discover, Test};
use stellar_mutation::explained::{refuse_stale, Explanation, Verdict};
use stellar_mutation::plan::{self, Block, Mutant};
use stellar_mutation::programs::Program;
use stellar_mutation::report::Report;

/// Counts to 9 and begins again. The second condition always holds where it is looked at, and the test below does not drive `down`.
const DECADE: &str = "\
// Generated from small::Decade
module decade(input wire clock, input wire enable, input wire down, output reg [3:0] count);
  always @(posedge clock) begin
    if (enable) begin
      if (count < 4'd9) begin
        count <= count + 4'd1;
      end else if (count >= 4'd9) begin
        count <= 4'd0;
      end
    end
    if (down) begin
      count <= count - 4'd1;
    end
  end
endmodule
";

#[test]
#[ignore = "the campaign below runs it, as a process of its own"]
fn the_decade_counts() {
    let ports = vec![
        Port::input("clock", 1),
        Port::input("enable", 1),
        Port::output("count", 4),
    ];
    let mut model = ModelSpec::new("decade", DECADE, ports)
        .for_short_run()
        .build()
        .unwrap()
        .instantiate();
    let (clock, enable, count) = (
        model.port("clock").unwrap(),
        model.port("enable").unwrap(),
        model.port("count").unwrap(),
    );
    model.clock(clock);
    assert_eq!(model.get_u64(count), 0);
    model.set_u64(enable, 1);
    for expected in (1..10).chain(0..10) {
        model.clock(clock);
        assert_eq!(model.get_u64(count), expected);
    }
}

/// What the programs of a crate would be: this one, with the test above.
fn sample() -> Program {
    Program {
        package: "small".into(),
        target: "campaign".into(),
        path: std::env::current_exe().unwrap(),
        directory: PathBuf::from(env!("CARGO_MANIFEST_DIR")),
        arguments: vec!["--ignored".into()],
    }
}

fn discovered(overlay: &Path) -> (Vec<Test>, Vec<Block>, Vec<plan::Model>) {
    let tests = discover(&[sample()], overlay, &[], &[], |_, _| {}, |_| Ok(())).unwrap();
    let models = plan::models(overlay, &tests).unwrap();
    let blocks = plan::blocks(&models, &tests);
    (tests, blocks, models)
}

fn run(overlay: &Path) -> Vec<Judged> {
    let (tests, blocks, models) = discovered(overlay);
    let mutants = plan::choose(&blocks, usize::MAX, 1);
    assert_eq!(
        plan::write_instrumented(overlay, &models, &blocks, &mutants).unwrap(),
        1
    );
    let campaign = Campaign {
        overlay,
        blocks: &blocks,
        tests: &tests,
        quick: vec![],
        thorough: vec![],
        jobs: 2,
        deadline: None,
        measured: Mutex::default(),
    };
    let judged = Mutex::new(vec![]);
    let all = campaign
        .run(
            &mutants,
            |_| {},
            |one| {
                judged.lock().unwrap().push(one);
                Ok(())
            },
        )
        .unwrap();
    assert!(all);
    let judged = judged.into_inner().unwrap();
    assert_eq!(judged.len(), mutants.len());
    judged
}

fn fate(judged: &[Judged], original: &str, mutated: &str) -> Fate {
    let fits = |m: &Mutant| m.original == original && m.mutated == mutated;
    let found: Vec<Fate> = judged
        .iter()
        .filter(|j| fits(&j.mutant))
        .map(|j| j.fate)
        .collect();
    assert_eq!(found.len(), 1, "{original} to {mutated}: {found:?}");
    found[0]
}

#[test]
fn a_mutant_that_can_be_seen_is_killed_and_one_that_does_the_same_survives() {
    let overlay = tempfile::tempdir().unwrap();
    let judged = run(overlay.path());
    assert_eq!(fate(&judged, "count + 4'd1", "count - 4'd1"), Fate::Killed);
    assert_eq!(fate(&judged, "4'd0", "4'd1"), Fate::Killed);
    assert_eq!(fate(&judged, "count < 4'd9", "count <= 4'd9"), Fate::Killed);
    assert_eq!(fate(&judged, "enable", "1'b1"), Fate::Killed);
    assert_eq!(fate(&judged, "enable", "!(enable)"), Fate::Killed);
    assert_eq!(fate(&judged, "count <= 4'd0;", ""), Fate::Killed);
    assert_eq!(fate(&judged, "count >= 4'd9", "count > 4'd9"), Fate::Killed);
    assert_eq!(fate(&judged, "count >= 4'd9", "1'b1"), Fate::Survived);
    // Nothing is connected to `down`: what only it lets happen is not tested.
    assert_eq!(
        fate(&judged, "count - 4'd1", "count + 4'd1"),
        Fate::Survived
    );
    assert_eq!(fate(&judged, "down", "1'b0"), Fate::Survived);
    assert_eq!(fate(&judged, "down", "1'b1"), Fate::Killed);
    let report = Report::of(1, &judged, &[]);
    assert!(
        report.all.killed > 8 && report.all.unexplained >= 4,
        "{:?}",
        report.all
    );
}

#[test]
fn what_is_known_of_a_program_holds_until_it_is_built_anew() {
    let overlay = tempfile::tempdir().unwrap();
    let (tests, ..) = discovered(overlay.path());
    assert!(!tests.is_empty() && tests.iter().all(Test::is_current));
    let older = Test {
        built: Some(SystemTime::UNIX_EPOCH),
        ..tests[0].clone()
    };
    assert!(!older.is_current());
}

#[test]
fn an_explanation_of_what_is_no_longer_there_is_refused() {
    let overlay = tempfile::tempdir().unwrap();
    let (_, blocks, _) = discovered(overlay.path());
    let mut explanation = Explanation {
        block: "small::Decade".into(),
        line: "count <= count - 4'd1;".into(),
        original: "count - 4'd1".into(),
        mutated: "count + 4'd1".into(),
        verdict: Verdict::Open,
        reason: "`down` is not tested".into(),
    };
    refuse_stale(&[explanation.clone()], &blocks).unwrap();
    explanation.line = "count <= count - 4'd2;".into();
    let error = refuse_stale(&[explanation], &blocks)
        .unwrap_err()
        .to_string();
    assert!(error.contains("is stale"), "{error}");
}

#[test]
fn the_explanations_in_the_tree_can_be_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("explained.toml");
    stellar_mutation::explained::read(&file).unwrap();
    let wrong = tempfile::NamedTempFile::new().unwrap();
    fs::write(wrong.path(), "[[mutant]]\nblock = \"a\"\n").unwrap();
    assert!(stellar_mutation::explained::read(wrong.path()).is_err());
}
