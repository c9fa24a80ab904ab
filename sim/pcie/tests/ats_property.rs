//! Random mappings, unmappings and writes with ATS: whatever comes when, no write lands where its address does not point.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use proptest::prelude::*;
use sim_pcie::ats::*;
use sim_pcie::iommu::{DomainId, Invalidation, PageSize, Permission};
use sim_pcie::*;

const NIC: Bdf = Bdf::from_id(0x1700);
const GPU: Bdf = Bdf::from_id(0x1800);
const BAR: Window = Window {
    base: 0x20_0000_0000,
    size: 1 << 21,
};
const PAGE: u64 = 4096;
/// IO virtual pages that are mapped and written, from address 0 on.
const PAGES: u64 = 8;
/// Frames in each of host memory and GPU memory.
const FRAMES: u64 = 5;
/// Time after which a write that left before an invalidation was complete is in the GPU: it parts from the completion's way at the switch.
const GPU_LATENCY: Picoseconds = 1_000_000;

#[derive(Clone, Debug)]
enum Action {
    Map { page: u64, frame: u64, in_gpu: bool },
    Unmap { page: u64 },
    Write { page: u64, offset: u64, len: u64 },
    Run { ns: u64 },
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        3 => (0..PAGES, 0..FRAMES, any::<bool>())
            .prop_map(|(page, frame, in_gpu)| Action::Map { page, frame, in_gpu }),
        2 => (0..PAGES).prop_map(|page| Action::Unmap { page }),
        4 => (0..PAGES, 0..PAGE, 1..PAGE)
            .prop_map(|(page, offset, len)| Action::Write { page, offset, len }),
        4 => (0..4000u64).prop_map(|ns| Action::Run { ns }),
    ];
    prop::collection::vec(action, 1..80)
}

