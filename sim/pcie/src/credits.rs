//! Flow-control credits at the sender of a link (PCIe base specification, section 2.6.1).

use std::collections::VecDeque;

use crate::config::CreditConfig;
use crate::tlp::FlowClass;
use crate::Picoseconds;

/// Credits that one TLP takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cost {
    pub class: FlowClass,
    data: u32,
}

/// Credits of one direction of a link.
#[derive(Debug)]
pub(crate) struct Credits {
    headers: [u32; 3],
    data: [u32; 3],
    /// Largest data credits of a class. A TLP that needs more has all of them: the receiver refuses it as malformed.
    granted_data: [u32; 3],
    /// Credits on their way back, by time of arrival.
    returning: VecDeque<(Picoseconds, Cost)>,
}

impl Credits {
    pub fn new(config: &CreditConfig) -> Self {
        let data = [config.posted_data, 0, config.completion_data];
        Self {
            headers: [
                config.posted_headers,
                config.non_posted_headers,
                config.completion_headers,
            ],
            data,
            granted_data: data,
            returning: VecDeque::new(),
        }
    }

    /// Credits that a TLP takes with `payload` bytes of payload.
    pub fn cost(&self, class: FlowClass, payload: usize) -> Cost {
        let data = (payload as u32).div_ceil(CreditConfig::DATA_UNIT);
        Cost {
            class,
            data: data.min(self.granted_data[class as usize]),
        }
    }

    pub fn cover(&self, cost: Cost) -> bool {
        let class = cost.class as usize;
        self.headers[class] > 0 && self.data[class] >= cost.data
    }

    pub fn take(&mut self, cost: Cost) {
        self.headers[cost.class as usize] -= 1;
        self.data[cost.class as usize] -= cost.data;
    }

    /// The receiver returns credits, which arrive at `at`. Later calls have later times.
    pub fn give_back(&mut self, at: Picoseconds, cost: Cost) {
        self.returning.push_back((at, cost));
    }

    /// Adds the credits that have arrived by `now`.
    pub fn collect(&mut self, now: Picoseconds) {
        while let Some(&(at, cost)) = self.returning.front() {
            if at > now {
                break;
            }
            self.put(cost);
            self.returning.pop_front();
        }
    }

    /// Time of the next arrival of credits.
    pub fn next_arrival(&self) -> Picoseconds {
        self.returning
            .front()
            .map_or(Picoseconds::MAX, |next| next.0)
    }

    /// The credits of a TLP that was lost on the link.
    pub fn put(&mut self, cost: Cost) {
        self.headers[cost.class as usize] += 1;
        self.data[cost.class as usize] += cost.data;
    }
}
