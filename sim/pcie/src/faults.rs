//! Decides which requests have a fault.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::config::{FaultKind, FaultRule, RequestKind};
use crate::tlp::Tlp;

struct Rule {
    rule: FaultRule,
    /// Requests that matched.
    seen: u64,
    faults: u64,
}

/// The rules, with what has matched them.
pub(crate) struct Faults {
    rules: Vec<Rule>,
    rng: ChaCha8Rng,
}

impl Faults {
    pub fn new(rules: Vec<FaultRule>, rng: ChaCha8Rng) -> Self {
        let mut faults = Self {
            rules: Vec::new(),
            rng,
        };
        for rule in rules {
            faults.add(rule);
        }
        faults
    }

    pub fn add(&mut self, rule: FaultRule) {
        self.rules.push(Rule {
            rule,
            seen: 0,
            faults: 0,
        });
    }

    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// The fault of a request, whose address is still the requester's; `at_root` says whether it is at the root complex.
    pub fn decide(&mut self, tlp: &Tlp, at_root: bool) -> Option<FaultKind> {
        if self.rules.is_empty() {
            return None;
        }
        let (kind, (address, _)) = (tlp.request_kind()?, tlp.memory_target()?);
        let requester = tlp.requester();
        let Self { rules, rng } = self;
        let mut decides = |state: &mut Rule| {
            let rule = &state.rule;
            let possible = match rule.fault {
                FaultKind::LostCompletion
                | FaultKind::Corruption
                | FaultKind::LateCompletion(_) => kind == RequestKind::Read,
                FaultKind::IommuFault => at_root,
                _ => true,
            };
            let matches = possible
                && rule.requester.is_none_or(|only| only == requester)
                && rule.window.is_none_or(|window| window.contains(address, 1))
                && rule.only.is_none_or(|only| only == kind);
            if !matches {
                return false;
            }
            state.seen += 1;
            let has = state.seen > rule.skip
                && rule.count.is_none_or(|most| state.faults < most)
                && rng.random_ratio(rule.per_million, 1_000_000);
            state.faults += u64::from(has);
            has
        };
        let mut rules = rules.iter_mut();
        rules.find_map(|state| decides(state).then_some(state.rule.fault))
    }

    /// Index of the completion, out of `count`, that is lost.
    pub fn lose_one_of(&mut self, count: usize) -> usize {
        self.rng.random_range(0..count)
    }
}
