//! The interface of a NIC in a world, and the software reference with that interface.

use sim_net::Time;
use stellar_transport::endpoint::{
    ConfigError, DoorbellError, Endpoint, EndpointConfig, QpConfig, SentFrame, TableWriteError,
};
use stellar_transport::rx::{Counters, TableWrite};
use stellar_transport::time::Ticks;
use stellar_wire::host::{Cqe, Doorbell, Eqe, QpCounters};

use crate::{HostMemory, PcieReads, PcieSettings, WorldError};

/// A frame that a NIC sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Destination MAC address to iCRC.
    pub frame: Vec<u8>,
    /// Time at which its last payload byte has come from memory. The line sends it then, or as soon as it is free.
    pub ready: Time,
    /// The port requests no other frame before this time.
    pub next: Time,
}

/// Congestion state of a queue pair at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CongestionState {
    /// Window in bytes.
    pub cwnd: u32,
    /// Bytes in flight: sent, and neither acknowledged nor lost.
    pub in_flight: u32,
    /// Round trip of the latest sample, in picoseconds.
    pub rtt: Option<Time>,
}

/// A NIC with two ports, and the memory of its host. Times are picoseconds and never decrease.
pub trait Nic: Send + 'static {
    /// Whether the NIC is simulated cycle by cycle, so that [`Self::on_timer`] takes microseconds of wall time at each of its cycles.
    fn has_cycles(&self) -> bool;
    /// Whether a NIC that is simulated cycle by cycle may use a second thread. Results are the same.
    fn set_helper(&mut self, on: bool);
    /// Accepts a frame that arrived at `port`.
    fn receive(&mut self, port: usize, frame: &[u8], now: Time);
    /// Requests a frame for `port`. `None`: there is nothing to send until another call changes something.
    fn poll_transmit(&mut self, port: usize, now: Time) -> Option<Outgoing>;
    /// Earliest time at which [`Self::on_timer`] has something to do.
    fn next_deadline(&self, now: Time) -> Option<Time>;
    /// Executes the timers that are due.
    fn on_timer(&mut self, now: Time);
    /// Notifies the NIC that the link of a port came up or went down.
    fn set_port(&mut self, port: usize, up: bool);

    /// Writes a memory region or a page translation.
    ///
    /// # Errors
    /// The errors of the table.
    fn write_table(&mut self, write: &TableWrite) -> Result<(), TableWriteError>;
    /// Starts a fence: once it is done, the NIC no longer uses anything that [`Self::write_table`] replaced before.
    fn fence(&mut self);
    /// Whether the last fence is done.
    fn is_fenced(&self) -> bool;
    /// Makes a queue pair that is ready to send and to receive.
    ///
    /// # Errors
    /// The errors of the configuration.
    fn create_qp(&mut self, config: QpConfig, now: Time) -> Result<(), ConfigError>;
    /// A driver writes to a doorbell page.
    ///
    /// # Errors
    /// The errors of the doorbell; the NIC counts them too.
    fn ring_doorbell(&mut self, page: u32, doorbell: Doorbell) -> Result<(), DoorbellError>;
    /// Queue pairs with completions since the last call, or `None` if the NIC does not track this.
    fn take_completed(&mut self) -> Option<Vec<u32>>;
    /// Reads the next completion of a queue pair.
    fn poll_cq(&mut self, qp: u32) -> Option<Cqe>;
    /// Reads the next event.
    fn poll_event(&mut self) -> Option<Eqe>;

    /// Memory of its host.
    fn memory(&self) -> &HostMemory;
    /// Memory of its host, for the host's own accesses.
    fn memory_mut(&mut self) -> &mut HostMemory;

    /// Counters of a queue pair, as software reads them. The NIC's time goes on meanwhile, if reads of its registers take time.
    fn qp_counters(&mut self, qp: u32) -> Option<QpCounters>;
    /// Counters of the receive side, by reason.
    fn rx_counters(&self) -> &Counters;
    /// Data packets a queue pair sent on each entropy value, by index; empty for one path.
    fn path_loads(&self, qp: u32) -> Vec<u64>;
    /// Returns the congestion state of a queue pair. Returns `None` if the queue pair has no congestion control, or has no state yet.
    fn congestion(&self, qp: u32) -> Option<CongestionState>;
}

/// NICs of which a world of two is made by their type alone.
pub trait NicKind: Nic + Sized {
    /// The name of this kind of NIC in reports.
    const KIND: &'static str;
    /// Maximum number of outstanding WRITEs with immediate in each direction of a queue pair (MAX_WIMM).
    const MAX_WIMM: u16;
    /// Whether [`Nic::congestion`] returns the present state; otherwise it returns that of the latest SACK.
    const SHOWS_EVERY_PACKET: bool;

    /// Returns the delay that two of these NICs add, in picoseconds. It is the round trip of a single packet with `payload` bytes and its SACK,
    /// without the time in the fabric and the time of reading the payload. A read of the receiver's memory costs `reads`.
    fn base_delay(payload: usize, reads: PcieReads) -> Time;

