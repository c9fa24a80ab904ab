//! `./stellar serve`: two Verilated cards, or one with a bridge, as PCI devices, each on a UNIX socket (vfio-user).

mod bridge;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::thread;

use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use sim_bridge::Bridge;
use sim_pcie::platform::PcieSettings;
use sim_serve::Server;
use tracing_subscriber::EnvFilter;

use crate::board::BoardOption;
use crate::pcie_options::PcieOptions;
use crate::progress;
use crate::simulation::SimulationOptions;

/// Default log filter: drivers that connect and disconnect.
const DEFAULT_LOG: &str = "info,vfio_user=warn";

/// Description of the command. It is not `long_about`, because the subcommand has its own text for that.
const PURPOSE: &str = "\
Runs two Verilated cards, cabled port to port, and serves each as a PCI device on a UNIX socket: nic0.sock and nic1.sock.
A driver reaches them by the vfio-user protocol: this project's tools with --vfio-user SOCKET, QEMU with vfio-user-pci. A socket serves one \
driver at a time; the next one waits.
The cards' clock runs while a driver is connected and something happens, or a driver waits for it.

With --lone there is one card, nic0.sock, and one of its ports is bridged to another process: to the network card of a virtual machine under \
QEMU, for example, whose RDMA stack then is the card's peer. The bridge carries whole Ethernet frames, as QEMU's -netdev dgram and -netdev \
stream do. It answers ARP, neighbour discovery and ping for the addresses of --mac and --ip, and can drop, duplicate, reorder and damage \
RoCEv2 frames (docs/interop.md). The clock runs while frames come, too.

SIGINT (Ctrl-C) or SIGTERM removes the sockets and ends the program. A bridge then completes its capture, and says how many frames have crossed \
it. RUST_LOG=debug says more.";
const EXAMPLES: &str = "\
Example, in three terminals:
  ./stellar serve out/serve
  ./stellar write_bw --vfio-user out/serve/nic0.sock
  ./stellar write_bw --vfio-user out/serve/nic1.sock localhost

One card, and a virtual machine at its port 0:
  ./stellar serve out/serve --lone --bridge dgram:/tmp/card.sock:/tmp/guest.sock --capture bridge.pcapng
  qemu-system-x86_64 ... -device virtio-net-pci,netdev=n,mac=02:00:00:00:00:02 \\
    -netdev dgram,id=n,local.type=unix,local.path=/tmp/guest.sock,remote.type=unix,remote.path=/tmp/card.sock";

#[derive(clap::Args)]
#[command(before_long_help = PURPOSE, after_help = EXAMPLES)]
pub struct Arguments {
    /// Directory of the sockets; it is created if it does not exist
    #[arg(default_value = "out/serve")]
    directory: PathBuf,
    #[command(flatten)]
    bridge: bridge::Options,
    #[command(flatten)]
    pcie: PcieOptions,
    #[command(flatten)]
    board: BoardOption,
    #[command(flatten)]
    simulation: SimulationOptions,
}

/// Serves until SIGINT or SIGTERM.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| DEFAULT_LOG.into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    arguments.simulation.choose()?;
    let shape = arguments.board.choose()?;
    arguments.bridge.check(shape)?;
    let pcie = arguments.pcie.settings()?;
    let bridge = arguments.bridge.open()?;
    let served = serve(arguments, &pcie, bridge.as_ref());
    if let (Err(_), Some(bridge)) = (&served, &bridge) {
        // The simulation may still hold the bridge, whose socket must be removed before this process ends. The first error is reported.
        let _ = bridge.close();
    }
    served
}

/// Powers up the cards, and serves them.
fn serve(
    arguments: &Arguments,
    pcie: &PcieSettings,
    bridge: Option<&Bridge>,
) -> anyhow::Result<()> {
    let Arguments { directory, .. } = arguments;
    let server = progress::building("the card", || match bridge {
        None => Server::start(directory, pcie),
        Some(bridge) => Server::start_lone(directory, bridge.clone(), pcie),
    })?;
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("waiting for signals")?;
    let stopper = server.stopper();
    thread::spawn(move || {
        for signal in &mut signals {
            tracing::info!("signal {signal}: stopping");
            stopper.stop();
        }
    });
    for socket in server.sockets() {
        println!("serving a card at {}", socket.display());
    }
    arguments.bridge.announce();
    server.wait()?;
    bridge.map_or(Ok(()), bridge::end)
}
