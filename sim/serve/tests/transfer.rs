//! Two drivers in two processes write from one served card to the other, and one of them dies in the middle of it.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sim_nic::PcieSettings;
use sim_serve::{Counts, Server};
use stellar_driver::*;

/// Longest wait, on the cards' clock and in wall time.
const TIMEOUT: Duration = Duration::from_millis(20);
const WALL: Duration = Duration::from_secs(900);
/// Bytes of the transfer that is compared, and of the one in which a process dies.
const BYTES: usize = 1 << 16;
const MANY: usize = 1 << 20;
/// Environment variables with the socket and the peer of the other process.
const SOCKET: &str = "STELLAR_TEST_SOCKET";
const PEER: &str = "STELLAR_TEST_PEER";

/// A driver with a queue pair and memory.
struct Driver {
    context: Context,
    cq: CompletionQueue,
    qp: QueuePair,
    region: MemoryRegion,
}

impl Driver {
    /// Brings up the card at a socket. Its memory is mapped page by page, as by a virtual IOMMU.
    fn new(socket: &Path, host: u8) -> Self {
        let function = VfioUser::open_within(socket, WALL).unwrap();
        let function = function.with_windows(4096);
        let ports = [0, 1].map(|plane| PortAddress {
            mac: [2, 0, 0, plane, 0, host + 1],
            ip: [10, plane, 0, host + 1].into(),
        });
        let probe = Probe::new(Arc::new(function)).unwrap();
        let device = probe
            .bring_up(DeviceConfig::new(ports, host.into()))
            .unwrap();
        let context = device.open().unwrap();
        let pd = context.alloc_pd().unwrap();
        let cq = context.create_cq(64, true).unwrap();
        let qp = pd.create_qp(&cq, QueuePairConfig::default()).unwrap();
        let access = AccessFlags {
            remote_write: true,
            ..AccessFlags::default()
        };
        let region = pd.register(context.alloc(MANY).unwrap(), access).unwrap();
        Self {
            context,
            cq,
            qp,
            region,
        }
    }

    /// Connects the queue pair with the one at the other end of a stream; returns the peer's region.
    fn connect(&self, stream: &mut TcpStream, psn: u32) -> RemoteRegion {
        let mine = (self.qp.connection(psn), self.region.remote());
        let (peer, region): (Connection, RemoteRegion) = exchange(stream, &mine).unwrap();
        let qp = &self.qp;
        qp.modify(Modify::Init(InitAttributes::default())).unwrap();
        qp.modify(Modify::Rtr(RtrAttributes::new(peer))).unwrap();
        qp.modify(Modify::Rts(RtsAttributes::new(psn))).unwrap();
        // Neither end sends before both are ready to receive.
        let _: String = exchange(stream, &"ready".to_owned()).unwrap();
        region
    }

    fn memory(&self) -> &DmaBuffer {
        self.region.memory().unwrap()
    }

    /// Writes `BYTES` of a pattern and waits until they have been acknowledged.
    fn write(&self, to: RemoteRegion, salt: u8) {
        self.memory().write(0, &pattern(BYTES, salt)).unwrap();
        let source = self.region.slice(0, BYTES as u32).unwrap();
        let write = WorkRequest::write(7, source, to.address, to.rkey).with_immediate(0xbeef);
        self.qp.post_send(&write).unwrap();
        let done = self.cq.wait(1, TIMEOUT).unwrap();
        assert_eq!((done[0].wr_id, done[0].status), (7, WcStatus::Success));
    }

    /// Waits for the data of [`Self::write`].
    fn receive(&self, salt: u8) {
        let received = self.cq.wait(1, TIMEOUT).unwrap();
        let [received] = received[..] else {
            panic!("no immediate: {:?}", self.context.poll_event());
        };
        assert_eq!(received.immediate, Some(0xbeef));
        assert_eq!(received.byte_len as usize, BYTES);
        let mut arrived = vec![0; BYTES];
        self.memory().read(0, &mut arrived).unwrap();
        assert!(arrived == pattern(BYTES, salt), "other bytes arrived");
    }
}

fn pattern(length: usize, salt: u8) -> Vec<u8> {
    (0..length)
        .map(|i| (i * 31 + i / 251) as u8 ^ salt | 1)
        .collect()
}

