//! Budgets that hold, budgets that are broken, and records.

use stellar_fit::{Area, Budget, Driver, Goal, Record, Report};

use crate::designs::chain;

fn budget() -> Budget {
    Budget {
        device: Area {
            lut: 10_000,
            ff: 10_000,
            bram: 10.0,
            uram: 10,
            dsp: 10,
        },
        goal: Goal {
            percent: 50.0,
            levels: 3,
            loads: 500,
            copies: 1,
        },
    }
}

#[test]
fn each_broken_budget_is_reported() {
    let report = &chain().0;
    let mut budget = budget();
    budget.device.ff = 1_000;
    let broken = budget.check(report).broken;
    let said = [
        "712 of 1000 FF are 71.2 %",
        "1 end points",
        "the worst behind 4",
        "1 nets",
        "the widest has 700",
        "1 memories",
    ];
    for part in said {
        assert!(
            broken.iter().any(|line| line.contains(part)),
            "{part}: {broken:#?}"
        );
    }
    assert_eq!(broken.len(), 4);
}

/// The report with everything within the goal.
fn good() -> Report {
    let mut report = chain().0.clone();
    report.timing.above = 0;
    report.timing.worst = 3.0;
    report.memories.clear();
    report.nets.clear();
    report
}

#[test]
fn a_card_within_its_goal_breaks_nothing() {
    assert_eq!(budget().check(&good()).broken, Vec::<String>::new());
}

#[test]
fn a_net_that_the_placer_replicates_is_no_miss() {
    let mut report = chain().0.clone();
    let mut budget = budget();
    assert_eq!(budget.misses(&report).nets, 1);
    budget.goal.copies = 2;
    assert_eq!(budget.misses(&report).nets, 0);
    assert_eq!(budget.misses(&report).loads, 0);
    report.nets[0].driver = Driver::Lut;
    assert_eq!(budget.misses(&report).nets, 0);
    report.nets[0].driver = Driver::Other;
    assert_eq!(budget.misses(&report).nets, 1);
    report.nets[0].driver = Driver::Register;
    report.nets[0].loads = 1_001;
    assert_eq!(budget.misses(&report).nets, 1, "a third copy");
}

#[test]
fn a_record_accepts_as_much_and_no_more() {
    let report = &chain().0;
    let budget = budget();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("board.toml");
    Record::of(&budget, report, "2026-01-02")
        .write(&path)
        .expect("written");
    let record = Record::read(&path).expect("read");
    assert_eq!(record, Record::of(&budget, report, "2026-01-02"));
    let same = budget.check_record(report, &record);
    assert_eq!((same.broken.len(), same.better.len()), (0, 0), "{same:#?}");

    let worse = |change: fn(&mut Report)| {
        let mut worse = report.clone();
        change(&mut worse);
        budget.check_record(&worse, &record).broken.len()
    };
    assert_eq!(worse(|r| r.timing.above += 1), 1);
    assert_eq!(worse(|r| r.timing.worst += 0.5), 1);
    assert_eq!(worse(|r| r.nets[0].loads += 1), 1);
    assert_eq!(worse(|r| r.nets.push(r.nets[0].clone())), 1);
    assert_eq!(worse(|r| r.memories.push(r.memories[0].clone())), 1);
    // A share has no record: it is a limit.
    assert_eq!(worse(|r| r.total.lut = 5_001), 1);

    let better = budget.check_record(&good(), &record);
    assert_eq!(
        (better.broken.len(), better.better.len()),
        (0, 5),
        "{better:#?}"
    );
}

#[test]
fn growth_is_by_block() {
    let record = Record::of(&budget(), &chain().0, "2026-01-02");
    let mut report = chain().0.clone();
    report.blocks.get_mut("u_front").expect("a block").lut += 7;
    report.blocks.remove("u_back");
    let growth = record.growth(&report);
    let names: Vec<&str> = growth.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["u_back", "u_front"]);
    assert_eq!(growth[0].2, Area::default());
    assert_eq!(growth[1].2.lut, growth[1].1.lut + 7);
}
