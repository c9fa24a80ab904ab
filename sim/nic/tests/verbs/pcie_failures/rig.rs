//! Two hosts with a queue pair that meets failures, and two that must not notice: one on each lane.

use std::ops::Range;
use std::time::Duration;

use sim_nic::{CardPair, PcieSettings, CLOCK_PS};
use sim_pcie::{FaultKind, FaultRule, Refusal, RequestKind, Window};
use stellar_driver::*;
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::registers::READ_TIMEOUT;

use crate::verbs::hosts::*;

/// Cycles until a read of the card has failed: 80 us, many times that of a message here.
const READ_CYCLES: u64 = 20_000;
/// Time in which a fence is done, even if reads that had left before the link was down end with their timeout.
const SOON: Duration = Duration::from_micros(200);
/// Bytes of a message of the queue pairs that must not notice.
const BYTES: usize = 32 << 10;
/// Bytes of the memory that cannot be reached, one page of the GPU.
pub const BAD_BYTES: u64 = 1 << 16;
/// Final address of a page of the GPU's memory.
pub const GPU: u64 = 0x70_0000_0000;

/// A queue pair at each host.
pub type Pair = [QueuePair; 2];

/// Time of a retransmission, of which there is one, where a peer does not answer.
const IMPATIENT: Duration = Duration::from_micros(20);

/// A queue pair on one lane, with its memory.
struct Bystander {
    qps: Pair,
    source: MemoryRegion,
    target: MemoryRegion,
    sent: Vec<u8>,
    posted: u64,
}

/// See the top of this file.
pub struct Rig {
    pub pair: CardPair,
    pub devices: [Device; 2],
    pub hosts: [Host; 2],
    lanes: [Bystander; 2],
    counters: [Vec<PortCount>; 2],
}

/// Connects RC queue pairs that send by `port`.
fn connect_rc(qps: &Pair, port: u8, psn: u32, patience: Option<Duration>) {
    let told = [0, 1].map(|host: usize| qps[host].connection(psn));
    for host in 0..2 {
        let init = Modify::Init(InitAttributes::default());
        qps[host].modify(init).unwrap();
        let rtr = RcRtrAttributes {
            port,
            ..RcRtrAttributes::new(told[1 - host])
        };
        qps[host].modify(Modify::RcRtr(rtr)).unwrap();
    }
    let mut rts = RcRtsAttributes::new(psn);
    if let Some(timeout) = patience {
        rts.timeout = timeout;
        rts.retry_cnt = 1;
    }
    for qp in qps {
        qp.modify(Modify::RcRts(rts)).unwrap();
    }
}

/// Settings with a short completion timeout.
pub fn settings() -> PcieSettings {
    PcieSettings {
        completion_timeout: Some(READ_CYCLES * CLOCK_PS),
        ..PcieSettings::default()
    }
}

/// Faults in the accesses of one kind to a window.
pub fn rule(fault: FaultKind, only: RequestKind, base: u64, size: u64) -> FaultRule {
    FaultRule {
        window: Some(Window { base, size }),
        only: Some(only),
        ..FaultRule::new(fault)
    }
}

impl Rig {
    pub fn new(settings: &PcieSettings) -> Self {
        let pair = CardPair::with_pcie(settings).unwrap();
        let devices = bring_up(&pair);
        for host in 0..2 {
            let timeout = READ_TIMEOUT.offset.into();
            let function = pair.function(host);
            function
                .write64(Bar::Registers, timeout, READ_CYCLES)
                .unwrap();
        }
        let hosts = open(&devices, false);
        let mut pairs = [(); 2].map(|()| [0, 1].map(|host| hosts[host].qp_over(Transport::Rc)));
        // The endpoint of a lane also reads the send queue: of even numbers endpoint 0, of odd ones endpoint 1.
        pairs.sort_by_key(|qps: &Pair| qps[0].number() % 2);
        let mut pairs = pairs.into_iter();
        let lanes = [0, 1].map(|port: u8| {
            let qps = pairs.next().unwrap();
            connect_rc(&qps, port, 100 + u32::from(port), None);
            let source = hosts[0].region(BYTES, false);
            let sent = pattern(BYTES, 0x3c + port);
            source.memory().unwrap().write(0, &sent).unwrap();
            Bystander {
                qps,
                source,
                target: hosts[1].region(BYTES, true),
                sent,
                posted: 0,
            }
        });
        let counters = devices
            .each_ref()
            .map(|device| device.port_counters().unwrap());
        Self {
            pair,
            devices,
            hosts,
            lanes,
            counters,
        }
    }

