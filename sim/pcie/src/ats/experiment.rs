//! The experiment of STELLAR's figure 8: goodput into GPU memory against the size of messages.

use super::{
    Atc, AtcConfig, AtcCounters, Emtt, LineConfig, Owner, Translator, WriteNic, WriteNicConfig,
    WritePacket,
};
use crate::config::{AcsConfig, FabricConfig, Generation, GpuConfig, IommuConfig, LinkConfig};
use crate::config::{NicConfig, SwitchConfig, Window};
use crate::counters::{Route, Target};
use crate::fabric::{Fabric, PortId};
use crate::iommu::{IommuCounters, PageSize, Permission};
use crate::memories::Memories;
use crate::tlp::MemWrite;
use crate::{Bdf, Picoseconds};

const NIC: Bdf = Bdf::from_id(0x1700);
const GPU: Bdf = Bdf::from_id(0x1800);
const SWITCH: Bdf = Bdf::from_id(0x1600);
/// The GPU's memory: 64 GiB.
const BAR: Window = Window {
    base: 1 << 40,
    size: 1 << 36,
};
const PAGE: u64 = PageSize::Size4KiB.bytes();
/// Payload of a packet in bytes.
const PACKET: u64 = 2048;
/// A line of 200 Gb/s. Ethernet, IP, UDP, transport headers, checksums, preamble and gap of a packet are 102 bytes, as on OpenStellar's card.
const LINE: LineConfig = LineConfig {
    gbps: 200,
    overhead: 102,
};
const MAX_PAYLOAD: usize = 256;
/// Latency of a link: 75 ns, as of those around a simulated card (`sim_nic`). Switch and root complex have the defaults of a fabric.
const LINK_LATENCY: Picoseconds = 75_000;
/// Packets in the NIC's buffer.
const BUFFER: usize = 64;
/// Pages that are written for the measured goodput.
const MEASURED: u64 = 1 << 15;
/// Time between two looks at the goodput.
const SLICE: Picoseconds = 10_000_000;
/// Pages that are written before, without a cache that has to be warm.
const SETTLED: u64 = 1 << 10;

/// Translation of the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    /// ATS with such a cache.
    Ats(AtcConfig),
    /// A table on the card.
    Emtt,
}

/// A run: connections write their messages again and again, each into a buffer of its own in GPU memory, packet by packet in turns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experiment {
    /// Translation.
    pub translation: Translation,
    /// The IOMMU. Its pages are of 4 KiB.
    pub iommu: IommuConfig,
    /// Connections.
    pub connections: u64,
    /// Length of a message in bytes: a multiple of 4 KiB. All messages together are at most 64 GiB.
    pub message: u64,
    /// Decides where in the GPU each page lies.
    pub seed: u64,
}

/// Result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goodput {
    /// Payload that reached GPU memory, in Gb/s of simulated time.
    pub gbps: f64,
    /// Payload during the measurement in bytes.
    pub bytes: u64,
    /// Time of the measurement.
    pub time: Picoseconds,
    /// Translation requests for each page written, during the measurement.
    pub atc_misses: f64,
    /// Misses of the IOTLB for each page written, during the measurement.
    pub iotlb_misses: f64,
}

/// GPU memory that keeps nothing, and checks that every write came where its bytes say.
struct Sink {
    seed: u64,
}

impl Memories for Sink {
    fn contains(&self, target: Target, _address: u64, _len: usize) -> bool {
        target == Target::Gpu(0)
    }

    fn read(&mut self, _target: Target, _address: u64, _into: &mut [u8]) -> bool {
        false
    }

    fn write(&mut self, _target: Target, write: &mut MemWrite) -> bool {
        let label = write.data[..8].try_into().map(u64::from_le_bytes);
        let iova = label.expect("a slice of 8 bytes");
        let expected = frame(iova, self.seed) + iova % PAGE;
        assert_eq!(
            write.address, expected,
            "a write for {iova:#x} at a wrong address"
        );
        true
    }
}

/// Bus address of the page of an IO virtual address: the pages are scattered over the GPU's memory.
fn frame(iova: u64, seed: u64) -> u64 {
    let pages = BAR.size / PAGE;
    let scattered = (iova / PAGE).wrapping_mul(0x9e37_79b1).wrapping_add(seed);
    BAR.base + scattered % pages * PAGE
}

/// The packets: connections in turns.
struct Streams {
    connections: u64,
    message: u64,
    next: u64,
}

impl Iterator for Streams {
    type Item = WritePacket;

    fn next(&mut self) -> Option<WritePacket> {
        let (connection, packet) = (self.next % self.connections, self.next / self.connections);
        self.next += 1;
        let iova = connection * self.message + packet * PACKET % self.message;
        let mut data = vec![0; PACKET as usize];
        for (index, piece) in data.chunks_mut(MAX_PAYLOAD).enumerate() {
            let label = iova + (index * MAX_PAYLOAD) as u64;
            piece[..8].copy_from_slice(&label.to_le_bytes());
        }
        Some(WritePacket { iova, data })
    }
}

