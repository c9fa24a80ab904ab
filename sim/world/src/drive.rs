//! The main loop of a world.

use sim_fork_join::ForkJoin;
use sim_net::{Delivery, Frame, Time, FCS, GAP, MIN_FRAME, PREAMBLE};

use crate::pair::FIRST_QP;
use crate::{packet, Host, Nic, World, WorldError};

impl<N: Nic> World<N> {
    /// Runs until every work request has completed and every scheduled action is done, then until the fabric is empty.
    ///
    /// # Errors
    /// [`WorldError::Stalled`] if that takes longer than `limit`; errors of actions.
    pub fn run(&mut self, limit: Time) -> Result<(), WorldError> {
        self.run_watched(limit, |_| {})
    }

    /// Does what [`Self::run`] does, and calls `watch` after every moment with an event, until the last completion.
    ///
    /// # Errors
    /// The errors of [`Self::run`].
    pub fn run_watched(
        &mut self,
        limit: Time,
        mut watch: impl FnMut(&Self),
    ) -> Result<(), WorldError> {
        while self.pending() > 0 || !self.actions.is_empty() {
            if !self.step(limit)? {
                return Err(WorldError::Stalled {
                    missing: self.pending(),
                    time_us: limit / 1_000_000,
                });
            }
            watch(self);
        }
        while self.fabric.next_event().is_some() && self.step(limit)? {}
        Ok(())
    }

    /// Runs until `time`.
    ///
    /// # Errors
    /// Errors of actions.
    pub fn run_until(&mut self, time: Time) -> Result<(), WorldError> {
        while self.step(time)? {}
        Ok(())
    }

    /// Time of the next event.
    fn next_time(&self) -> Option<Time> {
        let mut next = self.fabric.next_event();
        let mut consider = |time: Time| next = Some(next.map_or(time, |next: Time| next.min(time)));
        if let Some(&(time, _)) = self.actions.keys().next() {
            consider(time);
        }
        for host in &self.hosts {
            if let Some(deadline) = host.deadline {
                consider(deadline);
            }
            for port in host.ports.iter().filter(|port| port.awake) {
                consider(port.free);
            }
        }
        next.map(|time| time.max(self.now))
    }

    /// Advances to the next event and executes it; `false` if there is none until `limit`, inclusive.
    pub(crate) fn step(&mut self, limit: Time) -> Result<bool, WorldError> {
        let Some(time) = self.next_time().filter(|&time| time <= limit) else {
            return Ok(false);
        };
        self.sample_until(time);
        self.advance(time);
        while let Some(delivery) = self.fabric.next_delivery(time) {
            self.deliver(delivery);
        }
        while let Some(entry) = self.actions.first_entry() {
            if entry.key().0 > time {
                break;
            }
            entry.remove()(self)?;
        }
        self.run_timers();
        for index in 0..self.hosts.len() {
            self.transmit(index)?;
        }
        Ok(true)
    }

    fn sample_until(&mut self, time: Time) {
        let hosts = &self.hosts;
        self.record.sample_until(time, &self.fabric, || {
            let placed = hosts.iter().map(|host| host.nic().memory().written());
            let watched = hosts.first().map(Host::nic);
            let congestion = watched.and_then(|nic| nic.congestion(FIRST_QP));
            (placed.collect(), congestion.unwrap_or_default())
        });
    }

    fn deliver(&mut self, delivery: Delivery) {
        let Some(&index) = self.by_id.get(&delivery.host) else {
            return;
        };
        let now = self.now;
        let host = &mut self.hosts[index];
        let bytes = delivery.frame.bytes();
        host.nic.receive(delivery.port, bytes, now);
        if let Some(bth) = packet::bth(bytes) {
            self.record.arrived(index, &bth);
            host.poll_cq(bth.dest_qp, now);
        }
        while let Some(event) = host.nic.poll_event() {
            host.events.push((now, event));
        }
        host.wake(now);
    }

    /// Executes the timers of all hosts. Those of cards that are simulated cycle by cycle are worth several threads.
    fn run_timers(&mut self) {
        let now = self.now;
        let has_cycle = |host: &Host<N>| host.is_due(now) && host.nic.has_cycles();
        let mut with_cycle = (0..self.hosts.len()).filter(|&index| has_cycle(&self.hosts[index]));
        match (with_cycle.next(), with_cycle.next()) {
            (Some(first), Some(_)) => {
                let (timers, hosts) = self.timers_and_hosts();
                timers.step(hosts, now, first, |host| host.run_timers(now));
            }
            _ => {
                for host in &mut self.hosts {
                    host.run_timers(now);
                }
            }
        }
    }

    /// The threads for the timers of all hosts.
    fn timers_and_hosts(&mut self) -> (&mut ForkJoin<Host<N>, Time>, &mut Vec<Host<N>>) {
        let (count, threads) = (self.hosts.len(), self.threads.get());
        let timers = self
            .timers
            .get_or_insert_with(|| ForkJoin::new(count, threads, Host::run_timers));
        (timers, &mut self.hosts)
    }

    /// Lets every port that is free send one frame.
    fn transmit(&mut self, index: usize) -> Result<(), WorldError> {
        let now = self.now;
        for port in 0..self.hosts[index].ports.len() {
            let host = &mut self.hosts[index];
            if !host.ports[port].awake || host.ports[port].free > now {
                continue;
            }
            let Some(outgoing) = host.nic.poll_transmit(port, now) else {
                host.ports[port].awake = false;
                host.poll_all(now);
                continue;
            };
            let line = line_time(outgoing.frame.len(), self.rates[index][port]);
            host.ports[port].free = (now + line).max(outgoing.next);
            host.deadline = host.nic.next_deadline(now).map(|at| at.max(now + 1));
            let frame = Frame::new(outgoing.frame);
            self.fabric.send(host.id, port, outgoing.ready, frame)?;
        }
        Ok(())
    }
}

/// Time a frame of `bytes` takes on a line, rounded up to a picosecond.
fn line_time(bytes: usize, rate_mbps: u64) -> Time {
    let bytes = (PREAMBLE + bytes.max(MIN_FRAME) + FCS + GAP) as u64;
    (bytes * 8_000_000).div_ceil(rate_mbps)
}
