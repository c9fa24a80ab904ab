//! `stellar serve --lone --bridge`: a driver on one end of the card, and this test as the peer on the other.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pcap_file::pcapng::{Block, PcapNgReader};
use stellar_driver::{
    AccessFlags, CompletionQueue, Connection, Context, DeviceConfig, InitAttributes, MemoryRegion,
    Modify, PortAddress, Probe, QueuePair, QueuePairConfig, RcRtrAttributes, RcRtsAttributes,
    Transport, VfioUser, WcStatus, WorkRequest,
};
use stellar_wire::{Aeth, Bth, Ethernet, ExtHeaders, Ip, Ipv4, MacAddr, Opcode, Reth, RoceFrame};

use crate::serve::programs::{Serve, TIMEOUT};

/// Addresses of both ends of the bridge.
const CARD: PortAddress = PortAddress {
    mac: [2, 0, 0, 0, 0, 1],
    ip: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
};
const PEER: PortAddress = PortAddress {
    mac: [2, 0, 0, 0, 0, 2],
    ip: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)),
};
/// The peer's queue pair, and the first PSN of each end.
const PEER_QP: u32 = 0x1234;
const PEER_PSN: u32 = 0xff_ffff;
const CARD_PSN: u32 = 0x55;
/// Longest time until a completion, on the card's clock.
const SOON: Duration = Duration::from_millis(2);

/// The other end of the bridge.
struct Peer(UnixDatagram);

impl Peer {
    /// Binds to `there`, with the bridge at `here`.
    fn new(there: &Path, here: &Path) -> Self {
        let socket = UnixDatagram::bind(there).expect("a socket");
        socket.connect(here).expect("the bridge is there");
        let patience = socket.set_read_timeout(Some(TIMEOUT));
        patience.expect("a time to wait");
        Self(socket)
    }

    fn send(&self, frame: &[u8]) {
        self.0.send(frame).expect("the bridge takes it");
    }

    fn receive(&self) -> Vec<u8> {
        let mut buffer = vec![0; 1 << 16];
        let length = self.0.recv(&mut buffer).expect("the bridge sends it");
        buffer.truncate(length);
        buffer
    }

    /// The next RoCEv2 frame, which must be from the card to this peer.
    fn receive_roce(&self) -> RoceFrame {
        let frame = RoceFrame::parse(&self.receive()).expect("a RoCEv2 frame");
        let eth = (frame.eth.src.0, frame.eth.dst.0);
        assert_eq!(eth, (CARD.mac, PEER.mac));
        assert_eq!(frame.bth.dest_qp, PEER_QP);
        frame
    }

