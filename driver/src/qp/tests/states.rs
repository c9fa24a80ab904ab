//! The state machine, of both transports.

use super::*;

/// The InfiniBand architecture's table, as pairs.
const LEGAL: [(QpState, QpState); 13] = {
    use QpState::*;
    [
        (Reset, Init),
        (Reset, Reset),
        (Init, Init),
        (Init, Rtr),
        (Init, Reset),
        (Init, Error),
        (Rtr, Rts),
        (Rtr, Reset),
        (Rtr, Error),
        (Rts, Reset),
        (Rts, Error),
        (Error, Reset),
        (Error, Error),
    ]
};

proptest! {
    /// Compares random steps and posts with a model of the state, of the number of posted entries, and of the rows on the card.
    #[test]
    fn a_queue_pair_goes_where_it_may_and_takes_the_card_along(
        transport in prop::sample::select(vec![Transport::Mrc, Transport::Rc]),
        steps in prop::collection::vec((prop::sample::select(QpState::ALL.to_vec()), 0u64..4), 1..30),
    ) {
        let bench = bench();
        let qp = bench.pd.create_qp(&bench.cq, QueuePairConfig { transport, ..config(4) }).unwrap();
        let (mut state, mut posted) = (QpState::Reset, Vec::new());
        let mut flushed: Vec<u64> = Vec::new();
        for (target, posts) in steps {
            let legal = LEGAL.contains(&(state, target));
            if matches!(target, QpState::Rtr | QpState::Rts) {
                // Attributes of the other transport are refused, and change nothing.
                let other = if transport == Transport::Mrc { Transport::Rc } else { Transport::Mrc };
                match qp.modify(step_over(other, target)) {
                    Err(Error::Transport { own, given, .. }) => {
                        prop_assert!(legal && own == transport && given == other);
                    }
                    Err(Error::Transition(_)) => prop_assert!(!legal),
                    other => return Err(TestCaseError::fail(format!("{other:?}"))),
                }
            }
            match qp.modify(step_over(transport, target)) {
                Ok(()) => {
                    prop_assert!(legal, "{state:?} to {target:?}");
                    match target {
                        QpState::Error => flushed.append(&mut posted),
                        QpState::Reset => {
                            posted.clear();
                            flushed.clear();
                        }
                        _ => {}
                    }
                    state = target;
                }
                Err(Error::Transition(illegal)) => {
                    prop_assert!(!legal, "{illegal}");
                    prop_assert_eq!(illegal, IllegalTransition { from: state, to: target });
                }
                Err(other) => return Err(TestCaseError::fail(other.to_string())),
            }
            for wr_id in 0..posts {
                let result = qp.post_send(&WorkRequest::nop(wr_id));
                match result {
                    Ok(()) => {
                        prop_assert_eq!(state, QpState::Rts);
                        posted.push(wr_id);
                    }
                    Err(PostError::State { state: said, .. }) => {
                        prop_assert!(state != QpState::Rts);
                        prop_assert_eq!(said, state);
                    }
                    Err(PostError::Full { .. }) => prop_assert_eq!(posted.len(), 4),
                    Err(other) => return Err(TestCaseError::fail(other.to_string())),
                }
            }
            prop_assert_eq!(qp.state(), state);
            prop_assert_eq!(qp.outstanding(), posted.len());
            let (context, may_send) = bench.on_card(qp.number(), transport);
            let ready = matches!(state, QpState::Rtr | QpState::Rts);
            prop_assert_eq!(context == rows::QpState::Ready, ready);
            prop_assert_eq!(may_send, ready);
            if posts == 3 {
                let found: Vec<u64> = bench.cq.poll(100).unwrap().iter().map(|wc| wc.wr_id).collect();
                prop_assert_eq!(found, std::mem::take(&mut flushed));
            }
        }
    }
}

#[test]
fn every_pair_of_states_is_in_the_table_or_refused() {
    for from in QpState::ALL {
        for to in QpState::ALL {
            let legal = LEGAL.contains(&(from, to));
            assert_eq!(from.may_become(to), legal, "{from:?} to {to:?}");
        }
    }
    let error = QpState::Reset.to(QpState::Rts).unwrap_err().to_string();
    assert!(
        error.starts_with("a queue pair in Reset cannot become Rts;"),
        "{error}"
    );
}

#[test]
fn the_first_queue_pair_is_behind_that_of_mrcs_endpoint() {
    let bench = bench();
    let qp = bench.pd.create_qp(&bench.cq, config(4)).unwrap();
    assert_eq!(qp.number(), 3);
    let limits = crate::Limits::of(&bench.context.0.device.probe);
    assert_eq!(limits.queue_pairs, 1024 - 3);
}
