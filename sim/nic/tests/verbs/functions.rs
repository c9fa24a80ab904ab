//! The card's two PCI functions: what their configuration spaces say happens, and what happens they say.

use sim_nic::{CardPair, PcieSettings, RequestSizes, CLOCK_PS};
use sim_pcie::platform::FUNCTIONS;
use sim_pcie::{FaultKind, FaultRule, RequestKind};
use stellar_wire::host::config_space::{ats, command, header, pci_express, Bar};
use stellar_wire::host::registers::{IDENTITY, READ_TIMEOUT};
use stellar_wire::pcie::MemOp;

use super::hosts::*;
use stellar_driver::*;

/// Offsets in both configuration spaces.
const DEVICE_CONTROL: u16 = 0x48;
const ATS: u16 = 0x160;
/// Cycles until a read has failed.
const READ_CYCLES: u64 = 20_000;

fn taken(device: &Device) -> [PcieErrors; 2] {
    let taken = device.probe().take_pcie_errors().unwrap();
    assert_eq!([taken[0].function, taken[1].function], Function::ALL);
    taken.try_into().unwrap()
}

fn errors(device: &Device) -> [Vec<Uncorrectable>; 2] {
    taken(device).map(|taken| taken.errors)
}

/// Sends `bytes` bytes and returns how the write request ended.
fn send(hosts: &[Host; 2], bytes: usize) -> WcStatus {
    let pairs = [hosts[0].qp(), hosts[1].qp()];
    connect([&pairs[0], &pairs[1]], 3);
    let source = hosts[0].region(bytes, false);
    let target = hosts[1].region(bytes, true);
    let to = target.remote();
    let slice = source.slice(0, bytes as u32).unwrap();
    pairs[0]
        .post_send(&WorkRequest::write(1, slice, to.address, to.rkey))
        .unwrap();
    hosts[0].completions(1)[0].status
}

#[test]
fn both_functions_are_bus_masters_with_extended_tags_and_the_cards_serial_number() {
    let pair = CardPair::new().unwrap();
    let devices = bring_up(&pair);
    let serials = devices.each_ref().map(|device| device.probe().serial);
    assert_ne!(serials[0], serials[1]);
    for host in 0..2 {
        let function = pair.function(host);
        for each in Function::ALL {
            let read = |offset| function.config_read16(each, offset).unwrap();
            assert_eq!(
                read(header::COMMAND) & command::BUS_MASTER,
                command::BUS_MASTER
            );
            let tags = read(DEVICE_CONTROL) & pci_express::EXTENDED_TAGS;
            assert_eq!(tags, pci_express::EXTENDED_TAGS);
            assert_eq!(read(ATS + ats::CONTROL), ats::ENABLE);
        }
    }
    // A reset of the data function alone also resets the card, and the control function keeps its settings.
    let function = pair.function(0);
    let reset = pci_express::INITIATE_RESET;
    function
        .config_write16(Function::Data, DEVICE_CONTROL, reset)
        .unwrap();
    let masters = Function::ALL.map(|each| {
        let command = function.config_read16(each, header::COMMAND).unwrap();
        command & command::BUS_MASTER != 0
    });
    assert_eq!(masters, [true, false]);
    let at = IDENTITY.offset.into();
    assert_eq!(function.read64(Bar::Registers, at).unwrap(), IDENTITY.reset);
}

/// The largest message here takes 256 packets, so both lanes are busy. While a function is no bus master, its requests wait; they go on afterwards.
#[test]
fn requests_of_a_function_that_is_no_bus_master_wait() {
    for stopped in Function::ALL {
        let pair = CardPair::new().unwrap();
        let devices = bring_up(&pair);
        let hosts = open(&devices, false);
        let receiver = pair.function(1);
        let set = |on: u16| {
            receiver
                .config_write16(stopped, header::COMMAND, command::MEMORY | on)
                .unwrap();
        };
        let pairs = [hosts[0].qp(), hosts[1].qp()];
        connect([&pairs[0], &pairs[1]], 3);
        let (source, target) = (
            hosts[0].region(1 << 20, false),
            hosts[1].region(1 << 20, true),
        );
        let sent = pattern(1 << 20, 0x35);
        source.memory().unwrap().write(0, &sent).unwrap();
        let (slice, to) = (source.slice(0, 1 << 20).unwrap(), target.remote());
        let write = WorkRequest::write(1, slice, to.address, to.rkey);
        pairs[0].post_send(&write).unwrap();
        set(0);
        pair.run(20_000);
        let before = bytes(&target);
        assert!(before != sent, "{stopped:?}: everything has arrived");
        pair.run(5_000);
        assert!(bytes(&target) == before, "{stopped:?}: bytes were written");
        assert!(hosts[0].cq.poll(1).unwrap().is_empty());
        set(command::BUS_MASTER);
        assert_eq!(hosts[0].completions(1)[0].status, WcStatus::Success);
        assert!(bytes(&target) == sent, "{stopped:?}: other bytes arrived");
    }
}