/// The byte that belongs at an IO virtual address.
fn label(iova: u64) -> u8 {
    (iova.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// Which IO virtual page may be written into each frame at present.
#[derive(Default)]
struct Truth {
    owner: BTreeMap<u64, u64>,
    landed: u64,
}

/// Memories that check every write against the truth.
struct Checker(Rc<RefCell<Truth>>);

impl Memories for Checker {
    fn contains(&self, _target: Target, _address: u64, _len: usize) -> bool {
        true
    }

    fn read(&mut self, _target: Target, _address: u64, _into: &mut [u8]) -> bool {
        false
    }

    fn write(&mut self, _target: Target, write: &mut MemWrite) -> bool {
        let mut truth = self.0.borrow_mut();
        let frame = write.address & !(PAGE - 1);
        let page = truth.owner.get(&frame).copied();
        let page = page.unwrap_or_else(|| panic!("a write to {frame:#x}, which nobody owns"));
        for range in enabled_ranges(write.data.len() / 4, write.first_be, write.last_be) {
            truth.landed += range.len() as u64;
            for at in range {
                let iova = page * PAGE + write.address % PAGE + at as u64;
                assert_eq!(write.data[at], label(iova), "a byte for another address");
            }
        }
        true
    }
}

#[derive(Clone, Debug)]
struct Setting {
    atc: AtcConfig,
    buffer: usize,
    iotlb: (usize, usize),
    walk_ns: u64,
    posted_ns: u64,
    seed: u64,
}

fn settings() -> impl Strategy<Value = Setting> {
    let atc = (1..3usize, 1..3usize, 1..4usize);
    let iotlb = (1..3usize, 1..3usize);
    let walk = prop_oneof![Just(100), Just(3000)];
    let posted = prop_oneof![Just(0), Just(2000)];
    (atc, 1..6usize, iotlb, walk, posted, any::<u64>()).prop_map(
        |((sets, ways, outstanding), buffer, iotlb, walk_ns, posted_ns, seed)| Setting {
            atc: AtcConfig {
                sets,
                ways,
                outstanding,
            },
            buffer,
            iotlb,
            walk_ns,
            posted_ns,
            seed,
        },
    )
}

struct Run {
    truth: Rc<RefCell<Truth>>,
    fabric: Fabric<Checker>,
    domain: DomainId,
    nic: WriteNic,
    mapped: BTreeMap<u64, u64>,
    /// Frame behind each invalidation that is not complete.
    invalidating: BTreeMap<u8, u64>,
    /// Frames that are free from a time on.
    releasing: VecDeque<(Picoseconds, u64)>,
    /// Pages each packet touches, by its address.
    sent: Vec<(u64, u64)>,
    ever_unmapped: Vec<u64>,
}

impl Run {
    fn new(setting: &Setting) -> Self {
        let config = FabricConfig {
            switches: vec![SwitchConfig::new(Bdf::from_id(0x1600))],
            nics: vec![NicConfig {
                ats: true,
                acs: AcsConfig {
                    request_redirect: true,
                    direct_translated: true,
                    ..AcsConfig::default()
                },
                posted_delay: DelayConfig {
                    max_ps: setting.posted_ns * 1000,
                    ..DelayConfig::default()
                },
                ..NicConfig::new(NIC)
            }],
            gpus: vec![GpuConfig::new(GPU, BAR)],
            iommu: IommuConfig {
                iotlb_sets: setting.iotlb.0,
                iotlb_ways: setting.iotlb.1,
                walk_latency_ps: setting.walk_ns * 1000,
                ..IommuConfig::default()
            },
            seed: setting.seed,
            ..FabricConfig::default()
        };
        let truth = Rc::new(RefCell::new(Truth::default()));
        let mut fabric = Fabric::with_memories(config, Checker(Rc::clone(&truth))).unwrap();
        let domain = fabric.iommu_mut().create_domain();
        fabric.iommu_mut().attach(NIC, domain).unwrap();
        let config = WriteNicConfig {
            port: PortId(0),
            function: NIC,
            line: LineConfig {
                gbps: 100,
                overhead: 102,
            },
            buffer: setting.buffer,
            max_payload: 256,
        };
        let nic = WriteNic::new(config, Translator::Ats(Atc::new(setting.atc)));
        Self {
            truth,
            fabric,
            domain,
            nic,
            mapped: BTreeMap::new(),
            invalidating: BTreeMap::new(),
            releasing: VecDeque::new(),
            sent: Vec::new(),
            ever_unmapped: Vec::new(),
        }
    }

    /// Lets time pass, and takes frames back whose invalidations are complete.
    fn run(&mut self, packets: &mut VecDeque<WritePacket>, until: Picoseconds) {
        let mut packets = std::iter::from_fn(|| packets.pop_front());
        self.nic.run(&mut self.fabric, &mut packets, until).unwrap();
        for done in self.fabric.take_invalidations_done() {
            let frame = self.invalidating.remove(&done.tag).unwrap();
            let in_gpu = frame >= BAR.base;
            let latency = if in_gpu { GPU_LATENCY } else { 0 };
            self.releasing.push_back((done.time + latency, frame));
        }
        let now = self.fabric.now();
        let truth = &mut self.truth.borrow_mut();
        self.releasing.retain(|&(at, frame)| {
            let is_over = at <= now;
            if is_over {
                truth.owner.remove(&frame);
            }
            !is_over
        });
    }

    fn act(&mut self, action: &Action, packets: &mut VecDeque<WritePacket>) {
        match *action {
            Action::Map {
                page,
                frame,
                in_gpu,
            } => {
                let address = frame * PAGE + if in_gpu { BAR.base } else { 0 };
                let is_free = !self.truth.borrow().owner.contains_key(&address);
                if !is_free || self.mapped.contains_key(&page) {
                    return;
                }
                self.truth.borrow_mut().owner.insert(address, page);
                self.mapped.insert(page, address);
                let both = Permission::READ_WRITE;
                let iommu = self.fabric.iommu_mut();
                iommu
                    .map(self.domain, page * PAGE, address, PageSize::Size4KiB, both)
                    .unwrap();
            }
            Action::Unmap { page } => {
                let Some(frame) = self.mapped.remove(&page) else {
                    return;
                };
                self.ever_unmapped.push(page);
                let (domain, iova, len) = (self.domain, page * PAGE, PAGE);
                let iommu = self.fabric.iommu_mut();
                iommu.unmap(domain, iova, PageSize::Size4KiB).unwrap();
                iommu.invalidate(Invalidation::Range { domain, iova, len });
                loop {
                    let now = self.fabric.now();
                    match self.fabric.invalidate_device(now, NIC, iova, len) {
                        Ok(tag) => {
                            self.invalidating.insert(tag, frame);
                            return;
                        }
                        Err(FabricError::QueueFull { .. } | FabricError::InvalidationsFull(_)) => {
                            self.run(packets, now + 1_000_000);
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
            }
            Action::Write { page, offset, len } => {
                let iova = page * PAGE + offset;
                let len = len.min(PAGES * PAGE - iova);
                let data = (iova..iova + len).map(label).collect();
                packets.push_back(WritePacket { iova, data });
                self.sent.push((iova, len));
                let touched = iova / PAGE..=(iova + len - 1) / PAGE;
                let absent = touched.filter(|page| !self.mapped.contains_key(page));
                self.ever_unmapped.extend(absent);
            }
            Action::Run { ns } => {
                let until = self.fabric.now() + ns * 1000;
                self.run(packets, until);
            }
        }
    }
}

proptest! {
    #[test]
    fn no_write_lands_at_a_wrong_address(setting in settings(), actions in actions()) {
        let mut run = Run::new(&setting);
        let mut packets = VecDeque::new();
        for action in &actions {
            run.act(action, &mut packets);
        }
        run.run(&mut packets, Picoseconds::MAX);
        prop_assert!(packets.is_empty());
        prop_assert!(run.invalidating.is_empty(), "every invalidation is completed");
        let failed = run.nic.take_failed();
        let mut failed: Vec<_> = failed.iter().map(|failed| (failed.iova, failed.len as u64)).collect();
        let mut must_land = 0;
        for &(iova, len) in &run.sent {
            let may_fail = (iova / PAGE..=(iova + len - 1) / PAGE).any(|page| run.ever_unmapped.contains(&page));
            match failed.iter().position(|&other| other == (iova, len)) {
                Some(at) if may_fail => { failed.remove(at); }
                Some(_) => prop_assert!(false, "the packet at {:#x} fails without reason", iova),
                None => must_land += len,
            }
        }
        prop_assert!(failed.is_empty());
        let landed = run.truth.borrow().landed;
        prop_assert!(landed >= must_land, "{} of {} bytes have landed", landed, must_land);
        prop_assert_eq!(run.fabric.counters().refusals().count(), 0);
    }
}