/// Runs the process that dies: the driver of card 0.
#[test]
#[ignore = "runs as a process of its own, started by the test below"]
fn the_other_process() {
    let socket = std::env::var(SOCKET).expect("the test below sets it");
    let mut stream = TcpStream::connect(std::env::var(PEER).unwrap()).unwrap();
    let driver = Driver::new(Path::new(&socket), 0);
    let to = driver.connect(&mut stream, 0x00ff_fff0);
    driver.write(to, 0x11);
    let _: String = exchange(&mut stream, &"written".to_owned()).unwrap();
    driver.memory().write(0, &pattern(MANY, 0x22)).unwrap();
    for wr_id in 0..8 {
        let source = driver.region.slice(0, MANY as u32).unwrap();
        let write = WorkRequest::write(wr_id, source, to.address, to.rkey);
        driver.qp.post_send(&write).unwrap();
    }
    // The process is killed while it waits.
    driver.cq.wait(8, Duration::from_secs(1)).unwrap();
    panic!("nobody killed this process");
}

/// Kills a process when the value is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn other_process(socket: &Path, peer: &TcpListener) -> Process {
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "transfer::the_other_process",
            "--ignored",
            "--nocapture",
        ])
        .env(SOCKET, socket)
        .env(PEER, peer.local_addr().unwrap().to_string())
        .spawn();
    Process(child.unwrap())
}

/// Polls until `what` holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + WALL;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {WALL:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn drive_the_other_card(sockets: [PathBuf; 2], server: &Server) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut process = other_process(&sockets[0], &listener);
    let driver = Driver::new(&sockets[1], 1);
    let (mut stream, _) = listener.accept().unwrap();
    driver.connect(&mut stream, 5);
    driver.receive(0x11);
    driver.memory().write(0, &vec![0; MANY]).unwrap();
    let _: String = exchange(&mut stream, &"received".to_owned()).unwrap();

    // The process dies when some data has arrived, and most has not.
    let mut first = [0];
    until("the first bytes", || {
        driver.memory().read(4096, &mut first).unwrap();
        first != [0]
    });
    process.0.kill().unwrap();
    process.0.wait().unwrap();
    until("its memory is gone", || {
        server.counts(0).unwrap().windows == 0
    });
    let mut arrived = vec![0; MANY];
    driver.memory().read(0, &mut arrived).unwrap();
    let sent = pattern(MANY, 0x22);
    let is_right = arrived.iter().zip(&sent).all(|(a, s)| *a == 0 || a == s);
    assert!(is_right, "bytes arrived that nobody sent");
    // 8 MiB were outstanding, so the other process died in the middle of the transfer. This card and its queue pair continue.
    assert_eq!(driver.qp.state(), QpState::Rts);
    assert_eq!(driver.context.poll_event().unwrap(), None);

    // The next driver of card 0 writes to this process, whose card was never reset.
    driver.memory().write(0, &vec![0; MANY]).unwrap();
    driver.qp.modify(Modify::Reset).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let socket = sockets[0].clone();
    let next = std::thread::spawn(move || {
        let driver = Driver::new(&socket, 0);
        let mut stream = TcpStream::connect(address).unwrap();
        let to = driver.connect(&mut stream, 9);
        driver.write(to, 0x33);
        let _: String = exchange(&mut stream, &"written".to_owned()).unwrap();
    });
    let (mut stream, _) = listener.accept().unwrap();
    driver.connect(&mut stream, 6);
    driver.receive(0x33);
    let _: String = exchange(&mut stream, &"received".to_owned()).unwrap();
    next.join().unwrap();
}

#[test]
fn a_driver_dies_in_the_middle_of_a_transfer_between_two_processes() {
    let directory = tempfile::tempdir().unwrap();
    let server = Server::start(directory.path(), &PcieSettings::default()).unwrap();
    let sockets = [0, 1].map(|host| server.sockets()[host].to_owned());
    let (tell, told) = std::sync::mpsc::channel();
    let test = std::thread::spawn(move || {
        drive_the_other_card(sockets, &server);
        tell.send(()).unwrap();
        server
    });
    let ended = told.recv_timeout(WALL);
    assert_ne!(ended, Err(std::sync::mpsc::RecvTimeoutError::Timeout));
    let server = test.join().unwrap();
    // Both drivers have disconnected, and no access went to a wrong address.
    until("the drivers have gone", || {
        let counts = [0, 1].map(|host| server.counts(host).unwrap());
        counts == [Counts::default(); 2]
    });
}