    /// MRC queue pairs, which use both lanes.
    pub fn mrc(&self) -> Pair {
        let qps = [0, 1].map(|host: usize| self.hosts[host].qp());
        connect([&qps[0], &qps[1]], 7);
        qps
    }

    /// RC queue pairs on the lane of a port. They give up after one retransmission if they are `impatient`.
    pub fn rc(&self, port: u8, impatient: bool) -> Pair {
        let qps = [0, 1].map(|host: usize| self.hosts[host].qp_over(Transport::Rc));
        connect_rc(&qps, port, 9, impatient.then_some(IMPATIENT));
        qps
    }

    /// Memory of the GPU of a host as a region.
    pub fn gpu_region(&self, host: usize) -> MemoryRegion {
        self.pair.add_gpu_memory(host, GPU, BAD_BYTES);
        self.hosts[host].gpu_page(GPU, true)
    }

    pub fn add_fault(&self, host: usize, rule: FaultRule) {
        self.pair.add_pcie_fault(host, rule).unwrap();
    }

    /// Posts a message on the lane of a port, with other bytes than the last one.
    pub fn post_bystander(&mut self, port: usize) {
        let lane = &mut self.lanes[port];
        let to = lane.target.remote();
        let slice = lane.source.slice(0, BYTES as u32).unwrap();
        let write = WorkRequest::write(lane.posted, slice, to.address, to.rkey);
        lane.qps[0].post_send(&write).unwrap();
        lane.posted += 1;
    }

    /// Polls until the queue pair `qp` of a host has `count` completions. Those of the bystanders have to be good.
    pub fn ends_of(&mut self, host: usize, qp: u32, count: usize) -> Vec<(u64, WcStatus)> {
        let function = self.pair.function(host);
        let end = function.now() + TIMEOUT;
        let mut found = Vec::new();
        while found.len() < count {
            assert!(function.now() < end, "only {found:?} of {count}");
            for wc in self.hosts[host].cq.poll(8).unwrap() {
                if wc.qp == qp {
                    found.push((wc.wr_id, wc.status));
                } else {
                    self.bystander_ended(&wc);
                }
            }
            function.relax();
        }
        found
    }

    fn bystander_ended(&mut self, wc: &Completion) {
        let mut lanes = self.lanes.iter_mut();
        let lane = lanes.find(|lane| lane.qps[0].number() == wc.qp);
        let lane = lane.unwrap_or_else(|| panic!("{wc:?} is of no bystander"));
        assert_eq!(wc.status, WcStatus::Success, "a bystander: {wc:?}");
        lane.posted -= 1;
    }

    /// Waits for all messages on the lane of a port, and compares the bytes.
    pub fn finish_bystander(&mut self, port: usize) {
        let function = self.pair.function(0);
        let end = function.now() + TIMEOUT;
        while self.lanes[port].posted > 0 {
            assert!(function.now() < end, "lane {port} does not go on");
            for wc in self.hosts[0].cq.poll(8).unwrap() {
                self.bystander_ended(&wc);
            }
            function.relax();
        }
        let lane = &mut self.lanes[port];
        assert!(bytes(&lane.target) == lane.sent, "lane {port}: other bytes");
        assert_eq!(lane.qps.each_ref().map(QueuePair::state), [QpState::Rts; 2]);
        // The next message has other bytes.
        lane.sent.iter_mut().for_each(|byte| *byte ^= 0xff);
        lane.source.memory().unwrap().write(0, &lane.sent).unwrap();
    }