    /// Makes a NIC without queue pairs and with both ports up. `host` is the number of its host in the world; of two hosts, 0 is the sender. `memory`
    /// is behind the PCIe fabric of `pcie`.
    ///
    /// # Errors
    /// [`WorldError::Config`] for a configuration that the NIC does not support, [`WorldError::Nic`] if the NIC cannot be made.
    fn build(
        host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError>;
}

/// The software reference, with the time that its reads of payload take.
///
/// The reference has the complete frame when it decides to send it, but a NIC has to read the payload over PCIe first. So a frame with payload leaves
/// after a read. The read waits for earlier reads of the same port (each port has a PCIe endpoint of its own), takes the time of its bytes at the
/// bandwidth, and completes after the latency. As in hardware, decisions are made when the read is requested, and measured round trips begin when the frame leaves.
/// Frames without payload do not wait. Writes and reads of work queue entries take no time.
pub struct ReferenceNic {
    endpoint: Endpoint<HostMemory>,
    reads: PcieReads,
    /// Time at which the requested reads will have used their share of the bandwidth, by port.
    busy_until: [Time; 2],
}

impl ReferenceNic {
    /// A NIC around `endpoint`.
    pub const fn new(endpoint: Endpoint<HostMemory>, reads: PcieReads) -> Self {
        Self {
            endpoint,
            reads,
            busy_until: [0; 2],
        }
    }

    /// The endpoint, for checks that only the reference allows.
    pub const fn endpoint(&self) -> &Endpoint<HostMemory> {
        &self.endpoint
    }
}

impl NicKind for ReferenceNic {
    const KIND: &'static str = "software reference";
    const MAX_WIMM: u16 = 256;
    const SHOWS_EVERY_PACKET: bool = true;

    /// The reference sends its acknowledgement without delay.
    fn base_delay(_payload: usize, _reads: PcieReads) -> Time {
        0
    }

    fn build(
        _host: usize,
        config: EndpointConfig,
        memory: HostMemory,
        pcie: &PcieSettings,
    ) -> Result<Self, WorldError> {
        Ok(Self::new(Endpoint::new(config, memory)?, pcie.reads))
    }
}

impl Nic for ReferenceNic {
    fn has_cycles(&self) -> bool {
        false
    }

    fn set_helper(&mut self, _on: bool) {}

    fn receive(&mut self, port: usize, frame: &[u8], now: Time) {
        self.endpoint.receive(port, frame, Ticks::from_ps(now));
    }

    fn poll_transmit(&mut self, port: usize, now: Time) -> Option<Outgoing> {
        let SentFrame { qp, psn, frame } = self.endpoint.poll_sent(port, Ticks::from_ps(now))?;
        let payload = crate::packet::payload_bytes(&frame);
        if payload == 0 {
            return Some(Outgoing {
                frame,
                ready: now,
                next: now,
            });
        }
        let start = self.busy_until[port].max(now);
        let end = start + self.reads.transfer_time(payload);
        self.busy_until[port] = end;
        let ready = end + self.reads.latency;
        self.endpoint.departed(qp, psn, port, Ticks::from_ps(ready));
        Some(Outgoing {
            frame,
            ready,
            next: end,
        })
    }

    fn next_deadline(&self, now: Time) -> Option<Time> {
        let (deadline, present) = (self.endpoint.next_deadline()?, Ticks::from_ps(now));
        if present.reached(deadline) {
            return Some(now);
        }
        let ticks = now / Ticks::PICOSECONDS + u64::from(deadline.since(present).0);
        Some(ticks * Ticks::PICOSECONDS)
    }

    fn on_timer(&mut self, now: Time) {
        self.endpoint.on_timer(Ticks::from_ps(now));
    }

    fn set_port(&mut self, port: usize, up: bool) {
        self.endpoint.set_port(port, up);
    }

    fn write_table(&mut self, write: &TableWrite) -> Result<(), TableWriteError> {
        self.endpoint.write_table(write)
    }

    /// The reference uses a table entry within one call, so a fence never has to wait.
    fn fence(&mut self) {}

    fn is_fenced(&self) -> bool {
        true
    }

    fn create_qp(&mut self, config: QpConfig, now: Time) -> Result<(), ConfigError> {
        self.endpoint.create_qp(config, Ticks::from_ps(now))
    }

    fn ring_doorbell(&mut self, page: u32, doorbell: Doorbell) -> Result<(), DoorbellError> {
        self.endpoint.ring_doorbell(page, doorbell)
    }

    fn take_completed(&mut self) -> Option<Vec<u32>> {
        None
    }

    fn poll_cq(&mut self, qp: u32) -> Option<Cqe> {
        self.endpoint.poll_cq(qp)
    }

    fn poll_event(&mut self) -> Option<Eqe> {
        self.endpoint.poll_event()
    }

    fn memory(&self) -> &HostMemory {
        self.endpoint.memory()
    }

    fn memory_mut(&mut self) -> &mut HostMemory {
        self.endpoint.memory_mut()
    }

    fn qp_counters(&mut self, qp: u32) -> Option<QpCounters> {
        self.endpoint.all_qp_counters(qp)
    }

    fn rx_counters(&self) -> &Counters {
        self.endpoint.rx_counters()
    }

    fn path_loads(&self, qp: u32) -> Vec<u64> {
        self.endpoint.path_loads(qp).unwrap_or_default().to_vec()
    }

    fn congestion(&self, qp: u32) -> Option<CongestionState> {
        let view = self.endpoint.congestion(qp)?;
        Some(CongestionState {
            cwnd: view.cwnd,
            in_flight: view.in_flight,
            rtt: view.last_rtt.map(Ticks::as_ps),
        })
    }
}
