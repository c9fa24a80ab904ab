//! Two simulated cards, cable to cable: bring-up, a WRITE from host memory to host memory, and a WRITE with immediate. Without arguments the cards
//! are in this process. With two sockets of `stellar serve` they are in the server. With two functions bound to `vfio-pci` they are real cards, or
//! those of `stellar serve` inside a virtual machine, for which `--slower` stretches the timeouts (`./stellar interop vfio`). The output is the same
//! in all three cases.
//!
//! ```text
//! cargo run --example bring_up
//! cargo run --example bring_up -- --vfio-user out/serve/nic0.sock out/serve/nic1.sock
//! cargo run --example bring_up -- --vfio 0000:00:05.0 0000:00:06.0 --slower 2000
//! ```

use std::error::Error;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sim_nic::CardPair;
use stellar_driver::{
    AccessFlags, Completion, CompletionQueue, Context, Device, DeviceConfig, DropReason,
    InitAttributes, MemoryRegion, Modify, PciFunction, PortAddress, Probe, QueuePair,
    QueuePairConfig, RtrAttributes, RtsAttributes, Vfio, VfioUser, WcStatus, WorkRequest,
};

/// Number of bytes to write.
const BYTES: usize = 1 << 20;
/// Longest time of the whole transfer on the cards' clock.
const PATIENCE: Duration = Duration::from_millis(10);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The objects of one host.
struct Host {
    device: Device,
    context: Context,
    cq: CompletionQueue,
    qp: QueuePair,
    region: MemoryRegion,
}

fn bring_up(function: Arc<dyn PciFunction>, number: u8) -> Result<Device> {
    let probe = Probe::new(function)?;
    println!(
        "host {number}: registers {}.{}, {} queue pairs, {} ports (up: {:#04b}), {} vectors, payload {} B, reads {} B",
        probe.version.0,
        probe.version.1,
        1 << probe.features.log2_queue_pairs,
        probe.features.ports,
        probe.ports_up,
        probe.msi_x_vectors,
        probe.max_payload,
        probe.max_read,
    );
    let ports = [0, 1].map(|plane| PortAddress {
        mac: [2, 0, 0, plane, 0, number + 1],
        ip: [10, plane, 0, number + 1].into(),
    });
    Ok(probe.bring_up(DeviceConfig::new(ports, number.into()))?)
}

fn host(function: Arc<dyn PciFunction>, number: u8) -> Result<Host> {
    let device = bring_up(function, number)?;
    let context = device.open()?;
    let pd = context.alloc_pd()?;
    let cq = context.create_cq(64, true)?;
    let qp = pd.create_qp(&cq, QueuePairConfig::default())?;
    let access = AccessFlags {
        remote_write: true,
        ..AccessFlags::default()
    };
    let region = pd.register(context.alloc(BYTES)?, access)?;
    println!(
        "host {number}: doorbell page {}, queue pair {}, {} KiB at {:#x} with key {:#010x}",
        context.page(),
        qp.number(),
        BYTES >> 10,
        region.address(),
        region.rkey(),
    );
    Ok(Host {
        device,
        context,
        cq,
        qp,
        region,
    })
}

/// Exchanges the connection parameters out of band: here, by a function call.
fn connect(hosts: &[Host; 2]) -> Result<()> {
    let psn = [0x0012_3456, 0x00ff_ffff];
    let told = [0, 1].map(|i| hosts[i].qp.connection(psn[i]));
    for i in [0, 1] {
        let qp = &hosts[i].qp;
        qp.modify(Modify::Init(InitAttributes::default()))?;
        qp.modify(Modify::Rtr(RtrAttributes::new(told[1 - i])))?;
    }
    for i in [0, 1] {
        hosts[i]
            .qp
            .modify(Modify::Rts(RtsAttributes::new(psn[i])))?;
    }
    Ok(())
}

fn wait(host: &Host, what: &str) -> Result<Completion> {
    let completions = host.cq.wait(1, PATIENCE)?;
    let completion = completions.first().ok_or(format!("no {what}"))?;
    if completion.status != WcStatus::Success {
        let event = host.context.poll_event()?;
        return Err(format!("{what}: {completion:?}, {event:?}").into());
    }
    Ok(*completion)
}

/// Cards bound to `vfio-pci`.
fn through_vfio(names: [&str; 2], slowness: NonZeroU32) -> Result<[Arc<dyn PciFunction>; 2]> {
    let open = |name| Vfio::open(name).map(|card| card.slowed(slowness));
    let [a, b] = names.map(open);
    Ok([Arc::new(a?), Arc::new(b?)])
}

/// The cards that the arguments name.
fn functions() -> Result<[Arc<dyn PciFunction>; 2]> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => {
            let pair = CardPair::new()?;
            Ok([pair.function(0), pair.function(1)])
        }
        ["--vfio-user", a, b] => {
            let open = |socket| VfioUser::open(Path::new(socket));
            Ok([Arc::new(open(a)?), Arc::new(open(b)?)])
        }
        ["--vfio", a, b] => through_vfio([a, b], NonZeroU32::MIN),
        ["--vfio", a, b, "--slower", times] => {
            let times = times.parse();
            through_vfio(
                [a, b],
                times.map_err(|_| "--slower takes a number from 1 on")?,
            )
        }
        _ => {
            Err("usage: bring_up [--vfio-user SOCKET SOCKET | --vfio BDF BDF [--slower N]]".into())
        }
    }
}

fn main() -> Result<()> {
    let functions = functions()?;
    let [a, b] = &functions;
    let hosts = [host(Arc::clone(a), 0)?, host(Arc::clone(b), 1)?];
    connect(&hosts)?;
    let [a, b] = &hosts;

    let sent: Vec<u8> = (0..BYTES).map(|i| (i * 7 + i / 4099) as u8).collect();
    let memory = |host: &Host| host.region.memory().cloned().ok_or("no host memory");
    memory(a)?.write(0, &sent)?;
    let to = b.region.remote();
    let began = functions[0].now();
    let half = BYTES as u32 / 2;
    let write = WorkRequest::write(1, a.region.slice(0, half)?, to.address, to.rkey);
    a.qp.post_send(&write)?;
    let rest = a.region.slice(half.into(), half)?;
    let write = WorkRequest::write(2, rest, to.address + u64::from(half), to.rkey);
    a.qp.post_send(&write.with_immediate(0x57e1_1a12))?;

    let received = wait(b, "immediate")?;
    println!(
        "host 1: {} bytes announced by immediate {:#010x}",
        received.byte_len,
        received.immediate.unwrap_or(0),
    );
    // Served cards continue while this program computes, so the elapsed time is not part of the output.
    let took = functions[0].now() - began;
    eprintln!("after {took:?} on the cards' clock");
    for _ in 0..2 {
        let done = wait(a, "completion")?;
        println!(
            "host 0: work request {} ended in {:?}",
            done.wr_id, done.status
        );
    }
    let mut arrived = vec![0; BYTES];
    memory(b)?.read(0, &mut arrived)?;
    for counter in b.device.counters()? {
        let fate = match counter.reason {
            DropReason::None => "accepted".to_owned(),
            reason => format!("refused, {reason:?}"),
        };
        println!("host 1: {} packets {fate}", counter.value);
    }
    if arrived != sent {
        return Err("the bytes that arrived are not those that were sent".into());
    }
    println!("{BYTES} bytes compared: equal");
    Ok(())
}