#[test]
fn errors_of_pcie_are_logged_by_the_function_that_found_them() {
    let settings = PcieSettings {
        completion_timeout: Some(READ_CYCLES * CLOCK_PS),
        ..PcieSettings::default()
    };
    for (fault, error) in [
        (FaultKind::Poison, Uncorrectable::PoisonedTlp),
        (FaultKind::LostCompletion, Uncorrectable::CompletionTimeout),
    ] {
        let pair = CardPair::with_pcie(&settings).unwrap();
        let devices = bring_up(&pair);
        let hosts = open(&devices, false);
        let timeout = READ_TIMEOUT.offset.into();
        let function = pair.function(0);
        function
            .write64(Bar::Registers, timeout, READ_CYCLES)
            .unwrap();
        assert_eq!(send(&hosts, 1 << 14), WcStatus::Success);
        assert_eq!(errors(&devices[0]), [vec![], vec![]]);
        // Only payload is read in pieces of this size.
        let rule = FaultRule {
            only: Some(RequestKind::Read),
            skip: 4,
            ..FaultRule::new(fault)
        };
        pair.add_pcie_fault(0, rule).unwrap();
        assert_ne!(send(&hosts, 1 << 14), WcStatus::Success);
        pair.run(2 * READ_CYCLES);
        let found = taken(&devices[0]);
        let logged = found.iter().filter(|found| found.errors.contains(&error));
        let logged: Vec<_> = logged.collect();
        assert!(!logged.is_empty(), "{fault:?}: {found:?}");
        for found in logged {
            let (first, header) = found.first.unwrap();
            assert_eq!(first, error, "the header is that of the first error");
            let completion = header.completion();
            match error {
                Uncorrectable::PoisonedTlp => {
                    let completion = completion.expect("the header of a completion");
                    assert!(completion.poisoned, "{header}");
                    let function = FUNCTIONS[found.function.endpoint()];
                    assert_eq!(completion.requester, function.id(), "{header}");
                }
                _ => assert!(header.is_empty(), "no TLP came: {header}"),
            }
        }
        pair.clear_pcie_faults(0);
        assert_eq!(errors(&devices[0]), [vec![], vec![]]);
        // BAR2 cannot be read.
        function.read64(Bar::Doorbells, 0x7_0008).unwrap();
        let [found, of_data] = taken(&devices[0]);
        assert_eq!(found.errors, [Uncorrectable::UnsupportedRequest]);
        assert_eq!((of_data.errors, of_data.first), (vec![], None));
        let (first, header) = found.first.unwrap();
        let request = header.request().expect("the header of a request");
        assert_eq!(first, Uncorrectable::UnsupportedRequest);
        assert_eq!((request.op, request.length_dw), (MemOp::Read, 2));
        assert_eq!(request.address % Bar::Doorbells.length(), 0x7_0008);
        assert_eq!(errors(&devices[1]), [vec![], vec![]]);
    }
}

#[test]
fn the_host_decides_on_the_sizes_of_requests() {
    for (payload, read) in [(0, 0), (3, 5)] {
        let settings = PcieSettings {
            sizes: RequestSizes { payload, read },
            ..PcieSettings::default()
        };
        let pair = CardPair::with_pcie(&settings).unwrap();
        let devices = bring_up(&pair);
        let probe = devices[0].probe();
        assert_eq!(
            (probe.max_payload, probe.max_read),
            (128 << payload, 128 << read)
        );
        assert_eq!(send(&open(&devices, false), 1 << 16), WcStatus::Success);
    }
}

/// Memory that is mapped for the control function alone: the IOMMU refuses what the data function writes to it. The receiver's queue pair fails, and the message
/// is not acknowledged.
#[test]
fn memory_has_to_be_mapped_for_both_functions() {
    let pair = CardPair::new().unwrap();
    let devices = bring_up(&pair);
    let [a, b] = open(&devices, false);
    let qps = [a.qp(), b.qp()];
    connect([&qps[0], &qps[1]], 3);
    let (source, target) = (a.region(1 << 16, false), b.region(1 << 16, true));
    let sent = pattern(1 << 16, 0x71);
    source.memory().unwrap().write(0, &sent).unwrap();
    let to = target.remote();
    pair.unmap_for(1, Function::Data, target.address(), 1 << 16);
    let slice = source.slice(0, 1 << 16).unwrap();
    let write = WorkRequest::write(1, slice, to.address, to.rkey);
    qps[0].post_send(&write).unwrap();
    // Flush reads by this function fail, and then the queue pair.
    let base = target.address();
    let fatal = loop {
        match b.context.wait_event(TIMEOUT).unwrap() {
            Some(AsyncEvent::FlushReadFailed { function, address }) => {
                assert_eq!(function, Function::Data);
                assert!((base..base + (1 << 16)).contains(&address), "{address:#x}");
            }
            event => break event,
        }
    };
    let its_own = AsyncEvent::QueuePairFatal {
        qp: qps[1].number(),
        status: Some(WcStatus::WrFlushErr),
    };
    assert_eq!(fatal, Some(its_own));
    pair.run(5_000);
    assert!(a.cq.poll(1).unwrap().is_empty());
    assert_eq!(pair.bad_accesses(0), 0);
    assert!(pair.bad_accesses(1) > 0);
    pair.map_for(1, Function::Data, target.address(), 1 << 16);
    let arrived = bytes(&target);
    assert!(arrived != sent && arrived.iter().any(|byte| *byte != 0));
}
