//! SACKs for several packets.

use stellar_transport::rx::Psn;

use crate::bench::{Stimulus, QPS};
use crate::functional::mrc;
use crate::pair::Setup;
use crate::scenario::Scenario;

/// Number of words between the packet that a SACK names and the packets that it reports.
fn words_back(answer: &[(&'static str, u64)]) -> u32 {
    let field = |name| answer.iter().find(|field| field.0 == name).map(|f| f.1);
    let number = |name| field(name).expect("a SACK") as u32;
    let cack = Psn::new(number("seth.cack_psn"));
    let from_cack = |name| cack.plus((Psn::MODULUS as i32 + i32::from(number(name) as i16)) as u32);
    let word = |psn: Psn| psn.value() / 64;
    let answered = word(from_cack("seth.ack_psn_offset"));
    answered.abs_diff(word(from_cack("seth.sack_offset")))
}

#[test]
fn packets_far_out_of_order_are_told_of_by_later_ones() {
    let setup = Setup {
        sack_every: 16,
        initial_psn: 100,
        ..mrc(1)
    };
    let mut scenario = Scenario::new([setup; 4], 9);
    scenario.pairs[0].message(3000, 256, None);
    (0..2800).for_each(|n| {
        scenario.send(0, n * 37 % 30);
    });
    let answers = &scenario.expected.answers;
    assert!(answers.len() < 2800 / 4, "{} answers", answers.len());
    // Some SACKs report another word of the same parity, because a new word begins. Others report a word of the other parity, because more packets
    // are pending there.
    let told: Vec<u32> = answers.iter().map(|answer| words_back(answer)).collect();
    let of_parity = |parity| told.iter().filter(|&&d| d > 0 && d % 2 == parity).count();
    assert!(of_parity(0) > 20, "{} of the same parity", of_parity(0));
    assert!(of_parity(1) > 20, "{} of the other parity", of_parity(1));
    // The remaining packets arrive late, after the message's last packet, which requested a SACK. The packet that closes the last gap is answered.
    let left = scenario.pairs[0].pending.len() - 1;
    assert!(scenario.send(0, left));
    let before = scenario.expected.answers.len();
    (0..left).for_each(|_| {
        scenario.send(0, 0);
    });
    let late = scenario.expected.answers.len() - before;
    assert!(
        (left / 16..=left / 4).contains(&late),
        "{late} answers to {left} packets"
    );
    let last = scenario.expected.answers.last().expect("an answer");
    let cack = last.iter().find(|field| field.0 == "seth.cack_psn");
    assert_eq!(cack.expect("a SACK").1, 100 + 3000 - 1);
    scenario.compare(1, 7, 0, 1);
}

#[test]
fn what_was_pending_before_a_reset_is_forgotten() {
    let setup = Setup {
        sack_every: 16,
        ..mrc(1)
    };
    let answers = |forgets: bool| {
        let mut scenario = Scenario::new([setup; 4], 9);
        scenario.pairs[0].message(100, 256, None);
        (0..3).for_each(|_| {
            scenario.send(0, 0);
        });
        scenario.visit(0);
        if forgets {
            let (qp, port) = (QPS[0], 0);
            scenario.stimuli.push(Stimulus::Visit {
                qp,
                port,
                forgets: true,
            });
            (0..2).for_each(|_| {
                scenario.stimuli.push(Stimulus::Visit {
                    qp,
                    port,
                    forgets: false,
                });
            });
        } else {
            scenario.visit(0);
        }
        scenario.compare(1, 7, 0, 0);
        scenario
            .expected
            .answers
            .iter()
            .filter(|answer| answer[0].1 == u64::from(QPS[0]))
            .count()
    };
    // Marked packets are answered at once.
    assert_eq!(answers(false), answers(true) + 1);
}