    /// A message on the lane of a port, from the beginning to the end.
    pub fn bystander_goes_on(&mut self, port: usize) {
        self.post_bystander(port);
        self.finish_bystander(port);
    }

    /// The PCIe link of endpoint 1 of a host is down. Its queue pair and its memory are removed all the same, and the card touches nothing of it afterwards.
    pub fn memory_goes(&self, host: usize, qp: QueuePair, region: MemoryRegion) {
        let function = self.pair.function(host);
        let began = function.now();
        drop(qp);
        region.deregister().unwrap();
        let took = function.now() - began;
        assert!(took < SOON, "the fence takes {took:?}");
        let bad = self.pair.bad_accesses(host);
        self.pair.set_pcie_link(host, Function::Data, true);
        self.pair.run(READ_CYCLES);
        assert_eq!(self.pair.bad_accesses(host), bad);
    }

    /// The events of a host up to the one that says that the queue pair `qp` has failed, and the reason of that.
    pub fn events_until_fatal(&self, host: usize, qp: u32) -> (Vec<AsyncEvent>, WcStatus) {
        let context = &self.hosts[host].context;
        let mut before = Vec::new();
        loop {
            match context.wait_event(TIMEOUT).unwrap() {
                Some(AsyncEvent::QueuePairFatal {
                    qp: failed,
                    status: Some(status),
                }) if failed == qp => return (before, status),
                Some(event) => before.push(event),
                None => panic!("queue pair {qp} does not fail; before: {before:x?}"),
            }
        }
    }

    /// The card of host 1 has put queue pair `qp` in error, because flush reads of lane 1 failed: their events come first, with addresses in `written`. Unless
    /// they are `alone`, flush reads of other queue pairs may have failed as well.
    pub fn flush_reads_fail(&self, qp: u32, written: Range<u64>, alone: bool) {
        let (before, status) = self.events_until_fatal(1, qp);
        assert_eq!(status, WcStatus::WrFlushErr);
        let mut known = 0;
        for event in before {
            let AsyncEvent::FlushReadFailed { function, address } = event else {
                panic!("{event:?}");
            };
            assert_eq!(function, Function::Data);
            let is_known = written.contains(&address);
            assert!(is_known || !alone, "{address:#x}");
            known += usize::from(is_known);
        }
        assert!(known > 0, "no event has an address of the queue pair");
    }

    /// Counters of a host's card that have changed since the last call, with the ports where they have.
    pub fn changed_counters(&mut self, host: usize) -> Vec<(u8, PortCounter)> {
        let now = self.devices[host].port_counters().unwrap();
        let before = std::mem::replace(&mut self.counters[host], now.clone());
        let changed = now.iter().filter(|count| !before.contains(count));
        changed.map(|count| (count.port, count.counter)).collect()
    }

    /// What the fabric of a host has refused so far.
    pub fn refusals(&self, host: usize) -> Vec<Refusal> {
        let counters = self.pair.pcie_counters(host);
        counters.refusals().map(|(refusal, _)| refusal).collect()
    }

    /// What the functions of a host have logged in their configuration spaces since the last call.
    pub fn logged(&self, host: usize) -> [Vec<Uncorrectable>; 2] {
        let taken = self.devices[host].probe().take_pcie_errors().unwrap();
        [0, 1].map(|function: usize| taken[function].errors.clone())
    }
}

/// Posts a WRITE.
pub fn post(qp: &QueuePair, wr_id: u64, source: Source<'_>, to: &MemoryRegion) {
    let to = to.remote();
    let write = WorkRequest::write(wr_id, source, to.address, to.rkey);
    qp.post_send(&write).unwrap();
}
