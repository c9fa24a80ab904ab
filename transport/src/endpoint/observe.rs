//! State of a card for observers.

use super::{Endpoint, EndpointConfig, EndpointCounters, Memory, Peer};
use crate::requester::{Requester, RequesterCounters, Window};
use crate::rx;
use crate::spray::{EvIndex, EvState};
use crate::time::Ticks;
use stellar_wire::host::PathCount;

/// Congestion state of an MRC queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionView {
    /// Window in bytes.
    pub cwnd: u32,
    /// Payload bytes in flight.
    pub in_flight: u32,
    /// Last round trip measured.
    pub last_rtt: Option<Ticks>,
}

impl<M: Memory> Endpoint<M> {
    /// Its configuration.
    pub const fn config(&self) -> &EndpointConfig {
        &self.config
    }

    /// The other end of a queue pair.
    pub fn peer(&self, qp: u32) -> Option<&Peer> {
        Some(&self.qps.get(qp)?.peer)
    }

    /// Counters of the card.
    pub const fn counters(&self) -> &EndpointCounters {
        &self.counters
    }

    /// Counters of the receive lane.
    pub const fn rx_counters(&self) -> &rx::Counters {
        self.lane.counters()
    }

    /// Counters of a queue pair's requester.
    pub fn qp_counters(&self, qp: u32) -> Option<&RequesterCounters> {
        Some(self.qps.get(qp)?.requester.counters())
    }

    /// Data packets a queue pair sent by path: index = entropy value index, backups from 128 on. An RC queue pair has
    /// one path. Empty if they are not counted.
    pub fn path_loads(&self, qp: u32) -> Option<&[u64]> {
        Some(self.qps.get(qp)?.requester.path_loads())
    }

    /// Reads and clears what the card counts on a path of an MRC queue pair. None if it is not counted.
    pub fn take_path_count(&mut self, qp: u32, index: EvIndex) -> Option<PathCount> {
        match &mut self.qps.get_mut(qp)?.requester {
            Requester::Mrc(mrc) => mrc.take_path_count(index),
            Requester::Rc(_) => None,
        }
    }

    /// Congestion state of an MRC queue pair.
    pub fn congestion(&self, qp: u32) -> Option<CongestionView> {
        match &self.qps.get(qp)?.requester {
            Requester::Mrc(mrc) => Some(CongestionView {
                cwnd: mrc.nscc().cwnd(),
                in_flight: mrc.window().in_flight_bytes(),
                last_rtt: mrc.last_rtt(),
            }),
            Requester::Rc(_) => None,
        }
    }

    /// State of an entropy value of an MRC queue pair.
    pub fn ev_state(&self, qp: u32, index: EvIndex) -> Option<EvState> {
        match &self.qps.get(qp)?.requester {
            Requester::Mrc(mrc) => mrc.spray().state(index),
            Requester::Rc(_) => None,
        }
    }

    /// Transmit window of an MRC queue pair.
    pub fn window(&self, qp: u32) -> Option<&Window> {
        match &self.qps.get(qp)?.requester {
            Requester::Mrc(mrc) => Some(mrc.window()),
            Requester::Rc(_) => None,
        }
    }

    /// WRITEs with immediate that arrived completely at a queue pair, modulo 2^32.
    pub fn imm_count(&self, qp: u32) -> Option<u32> {
        Some(self.qps.get(qp)?.responder.counter().count())
    }
}
