//! One host of a cluster: its card, its lines, its queue pairs.

use sim_net::{FlowHash, HostId, Time, Topology};
use stellar_transport::endpoint::{
    CardModel, Endpoint, EndpointConfig, Memory, MemoryFault, PayloadPolicy, PlaneAddress, PORTS,
};
use stellar_transport::rx::{RxConfig, WriteTlp};
use stellar_transport::time::Ticks;

use crate::{Addressing, ClusterError};

/// Code points of data packets and of their acknowledgements (OCP MRC leaves both to the operator).
pub(crate) const DATA_DSCP: u8 = 10;
pub(crate) const CONTROL_DSCP: u8 = 46;
/// Entries of an event queue. It is read after every call that can add to it.
const EVENTS: u32 = 16;
/// Numbers of queue pairs are below this one.
const QUEUE_PAIRS: u32 = (1 << 24) - 1;
/// First number of a queue pair.
const FIRST_QP: u32 = 2;

/// No memory: the card's model neither reads nor writes any.
#[derive(Debug)]
pub(crate) struct NoMemory;

impl Memory for NoMemory {
    fn read(&mut self, address: u64, _: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        let length = into.len();
        Err(MemoryFault { address, length })
    }

    fn write(&mut self, _: &WriteTlp) {}
}

/// The other end of a queue pair, as its records need it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerOf {
    pub host: HostId,
    /// Hash of the addresses of packets to it, by port.
    pub addresses: [FlowHash; PORTS],
}

/// A host with its card. With one line both ports of the card share it, and arrivals are those of port 0; with two each port has its own.
pub(crate) struct Host {
    pub endpoint: Endpoint<NoMemory>,
    pub addresses: [PlaneAddress; PORTS],
    pub lines: usize,
    /// A line that sends at the moment.
    pub is_busy: [bool; PORTS],
    /// With one line: the port of the card that sends next.
    turn: usize,
    /// The earliest alarm that is set.
    alarm: Option<Time>,
    /// The card's deadline for which an alarm was last found to be set.
    covered: Option<Ticks>,
    /// By number of the queue pair, from [`FIRST_QP`].
    peers: Vec<PeerOf>,
}

impl Host {
    /// A host of a topology. With `path_loads` its card counts the packets of every path.
    pub(crate) fn new(
        topology: &Topology,
        id: HostId,
        path_loads: bool,
        addressing: Addressing,
    ) -> Result<Self, ClusterError> {
        let host = &topology.hosts()[id.0 as usize];
        let lines = host.ports.len();
        if !(1..=PORTS).contains(&lines) {
            return Err(ClusterError::Ports {
                host: host.name.clone(),
                ports: lines,
            });
        }
        let address = |port: usize| {
            let port = &host.ports[port.min(lines - 1)];
            PlaneAddress {
                mac: port.mac,
                ip: match addressing {
                    Addressing::Ipv4 => port.ipv4.into(),
                    Addressing::Srv6 => port.ipv6.into(),
                },
            }
        };
        let addresses = [address(0), address(1)];
        let config = EndpointConfig {
            planes: addresses,
            rx: RxConfig::default(),
            data_dscp: DATA_DSCP,
            control_dscp: CONTROL_DSCP,
            event_entries: EVENTS,
        };
        let model = CardModel {
            payload: PayloadPolicy::Unchecked,
            queue_pairs: QUEUE_PAIRS,
            path_loads,
            ..CardModel::default()
        };
        Ok(Self {
            endpoint: Endpoint::with_model(config, model, NoMemory)?,
            addresses,
            lines,
            is_busy: [false; PORTS],
            turn: 0,
            alarm: None,
            covered: None,
            peers: Vec::new(),
        })
    }

    /// The number of the next queue pair; `None` if there is no more.
    pub(crate) fn next_qp(&self) -> Option<u32> {
        let number = FIRST_QP + self.peers.len() as u32;
        (number < QUEUE_PAIRS).then_some(number)
    }

    /// Notes the other end of the queue pair that [`Self::next_qp`] named.
    pub(crate) fn add_peer(&mut self, peer: PeerOf) {
        self.peers.push(peer);
    }

    pub(crate) fn peer(&self, qp: u32) -> Option<&PeerOf> {
        self.peers.get(qp.checked_sub(FIRST_QP)? as usize)
    }

    /// Asks for the memory of the other end of a queue pair ([`stellar_fetch`]).
    pub(crate) fn fetch_peer(&self, qp: u32) {
        if let Some(peer) = self.peer(qp) {
            stellar_fetch::fetch(peer);
        }
    }

    /// Numbers of its queue pairs.
    pub(crate) fn queue_pairs(&self) -> impl Iterator<Item = u32> {
        FIRST_QP..FIRST_QP + self.peers.len() as u32
    }

    /// Asks the ports of the card on `line`, in turn, for something to send.
    pub(crate) fn poll<T>(
        &mut self,
        line: usize,
        mut ask: impl FnMut(&mut Self, usize) -> Option<T>,
    ) -> Option<T> {
        if self.lines == PORTS {
            return ask(self, line);
        }
        for port in [self.turn, 1 - self.turn] {
            if let Some(sent) = ask(self, port) {
                self.turn = 1 - port;
                return Some(sent);
            }
        }
        None
    }

    /// The ports of the card on `line` went up or down.
    pub(crate) fn set_line(&mut self, line: usize, up: bool) {
        for port in 0..PORTS {
            if port.min(self.lines - 1) == line {
                self.endpoint.set_port(port, up);
            }
        }
    }

    /// The time of an alarm to set, if the card's next deadline is before all that are set.
    #[inline]
    pub(crate) fn alarm_to_set(&mut self, now: Time) -> Option<Time> {
        let deadline = self.endpoint.next_deadline()?;
        if self.covered == Some(deadline) {
            return None;
        }
        self.covered = Some(deadline);
        self.alarm_by(deadline, now)
    }

    /// The time of an alarm to set for a deadline of the card, if none is set that comes before.
    fn alarm_by(&mut self, deadline: Ticks, now: Time) -> Option<Time> {
        let present = Ticks::from_ps(now);
        // A deadline is a lower bound. One that has passed without effect must not stop time.
        let ticks = if present.reached(deadline) {
            1
        } else {
            u64::from(deadline.since(present).0)
        };
        let at = (now / Ticks::PICOSECONDS + ticks) * Ticks::PICOSECONDS;
        if self.alarm.is_some_and(|set| set <= at) {
            return None;
        }
        self.alarm = Some(at);
        Some(at)
    }

    /// An alarm has come. Expires the card's timers if it is the one that was set last.
    pub(crate) fn on_alarm(&mut self, now: Time) -> bool {
        let is_due = self.alarm == Some(now);
        if is_due {
            self.alarm = None;
            self.covered = None;
            self.endpoint.on_timer(Ticks::from_ps(now));
        }
        is_due
    }
}
