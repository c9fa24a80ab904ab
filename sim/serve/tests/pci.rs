//! A served card as a PCI device: configuration space, registers, accesses without a target, interrupts, reset, one driver at a time.

use std::path::Path;
use std::time::{Duration, Instant};

use sim_nic::PcieSettings;
use sim_serve::Server;
use stellar_driver::{PciFunction, VfioUser, VfioUserError};
use stellar_wire::host::config_space::{
    command, header, msi_x, pci_express, Bar, Function, LENGTH, MSI_X_ID, PCI_EXPRESS_ID, VENDOR,
};
use stellar_wire::host::registers::{Register, IDENTITY, REFUSED, SCRATCH, UNMAPPED};
use stellar_wire::host::simulation;
use stellar_wire::host::vector_table::PENDING_OFFSET;
use vfio_bindings::bindings::vfio::{VFIO_PCI_CONFIG_REGION_INDEX, VFIO_PCI_ROM_REGION_INDEX};
use vfio_user::Client;

/// Longest wait, in wall time.
const TIMEOUT: Duration = Duration::from_secs(900);

/// Runs a test on a thread of its own, so that a test that hangs fails.
fn within(test: impl FnOnce() + Send + 'static) {
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        test();
        tell.send(()).unwrap();
    });
    let ended = told.recv_timeout(TIMEOUT);
    assert_ne!(ended, Err(std::sync::mpsc::RecvTimeoutError::Timeout));
    thread.join().unwrap();
}

fn serve() -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().unwrap();
    let server =
        Server::start(&directory.path().join("sockets"), &PcieSettings::default()).unwrap();
    (directory, server)
}

/// Offset of a capability.
fn capability(function: &dyn PciFunction, id: u8) -> u16 {
    let mut at = function
        .config_read16(Function::Control, header::CAPABILITIES)
        .unwrap();
    while function.config_read16(Function::Control, at).unwrap() as u8 != id {
        at = function.config_read16(Function::Control, at).unwrap() >> 8;
    }
    at
}

fn register(function: &dyn PciFunction, register: Register) -> u64 {
    function
        .read64(Bar::Registers, register.offset.into())
        .unwrap()
}

/// Checks identity, capabilities, and the sizes of the BARs.
fn check_configuration(function: &dyn PciFunction) {
    for each in Function::ALL {
        let read = |offset| function.config_read16(each, offset).unwrap();
        assert_eq!(read(header::VENDOR_ID), VENDOR);
        assert_eq!(read(header::DEVICE_ID), each.device());
    }
    let data_bar = function.config_read32(Function::Data, header::BARS);
    assert_eq!(data_bar.unwrap(), 0);
    let express = capability(function, PCI_EXPRESS_ID);
    let can = function
        .config_read32(
            Function::Control,
            express + pci_express::DEVICE_CAPABILITIES,
        )
        .unwrap();
    assert_ne!(can & pci_express::FUNCTION_RESET, 0);
    let vectors = capability(function, MSI_X_ID) + msi_x::CONTROL;
    let control = function.config_read16(Function::Control, vectors).unwrap();
    assert_eq!(control & msi_x::SIZE_MASK, 63);
    for bar in Bar::ALL {
        let at = header::BARS + 4 * u16::from(bar.index());
        for half in [0, 2, 4, 6] {
            function
                .config_write16(Function::Control, at + half, 0xffff)
                .unwrap();
        }
        let low = function.config_read32(Function::Control, at).unwrap() & !0xf;
        let high = function.config_read32(Function::Control, at + 4).unwrap();
        let size = u64::from(high) << 32 | u64::from(low);
        assert_eq!(size.wrapping_neg(), bar.length());
    }
}

