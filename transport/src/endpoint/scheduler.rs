//! Order of the queue pairs at a port (hardware block `qp_schedule`).

use std::collections::{BTreeMap, VecDeque};

use stellar_fetch::{fetch, fetch_at};

/// Queue pairs that may have something to send at one port. Devices (doorbell pages) take turns packet by packet, and so
/// do the queue pairs of a device: one with many queue pairs gets no more than one with a single one.
///
/// A queue pair that has nothing for the port leaves the schedule, until an event may give it something to send.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// Devices with queue pairs, the next one in front.
    turns: VecDeque<usize>,
    /// Queue pairs by device, the next one in front.
    queues: Vec<VecDeque<u32>>,
    /// The device of each page that has been seen.
    devices: BTreeMap<u32, usize>,
    /// Whether a queue pair is in the schedule, by number.
    present: Vec<bool>,
}

impl Schedule {
    /// A queue pair may have something to send.
    pub fn wake(&mut self, page: u32, qp: u32) {
        let index = qp as usize;
        if self.present.len() <= index {
            self.present.resize(index + 1, false);
        }
        if std::mem::replace(&mut self.present[index], true) {
            return;
        }
        let device = *self.devices.entry(page).or_insert_with(|| {
            self.queues.push(VecDeque::new());
            self.queues.len() - 1
        });
        let queue = &mut self.queues[device];
        if queue.is_empty() {
            self.turns.push_back(device);
        }
        queue.push_back(qp);
    }

    /// The queue pair that sends next.
    pub fn front(&self) -> Option<u32> {
        self.queues[*self.turns.front()?].front().copied()
    }

    /// Asks for the memory of the schedule's lists.
    pub(super) fn fetch_lists(&self) {
        self.turns.front().map(fetch);
        self.queues.first().map(fetch);
        fetch_at(&self.present, 0);
    }

    /// Asks for the memory of the list of the device in front.
    pub(super) fn fetch_queue(&self) {
        let device = self.turns.front().copied().unwrap_or(0);
        if let Some(qp) = self.queues.get(device).and_then(VecDeque::front) {
            fetch(qp);
        }
    }

    /// Moves the queue pair in front and its device to the back, after it has sent a packet.
    pub fn served(&mut self) {
        if let Some(device) = self.turns.pop_front() {
            self.queues[device].rotate_left(1);
            self.turns.push_back(device);
        }
    }

    /// Removes the queue pair in front, which has nothing to send. Its device keeps its turn.
    pub fn park(&mut self) {
        let Some(&device) = self.turns.front() else {
            return;
        };
        let queue = &mut self.queues[device];
        if let Some(qp) = queue.pop_front() {
            self.present[qp as usize] = false;
        }
        if queue.is_empty() {
            self.turns.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves `turns` packets; returns the queue pairs served.
    fn serve(schedule: &mut Schedule, turns: usize) -> Vec<u32> {
        let turn = |_| {
            let qp = schedule.front().expect("someone to serve");
            schedule.served();
            qp
        };
        (0..turns).map(turn).collect()
    }

    #[test]
    fn devices_take_turns_whatever_their_number_of_queue_pairs() {
        let mut schedule = Schedule::default();
        for qp in [10, 11, 12] {
            schedule.wake(1, qp);
        }
        schedule.wake(2, 20);
        assert_eq!(serve(&mut schedule, 6), [10, 20, 11, 20, 12, 20]);
    }

    #[test]
    fn one_with_nothing_to_send_costs_its_device_no_turn() {
        let mut schedule = Schedule::default();
        schedule.wake(1, 10);
        schedule.wake(1, 11);
        schedule.wake(2, 20);
        schedule.park();
        assert_eq!(serve(&mut schedule, 3), [11, 20, 11]);
        schedule.wake(1, 10);
        schedule.wake(1, 10);
        assert_eq!(serve(&mut schedule, 4), [20, 11, 20, 10]);
    }

    #[test]
    fn nobody_is_left_when_all_are_parked() {
        let mut schedule = Schedule::default();
        schedule.wake(7, 2);
        schedule.wake(8, 3);
        schedule.park();
        schedule.park();
        assert_eq!(schedule.front(), None);
        schedule.park();
        schedule.served();
        assert_eq!(schedule.front(), None);
    }
}