    /// Sends an ARP request for the card's IP address, and checks the reply.
    fn ask(&self) {
        let mut question = vec![0xff; 6];
        question.extend([2, 0, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        question.extend([2, 0, 0, 0, 0, 2, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1]);
        self.send(&question);
        let answer = self.receive();
        assert_eq!(answer[..6], PEER.mac);
        assert_eq!(answer[20..22], [0, 2], "no reply of ARP");
        assert_eq!(answer[22..28], CARD.mac);
        assert_eq!(answer[28..32], [10, 0, 0, 1]);
    }
}

/// A frame of the peer.
fn frame(bth: Bth, ext: ExtHeaders, payload: &[u8]) -> Vec<u8> {
    let frame = RoceFrame {
        eth: Ethernet {
            dst: MacAddr(CARD.mac),
            src: MacAddr(PEER.mac),
            ..Ethernet::default()
        },
        ip: Ip::V4(Ipv4 {
            src: [10, 0, 0, 2].into(),
            dst: [10, 0, 0, 1].into(),
            ..Ipv4::default()
        }),
        bth,
        ext,
        payload: payload.to_vec(),
        ..RoceFrame::default()
    };
    frame.emit().expect("the fields fit")
}

/// A driver with a queue pair whose peer is this test.
struct Driver {
    context: Context,
    cq: CompletionQueue,
    qp: QueuePair,
    region: MemoryRegion,
}

impl Driver {
    fn new(socket: &Path) -> Self {
        let function = VfioUser::open_within(socket, TIMEOUT).expect("the card");
        let probe = Probe::new(Arc::new(function)).expect("a card of this project");
        let other = PortAddress {
            mac: [2, 0, 0, 1, 0, 1],
            ip: [10, 1, 0, 1].into(),
        };
        let device = probe.bring_up(DeviceConfig::new([CARD, other], 1));
        let context = device.and_then(|device| device.open()).expect("it is up");
        let pd = context.alloc_pd().expect("a protection domain");
        let cq = context.create_cq(64, true).expect("a completion queue");
        let config = QueuePairConfig {
            transport: Transport::Rc,
            ..QueuePairConfig::default()
        };
        let qp = pd.create_qp(&cq, config).expect("a queue pair");
        let access = AccessFlags {
            remote_write: true,
            ..AccessFlags::default()
        };
        let memory = context.alloc(4096).expect("memory");
        let region = pd.register(memory, access).expect("a region");
        let peer = Connection {
            qp: PEER_QP,
            psn: PEER_PSN,
            transport: Transport::Rc,
            ports: [PEER; 2],
        };
        for step in [
            Modify::Init(InitAttributes::default()),
            Modify::RcRtr(RcRtrAttributes::new(peer)),
            Modify::RcRts(RcRtsAttributes {
                // The peer replies in wall time.
                timeout: Duration::from_millis(8),
                ..RcRtsAttributes::new(CARD_PSN)
            }),
        ] {
            qp.modify(step).expect("the state follows");
        }
        Self {
            context,
            cq,
            qp,
            region,
        }
    }

    fn read(&self, at: usize, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let memory = self.region.memory().expect("host memory");
        memory.read(at, &mut bytes).expect("it is inside");
        bytes
    }
}

/// The peer writes to the card's memory, and gets an acknowledgement while the driver does nothing.
fn check_write_to_card(driver: &Driver, peer: &Peer) {
    let payload: Vec<u8> = (1..=100).collect();
    let remote = driver.region.remote();
    let bth = Bth {
        opcode: Opcode::RcWriteOnly,
        dest_qp: driver.qp.number(),
        ack_req: true,
        psn: PEER_PSN,
        ..Bth::default()
    };
    let reth = Reth {
        va: remote.address + 16,
        rkey: remote.rkey,
        dma_len: 100,
    };
    let ext = ExtHeaders {
        reth: Some(reth),
        ..ExtHeaders::default()
    };
    peer.send(&frame(bth, ext, &payload));
    let ack = peer.receive_roce();
    assert_eq!(ack.bth.opcode, Opcode::RcAck);
    assert_eq!(ack.bth.psn, PEER_PSN);
    assert_eq!(ack.ext.aeth.expect("it is an acknowledgement").msn, 1);
    assert_eq!(driver.read(16, 100), payload);
    assert_eq!(
        (driver.read(0, 16), driver.read(116, 16)),
        (vec![0; 16], vec![0; 16])
    );
    assert_eq!(driver.context.poll_event().expect("events"), None);
}

/// Checks that the card writes to the peer, which acknowledges.
fn check_write_to_peer(driver: &Driver, peer: &Peer) {
    let source = driver.region.slice(16, 100).expect("it is inside");
    let write = WorkRequest::write(7, source, 0x1122_3344_5566, 0x77);
    driver.qp.post_send(&write).expect("it is posted");
    let request = peer.receive_roce();
    assert_eq!(request.bth.opcode, Opcode::RcWriteOnly);
    assert_eq!(request.bth.psn, CARD_PSN);
    assert!(request.bth.ack_req);
    let reth = request.ext.reth.expect("it is a WRITE");
    assert_eq!(
        (reth.va, reth.rkey, reth.dma_len),
        (0x1122_3344_5566, 0x77, 100)
    );
    assert_eq!(request.payload, driver.read(16, 100));
    let bth = Bth {
        opcode: Opcode::RcAck,
        dest_qp: driver.qp.number(),
        psn: CARD_PSN,
        ..Bth::default()
    };
    let aeth = Aeth {
        msn: 1,
        ..Aeth::default()
    };
    let ext = ExtHeaders {
        aeth: Some(aeth),
        ..ExtHeaders::default()
    };
    peer.send(&frame(bth, ext, &[]));
    let done = driver.cq.wait(1, SOON).expect("the card");
    let done = done.first().expect("a completion");
    assert_eq!((done.wr_id, done.status), (7, WcStatus::Success));
}

/// The RoCEv2 opcodes of a capture, in order; `None` for other frames.
fn captured(path: &Path) -> Vec<Option<Opcode>> {
    let file = File::open(path).expect("the capture");
    let mut reader = PcapNgReader::new(file).expect("a capture");
    let mut found = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a whole block") {
            let frame = RoceFrame::parse(&packet.data);
            found.push(frame.ok().map(|frame| frame.bth.opcode));
        }
    }
    found
}

#[test]
fn a_peer_in_another_process_is_the_other_end_of_the_wire() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    let (here, there, capture) = (at("here"), at("there"), at("bridge.pcapng"));
    let address = format!("dgram:{}:{}", here.display(), there.display());
    let file = capture.display().to_string();
    let options = ["--lone", "--bridge", &address, "--capture", &file];
    let serve = Serve::<1>::start_with(&at("cards"), &options);
    assert_eq!(serve.line(), format!("port 0 is bridged to {address}"));
    assert!(!at("cards").join("nic1.sock").exists());

    // No driver is connected, and the clock is stopped between the requests.
    let peer = Peer::new(&there, &here);
    peer.ask();
    peer.ask();
    let driver = Driver::new(&serve.sockets[0]);
    peer.ask();
    check_write_to_card(&driver, &peer);
    check_write_to_peer(&driver, &peer);
    // The card was reset when its driver disconnected: it does not answer the frame that it acknowledged before.
    let qp = driver.qp.number();
    drop(driver);
    let bth = Bth {
        opcode: Opcode::RcWriteOnly,
        dest_qp: qp,
        ack_req: true,
        psn: PEER_PSN,
        ..Bth::default()
    };
    let ext = ExtHeaders {
        reth: Some(Reth::default()),
        ..ExtHeaders::default()
    };
    peer.send(&frame(bth, ext, &[]));
    peer.ask();

    let said = serve.stop("TERM");
    assert!(!here.exists(), "the bridge's socket is left");
    let [counts] = &said[..] else {
        panic!("it said {said:?}");
    };
    let expected = "bridge: 7 frames from the peer, 6 from the card; 0 dropped, 0 duplicated and 0 held back on purpose; \
        0 lost without a peer, 0 at the other port, 0 malformed";
    assert_eq!(counts, expected);
    let (write, ack) = (Some(Opcode::RcWriteOnly), Some(Opcode::RcAck));
    let question = [None; 2];
    let frames = [
        &question[..],
        &question,
        &question,
        &[write, ack],
        &[write, ack],
        &[write],
        &question,
    ];
    assert_eq!(captured(&capture), frames.concat());
}
