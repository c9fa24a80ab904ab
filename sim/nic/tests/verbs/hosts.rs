//! Two hosts with a card each.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use sim_nic::{CardPair, SimHosts};
use stellar_driver::*;
use stellar_wire::receive::DropReason;
use stellar_wire::{Bth, Ethernet, ExtHeaders, Ip, Ipv4, MacAddr, RoceFrame};

/// Longest that anything here takes on the cards' clock.
pub const TIMEOUT: Duration = Duration::from_millis(2);

/// A host with its card open.
pub struct Host {
    pub context: Context,
    pub pd: ProtectionDomain,
    pub cq: CompletionQueue,
}

pub fn ports(host: u8) -> [PortAddress; 2] {
    [0, 1].map(|plane| PortAddress {
        mac: [2, 0, 0, plane, 0, host + 1],
        ip: [10, plane, 0, host + 1].into(),
    })
}

pub fn bring_up(pair: &SimHosts) -> [Device; 2] {
    [0, 1].map(|host| {
        let config = DeviceConfig::new(ports(host), host.into());
        let probe = Probe::new(pair.function(host.into())).unwrap();
        probe.bring_up(config).unwrap()
    })
}

pub fn open(devices: &[Device; 2], interrupt: bool) -> [Host; 2] {
    [0, 1].map(|host| Host::open(&devices[host], interrupt))
}

impl Host {
    pub fn open(device: &Device, interrupt: bool) -> Self {
        let context = device.open().unwrap();
        Self {
            pd: context.alloc_pd().unwrap(),
            cq: context.create_cq(64, interrupt).unwrap(),
            context,
        }
    }

    pub fn qp(&self) -> QueuePair {
        self.qp_over(Transport::Mrc)
    }

    pub fn qp_over(&self, transport: Transport) -> QueuePair {
        let config = QueuePairConfig {
            send_entries: 8,
            transport,
            ..QueuePairConfig::default()
        };
        self.pd.create_qp(&self.cq, config).unwrap()
    }

    pub fn region(&self, bytes: usize, remote_write: bool) -> MemoryRegion {
        let access = AccessFlags {
            remote_write,
            ..AccessFlags::default()
        };
        let memory = self.context.alloc(bytes).unwrap();
        self.pd.register(memory, access).unwrap()
    }

    /// A page of 64 KiB of GPU memory at `address`, which the test has added to the GPU.
    pub fn gpu_page(&self, address: u64, remote_write: bool) -> MemoryRegion {
        let pages = Pages {
            size: PageSize::Size64K,
            addresses: vec![address],
            base: 0x4000_0000,
            device: 1,
        };
        let access = AccessFlags {
            remote_write,
            ..AccessFlags::default()
        };
        // SAFETY: the simulated GPU's memory belongs to the test alone.
        unsafe { self.pd.register_translated(pages, access) }.unwrap()
    }

    /// Polls until there are `count` completions.
    pub fn completions(&self, count: usize) -> Vec<Completion> {
        let device = self.context.device();
        let function = device.probe().function();
        let end = function.now() + TIMEOUT;
        let mut found = Vec::new();
        while found.len() < count {
            assert!(function.now() < end, "only {found:?} of {count}");
            found.extend(self.cq.poll(count - found.len()).unwrap());
            function.relax();
        }
        found
    }
}

/// Connects queue pairs of RC that send by `port`.
pub fn connect_by(port: u8, qps: [&QueuePair; 2], psn: u32) {
    let told = qps.map(|qp| qp.connection(psn));
    for (qp, peer) in qps.into_iter().zip([told[1], told[0]]) {
        let attributes = RcRtrAttributes {
            port,
            ..RcRtrAttributes::new(peer)
        };
        qp.modify(Modify::Init(InitAttributes::default())).unwrap();
        qp.modify(Modify::RcRtr(attributes)).unwrap();
    }
    for qp in qps {
        let ready = Modify::RcRts(RcRtsAttributes::new(psn));
        qp.modify(ready).unwrap();
    }
}

/// Moves a queue pair to INIT and RTR, with the attributes of its transport.
pub fn ready(qp: &QueuePair, peer: Connection) {
    qp.modify(Modify::Init(InitAttributes::default())).unwrap();
    let step = match qp.transport() {
        Transport::Mrc => Modify::Rtr(RtrAttributes::new(peer)),
        Transport::Rc => Modify::RcRtr(RcRtrAttributes::new(peer)),
    };
    qp.modify(step).unwrap();
}

pub fn connect(qps: [&QueuePair; 2], psn: u32) {
    let told = qps.map(|qp| qp.connection(psn));
    ready(qps[0], told[1]);
    ready(qps[1], told[0]);
    for qp in qps {
        let step = match qp.transport() {
            Transport::Mrc => Modify::Rts(RtsAttributes::new(psn)),
            Transport::Rc => Modify::RcRts(RcRtsAttributes::new(psn)),
        };
        qp.modify(step).unwrap();
    }
}

/// A packet as the peer, host 1, sends it from its port to the same port of the card.
pub fn from_peer(port: usize, bth: Bth, ext: ExtHeaders) -> RoceFrame {
    let (from, to) = (ports(1)[port], ports(0)[port]);
    let (IpAddr::V4(src), IpAddr::V4(dst)) = (from.ip, to.ip) else {
        unreachable!("the hosts have IPv4 addresses");
    };
    RoceFrame {
        eth: Ethernet {
            dst: MacAddr(to.mac),
            src: MacAddr(from.mac),
            ..Ethernet::default()
        },
        ip: Ip::V4(Ipv4 {
            src,
            dst,
            ..Ipv4::default()
        }),
        bth: Bth {
            pkey: 0xffff,
            ..bth
        },
        ext,
        ..RoceFrame::default()
    }
}

/// Packets counted with a reason.
pub fn count_of(counters: &[Counter], reason: DropReason) -> u64 {
    let found = counters.iter().find(|counter| counter.reason == reason);
    found.map_or(0, |counter| counter.value)
}

pub fn pattern(length: usize, salt: u8) -> Vec<u8> {
    (0..length)
        .map(|i| (i * 31 + i / 251) as u8 ^ salt)
        .collect()
}

/// Work requests and how they ended.
pub fn ends(completions: &[Completion]) -> Vec<(u64, WcStatus)> {
    completions.iter().map(|wc| (wc.wr_id, wc.status)).collect()
}

/// Returns the fields of the completions of received messages: opcode, immediate, bytes, queue pair.
pub fn arrived(completions: &[Completion]) -> Vec<(CqeOpcode, Option<u32>, u32, u32)> {
    let told = |wc: &Completion| (wc.opcode, wc.immediate, wc.byte_len, wc.qp);
    completions.iter().map(told).collect()
}

pub fn bytes(region: &MemoryRegion) -> Vec<u8> {
    let memory = region.memory().unwrap();
    let mut bytes = vec![0; memory.length()];
    memory.read(0, &mut bytes).unwrap();
    bytes
}

/// Two cards that are up.
pub struct Cards {
    pub pair: CardPair,
    pub devices: [Device; 2],
}

/// The cards of all tests that leave them up, which take turns: bringing up takes most of a test's time.
pub fn cards() -> (MutexGuard<'static, ()>, &'static Cards) {
    static TURN: Mutex<()> = Mutex::new(());
    static CARDS: OnceLock<Cards> = OnceLock::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let cards = CARDS.get_or_init(|| {
        let pair = CardPair::new().unwrap();
        let devices = bring_up(&pair);
        Cards { pair, devices }
    });
    (turn, cards)
}