fn fabric(experiment: &Experiment) -> Fabric<Sink> {
    let link = LinkConfig {
        generation: Generation::Gen4,
        lanes: 16,
        latency_ps: LINK_LATENCY,
        ..LinkConfig::default()
    };
    let config = FabricConfig {
        switches: vec![SwitchConfig {
            uplink: link.clone(),
            ..SwitchConfig::new(SWITCH)
        }],
        nics: vec![NicConfig {
            ats: true,
            link: link.clone(),
            acs: AcsConfig {
                request_redirect: true,
                direct_translated: true,
                ..AcsConfig::default()
            },
            ..NicConfig::new(NIC)
        }],
        gpus: vec![GpuConfig {
            link,
            ..GpuConfig::new(GPU, BAR)
        }],
        iommu: experiment.iommu.clone(),
        seed: experiment.seed,
        ..FabricConfig::default()
    };
    let sink = Sink {
        seed: experiment.seed,
    };
    Fabric::with_memories(config, sink).expect("the platform of the experiment is a valid one")
}

/// Counts at a moment.
#[derive(Clone, Copy)]
struct Look {
    time: Picoseconds,
    bytes: u64,
    atc: AtcCounters,
    iommu: IommuCounters,
}

impl Look {
    fn at(fabric: &Fabric<Sink>, nic: &WriteNic) -> Self {
        let atc = nic.translator().atc();
        Self {
            time: fabric.now(),
            bytes: fabric.counters().writes(Route::PeerDirect).bytes,
            atc: atc.map(Atc::counters).unwrap_or_default(),
            iommu: fabric.iommu().counters(),
        }
    }

    fn until(&self, end: &Self) -> Goodput {
        let (bytes, time) = (end.bytes - self.bytes, end.time - self.time);
        let per_page = |events: u64| events as f64 * PAGE as f64 / bytes as f64;
        Goodput {
            gbps: bytes as f64 * 8e3 / time as f64,
            bytes,
            time,
            atc_misses: per_page(end.atc.requests - self.atc.requests),
            iotlb_misses: per_page(end.iommu.iotlb_misses - self.iommu.iotlb_misses),
        }
    }
}

impl Experiment {
    /// Pages of all messages.
    fn pages(&self) -> u64 {
        self.connections * self.message / PAGE
    }

    /// Pages that are written before the measurement: all of them, or as many as fill the caches. Of a working set that is larger than a cache with
    /// least-recently-used replacement, every page misses in every round, the first one too, so the rest of a first round adds nothing.
    fn warm_up(&self) -> u64 {
        let fill = match self.translation {
            Translation::Ats(atc) => {
                let iotlb = self.iommu.iotlb_sets * self.iommu.iotlb_ways;
                atc.entries().max(iotlb) as u64
            }
            Translation::Emtt => SETTLED,
        };
        self.pages().min(fill)
    }
}

/// Runs an experiment. Calls `progress` with the bytes written, and those that will be.
///
/// # Panics
/// If there is no connection, or messages are no multiple of 4 KiB, or larger than the GPU's memory; or if a write comes to a wrong address, which is
/// an error of the model.
pub fn measure(experiment: &Experiment, progress: &mut dyn FnMut(u64, u64)) -> Goodput {
    let Experiment {
        connections,
        message,
        seed,
        ..
    } = *experiment;
    assert!(
        connections > 0 && message > 0 && message.is_multiple_of(PAGE),
        "{connections} connections with messages of {message} bytes: one or more, with a multiple of 4 KiB"
    );
    assert!(
        connections * message <= BAR.size,
        "all messages together have at most 64 GiB"
    );
    let warm = experiment.warm_up() * PAGE;
    let total = warm + MEASURED * PAGE;
    // A run that ends before the first round touches the first pages of each buffer only. What is in flight at the end is a few pages more.
    let touched = (total / connections + 16 * PAGE).next_multiple_of(PAGE);
    let touched = touched.min(message);
    let pages = (0..connections).flat_map(|connection| {
        let first = connection * message;
        (first..first + touched).step_by(PAGE as usize)
    });
    let mut fabric = fabric(experiment);
    let translator = match experiment.translation {
        Translation::Ats(atc) => {
            let iommu = fabric.iommu_mut();
            let domain = iommu.create_domain();
            iommu.attach(NIC, domain).expect("the domain is new");
            for page in pages {
                let both = Permission::READ_WRITE;
                iommu
                    .map(domain, page, frame(page, seed), PageSize::Size4KiB, both)
                    .expect("every page is mapped once");
            }
            Translator::Ats(Atc::new(atc))
        }
        Translation::Emtt => {
            let mut emtt = Emtt::new();
            for page in pages {
                emtt.register(page, frame(page, seed), Owner::Gpu);
            }
            Translator::Emtt(emtt)
        }
    };
    let config = WriteNicConfig {
        port: PortId(0),
        function: NIC,
        line: LINE,
        buffer: BUFFER,
        max_payload: MAX_PAYLOAD,
    };
    let mut nic = WriteNic::new(config, translator);
    let mut streams = Streams {
        connections,
        message,
        next: 0,
    };
    let mut run_until = |bytes: u64| loop {
        let until = fabric.now() + SLICE;
        nic.run(&mut fabric, &mut streams, until)
            .expect("no link goes down");
        let look = Look::at(&fabric, &nic);
        progress(look.bytes.min(total), total);
        if look.bytes >= bytes {
            return look;
        }
    };
    let begin = run_until(warm);
    let end = run_until(total);
    begin.until(&end)
}
