//! Two served cards under drivers, with queue pairs that share a doorbell page.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sim_nic::PcieSettings;
use sim_serve::{Server, Traffic};
use stellar_driver::*;

/// Longest wait, on the cards' clock and in wall time.
pub const TIMEOUT: Duration = Duration::from_millis(20);
pub const WALL: Duration = Duration::from_secs(600);
/// Queue pairs of a page.
pub const QPS: usize = 3;
/// Bytes of a WRITE, and of the memory of each queue pair.
const BYTES: u32 = 64;

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Way {
    Stores,
    Messages,
}

/// A card with queue pairs that share a page.
pub struct End {
    function: Arc<dyn PciFunction>,
    pub context: Context,
    pub cq: CompletionQueue,
    pub qps: Vec<QueuePair>,
    region: MemoryRegion,
}

impl End {
    fn new(socket: &Path, host: u8, way: Way) -> Self {
        let function = VfioUser::open_within(socket, WALL).unwrap();
        let function: Arc<dyn PciFunction> = Arc::new(match way {
            Way::Stores => function,
            Way::Messages => function.with_doorbell_messages(),
        });
        let ports = [0, 1].map(|plane| PortAddress {
            mac: [2, 0, 0, plane, 0, host + 1],
            ip: [10, plane, 0, host + 1].into(),
        });
        let probe = Probe::new(Arc::clone(&function)).unwrap();
        let device = probe.bring_up(DeviceConfig::new(ports, host.into()));
        let context = device.unwrap().open().unwrap();
        let pd = context.alloc_pd().unwrap();
        let cq = context.create_cq(64, true).unwrap();
        let config = QueuePairConfig::default();
        let qps = (0..QPS).map(|_| pd.create_qp(&cq, config).unwrap());
        let qps = qps.collect();
        let access = AccessFlags {
            remote_write: true,
            ..AccessFlags::default()
        };
        let memory = context.alloc(QPS * BYTES as usize).unwrap();
        Self {
            region: pd.register(memory, access).unwrap(),
            function,
            context,
            cq,
            qps,
        }
    }

    /// Posts a WRITE of queue pair `qp`.
    pub fn post(&self, to: &Self, qp: usize, wr_id: u64) {
        let at = qp as u64 * u64::from(BYTES);
        let source = self.region.slice(at, BYTES).unwrap();
        let remote = to.region.remote();
        let write = WorkRequest::write(wr_id, source, remote.address + at, remote.rkey);
        self.qps[qp].post_send(&write).unwrap();
    }

    /// Waits for this number of completions, and sorts them by queue pair.
    pub fn completed(&self, count: usize) -> Vec<Vec<(u64, WcStatus)>> {
        let mut found = vec![Vec::new(); QPS];
        for _ in 0..count {
            let [done] = self.cq.wait(1, TIMEOUT).unwrap()[..] else {
                panic!("{found:?} of {count}: {:?}", self.context.poll_event());
            };
            let is_it = |qp: &QueuePair| qp.number() == done.qp;
            let qp = self.qps.iter().position(is_it).unwrap();
            found[qp].push((done.wr_id, done.status));
        }
        found
    }

    /// Waits, in wall time, until the clock has stopped.
    pub fn rest(&self) {
        let deadline = Instant::now() + WALL;
        loop {
            let then = self.function.now();
            std::thread::sleep(Duration::from_millis(300));
            if self.function.now() == then {
                return;
            }
            assert!(Instant::now() < deadline, "the clock never stands still");
        }
    }
}

pub fn connect(ends: &[End; 2]) {
    for qp in 0..QPS {
        for (end, other) in [(0, 1), (1, 0)] {
            let peer = ends[other].qps[qp].connection(7);
            let qp = &ends[end].qps[qp];
            qp.modify(Modify::Reset).unwrap();
            qp.modify(Modify::Init(Default::default())).unwrap();
            qp.modify(Modify::Rtr(RtrAttributes::new(peer))).unwrap();
        }
    }
    for qp in ends.iter().flat_map(|end| &end.qps) {
        qp.modify(Modify::Rts(RtsAttributes::new(7))).unwrap();
    }
}

pub fn serve() -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &PcieSettings::default()).unwrap();
    (directory, server)
}

pub fn ends(server: &Server, way: Way) -> [End; 2] {
    let sockets = server.sockets();
    let ends = [0, 1].map(|host| End::new(sockets[host], host as u8, way));
    connect(&ends);
    ends
}

pub fn traffic(server: &Server) -> Traffic {
    server.traffic(0).unwrap()
}