/// An access without a target reads all ones, does not end the connection, and changes nothing.
fn check_bad_accesses(server: &Server, client: &mut Client) {
    let refused = || server.counts(1).unwrap().refused;
    let mut before = refused();
    let mut look = |client: &mut Client, region, offset, bytes: usize| {
        let mut data = vec![0; bytes];
        client.region_read(region, offset, &mut data).unwrap();
        client
            .region_write(region, offset, &vec![0x5a; bytes])
            .unwrap();
        let count = refused() - before;
        before += count;
        (data.iter().all(|byte| *byte == 0xff), count)
    };
    let bar0 = u32::from(Bar::Registers.index());
    let scratch = u64::from(SCRATCH.offset);
    // Memory space is off.
    assert_eq!(look(client, bar0, scratch, 8), (true, 2));
    let config = VFIO_PCI_CONFIG_REGION_INDEX;
    let on = command::MEMORY.to_le_bytes();
    client
        .region_write(config, header::COMMAND.into(), &on)
        .unwrap();
    let length = Bar::Registers.length();
    for (region, offset, bytes) in [
        (bar0, length, 8),
        (bar0, length - 4, 8),
        (bar0, u64::MAX - 3, 8),
        (bar0, scratch + 4, 8),
        (bar0, scratch, 16),
        (bar0, scratch, 0),
        (bar0, scratch + 7, 2),
        (1, 0, 8),
        (VFIO_PCI_ROM_REGION_INDEX, 0, 4),
        (config, LENGTH.into(), 4),
        (config, u64::MAX, 1),
        (u32::from(Bar::Vectors.index()), 0, 16),
        (u32::from(Bar::Vectors.index()), 8, 4),
        (simulation::REGION, simulation::NOW, 4),
        (simulation::REGION, 4096, 8),
        (simulation::REGION, simulation::STILL, 8),
        // The written address is not a slot.
        (simulation::REGION, simulation::LOOK, 8),
        (simulation::REGION, simulation::LOOK_AWAY, 8),
        (simulation::PAGES_REGION, 0x800, 8),
    ] {
        let seen = look(client, region, offset, bytes);
        assert_eq!(seen, (true, 2), "{bytes} at {offset:#x} of {region}");
    }
    // The pending bits are read-only: the card takes the write, and drops it.
    let vectors = u32::from(Bar::Vectors.index());
    let mut word = [0xa5; 8];
    client
        .region_write(vectors, PENDING_OFFSET, &[0xff; 8])
        .unwrap();
    client
        .region_read(vectors, PENDING_OFFSET, &mut word)
        .unwrap();
    assert_eq!(word, [0; 8]);
    // Doorbell pages cannot be read. Writes to them are accepted.
    assert_eq!(
        look(client, u32::from(Bar::Doorbells.index()), 8, 8),
        (true, 1)
    );
    // A read that ends outside returns the part inside.
    let mut data = [0; 8];
    let edge = u64::from(LENGTH) - 4;
    client.region_read(config, edge, &mut data).unwrap();
    assert_eq!(data, [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    // QEMU reads the whole space at once.
    let mut space = vec![0; LENGTH.into()];
    client.region_read(config, 0, &mut space).unwrap();
    assert_eq!(space[..2], VENDOR.to_le_bytes());
    // If there is no register at an address, the card itself completes the access and counts it. Bytes are written one by one.
    client.region_read(bar0, 0x8000, &mut word).unwrap();
    assert_eq!(word, [0xff; 8]);
    client
        .region_write(bar0, scratch, &0x1122_3344_5566_7788_u64.to_le_bytes())
        .unwrap();
    client.region_write(bar0, scratch + 3, &[0xaa]).unwrap();
    client
        .region_write(bar0, scratch + 6, &[0xbb, 0xcc])
        .unwrap();
    client.region_read(bar0, scratch, &mut word).unwrap();
    assert_eq!(u64::from_le_bytes(word), 0xccbb_3344_aa66_7788);
    let mut two = [0; 2];
    client.region_read(bar0, scratch + 2, &mut two).unwrap();
    assert_eq!(two, [0x66, 0xaa]);
    // Maps without a file are accepted. Interrupts that do not exist are refused, with replies that the library understands.
    client.set_irqs(2, 0x24, 64, 1, &[]).unwrap();
    client.dma_unmap(0x1234_0000, 0x1000).unwrap();
    client
        .region_read(bar0, u64::from(IDENTITY.offset), &mut word)
        .unwrap();
    assert_eq!(u64::from_le_bytes(word), IDENTITY.reset);
}

/// A register access is one transaction of its width, and the card counts refused writes.
fn check_registers(function: &dyn PciFunction) {
    assert_eq!(register(function, IDENTITY), u64::MAX);
    function
        .config_write16(Function::Control, header::COMMAND, command::MEMORY)
        .unwrap();
    assert_eq!(register(function, IDENTITY), IDENTITY.reset);
    let scratch = SCRATCH.offset.into();
    function
        .write64(Bar::Registers, scratch, 0x1122_3344_5566_7788)
        .unwrap();
    function
        .write32(Bar::Registers, scratch + 4, 0xaabb_ccdd)
        .unwrap();
    assert_eq!(register(function, SCRATCH), 0xaabb_ccdd_5566_7788);
    assert_eq!(
        function.read32(Bar::Registers, scratch + 4).unwrap(),
        0xaabb_ccdd
    );
    let counts = || (register(function, REFUSED), register(function, UNMAPPED));
    let before = counts();
    // If the access came in two halves, the card would refuse it twice.
    function
        .write64(Bar::Registers, IDENTITY.offset.into(), 0)
        .unwrap();
    assert_eq!(function.read64(Bar::Registers, 0x8000).unwrap(), u64::MAX);
    assert_eq!(counts(), (before.0 + 1, before.1 + 1));
    assert!(function.now() > Duration::ZERO);
}

/// Both ways to reset a function: the command of the device, and the bit of PCI Express.
fn check_reset(function: &dyn PciFunction) {
    let control = capability(function, PCI_EXPRESS_ID) + pci_express::DEVICE_CONTROL;
    let ways: [&dyn Fn(); 2] = [&|| function.reset().unwrap(), &|| {
        let reset = pci_express::INITIATE_RESET;
        function
            .config_write16(Function::Control, control, reset)
            .unwrap();
    }];
    for way in ways {
        function
            .config_write16(Function::Control, header::COMMAND, command::MEMORY)
            .unwrap();
        function
            .write64(Bar::Registers, SCRATCH.offset.into(), 5)
            .unwrap();
        assert_eq!(register(function, SCRATCH), 5);
        way();
        assert_eq!(
            function
                .config_read16(Function::Control, header::COMMAND)
                .unwrap(),
            0
        );
        function
            .config_write16(Function::Control, header::COMMAND, command::MEMORY)
            .unwrap();
        assert_eq!(register(function, SCRATCH), SCRATCH.reset);
    }
}

/// A second driver gets the information that the first one has the card, and gets the card after it.
fn check_one_driver_at_a_time(socket: &Path, first: VfioUser) {
    let second = VfioUser::open_within(socket, Duration::from_millis(300));
    assert!(matches!(second, Err(VfioUserError::Busy { .. })));
    assert_eq!(
        first.config_load(Function::Control, 0).unwrap() as u16,
        VENDOR
    );
    drop(first);
    let third = VfioUser::open_within(socket, TIMEOUT).unwrap();
    assert_eq!(
        third.config_load(Function::Control, 0).unwrap() as u16,
        VENDOR
    );
}

/// Reads the clock by a message.
fn clock(client: &mut Client) -> Duration {
    let mut word = [0; 8];
    client
        .region_read(simulation::REGION, simulation::NOW, &mut word)
        .unwrap();
    Duration::from_nanos(u64::from_le_bytes(word))
}

/// The clock is stopped while nothing happens and no driver waits, and runs for a driver that waits.
fn check_clock(function: &dyn PciFunction, other: &mut Client) {
    let interrupt = function.interrupt(3).unwrap();
    let deadline = Instant::now() + TIMEOUT / 2;
    loop {
        let then = function.now();
        std::thread::sleep(Duration::from_millis(300));
        if function.now() == then {
            break;
        }
        assert!(Instant::now() < deadline, "the clock never stands still");
    }
    let began = function.now();
    let wait = Duration::from_micros(50);
    assert!(!interrupt.wait(wait).unwrap());
    assert!(function.now() >= began + wait);
    // The mapped page shows the same values as a message.
    let before = function.now();
    let read = clock(other);
    assert!((before..=function.now()).contains(&read));
    let end = function.now() + Duration::from_micros(50);
    while function.now() < end {
        function.relax();
    }
}

/// Vectors signal their eventfds.
fn check_interrupts(client: &mut Client) {
    use rustix::event::{eventfd, EventfdFlags};
    use std::os::fd::AsRawFd;
    let events: Vec<_> = (0..16)
        .map(|_| eventfd(0, EventfdFlags::NONBLOCK).unwrap())
        .collect();
    let fds: Vec<_> = events.iter().map(AsRawFd::as_raw_fd).collect();
    // MSI-X, eventfds, trigger: the longest message.
    client.set_irqs(2, 0x24, 48, 16, &fds).unwrap();
    // No data, trigger: the server signals the vectors itself.
    client.set_irqs(2, 0x21, 50, 2, &[]).unwrap();
    let count = |index: usize| {
        let mut count = [0; 8];
        rustix::io::read(&events[index], &mut count).ok();
        u64::from_ne_bytes(count)
    };
    let counts: Vec<u64> = (0..16).map(count).collect();
    assert_eq!(counts[..5], [0, 0, 1, 1, 0]);
    assert_eq!(counts.iter().sum::<u64>(), 2);
    // A vector without an eventfd has no effect.
    client.set_irqs(2, 0x24, 50, 1, &[]).unwrap();
    client.set_irqs(2, 0x21, 50, 2, &[]).unwrap();
    assert_eq!((count(2), count(3)), (0, 1));
    client.set_irqs(2, 0x21, 0, 0, &[]).unwrap();
    client.set_irqs(2, 0x21, 51, 1, &[]).unwrap();
    assert_eq!(count(3), 0);
}

#[test]
fn a_served_card_is_a_pci_device() {
    within(|| {
        let (directory, server) = serve();
        let [a, b] = [0, 1].map(|host| server.sockets()[host].to_owned());
        let function = VfioUser::open(&a).unwrap();
        let mut client = Client::new(&b).unwrap();
        check_configuration(&function);
        check_registers(&function);
        check_bad_accesses(&server, &mut client);
        check_interrupts(&mut client);
        check_clock(&function, &mut client);
        check_reset(&function);
        check_one_driver_at_a_time(&a, function);
        drop(server);
        assert!(!a.exists() && !b.exists(), "a socket is left");
        drop(directory);
    });
}
