//! `./stellar serve`: two Verilated cards as PCI devices, each on a UNIX socket (vfio-user).

use std::io::IsTerminal;
use std::path::PathBuf;
use std::thread;

use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use sim_serve::Server;
use tracing_subscriber::EnvFilter;

use crate::progress;

/// What is said without RUST_LOG: who comes and goes.
const DEFAULT_LOG: &str = "info,vfio_user=warn";

#[derive(clap::Args)]
#[command(
    long_about = "Runs two Verilated cards, cabled port to port, and serves each as a PCI device on a UNIX socket: nic0.sock and nic1.sock.\n\
        A driver reaches them by the vfio-user protocol: this project's tools with --vfio-user SOCKET, QEMU with vfio-user-pci. A socket \
        serves one driver at a time; the next one waits.\n\
        The cards' clock runs while a driver is connected and something happens, or a driver waits for it.\n\
        SIGINT (Ctrl-C) or SIGTERM removes the sockets and ends the program. RUST_LOG=debug says more.",
    after_help = "Example, in three terminals:\n  ./stellar serve out/serve\n  \
        ./stellar write_bw --vfio-user out/serve/nic0.sock\n  ./stellar write_bw --vfio-user out/serve/nic1.sock localhost"
)]
pub struct Arguments {
    /// Directory of the sockets; it is made if it is not there
    #[arg(default_value = "out/serve")]
    directory: PathBuf,
}

/// Serves until a signal says to stop.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| DEFAULT_LOG.into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let server = progress::building("the card", || Server::start(&arguments.directory))?;
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
    server.wait()?;
    Ok(())
}
