//! Tools known to RDMA users, on the driver: `./stellar devinfo`, `write_bw`, `write_imm_bw` and `write_lat`, with perftest's options and tables
//! where they apply.

mod bandwidth;
pub mod devinfo;
mod ends;
mod hosts;
mod peer;
mod table;
mod terms;
mod times;
pub mod write_bw;
pub mod write_lat;

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{bail, ensure};
use sim_nic::CardPair;
use stellar_driver::{PciFunction, Transport, Vfio, VfioUser};
use stellar_wire::host::Wqe;

use crate::path_mtu::PathMtu;
use crate::pcie_options::PcieOptions;
use crate::simulation::SimulationOptions;

/// A card for the driver.
pub type Function = Arc<dyn PciFunction>;

/// The cards to use.
#[derive(clap::Args)]
#[group(skip)]
pub struct Cards {
    /// Two simulated hosts in this process, each with a Verilated card, cabled port to port; times are simulated
    #[arg(long, group = "kind")]
    sim: bool,
    /// A card of `stellar serve`, by its socket. With two of them (each with its own --vfio-user) a test drives both ends from this process. Times
    /// are simulated, and the cards continue while this program computes
    #[arg(long, value_name = "SOCKET", group = "kind")]
    vfio_user: Vec<PathBuf>,
    /// A card bound to vfio-pci, by its PCI address (0000:01:00.0). With two of them (each with its own --vfio) a test drives both ends from this
    /// process. Times are those of this machine
    #[arg(long, value_name = "BDF", group = "kind")]
    vfio: Vec<String>,
    /// Says that the cards of --vfio are simulated (those of ./stellar serve in a virtual machine), and how many times slower than real cards they
    /// are: timeouts are that many times longer, and the printed times that many times shorter, than this machine's
    #[arg(long, value_name = "TIMES", requires = "vfio", conflicts_with_all = ["sim", "vfio_user"])]
    slower: Option<NonZeroU32>,
    #[command(flatten)]
    pcie: PcieOptions,
    #[command(flatten)]
    simulation: SimulationOptions,
}

/// Opens cards by their names.
fn open_all<T, F, E>(names: &[T], open: impl Fn(&T) -> Result<F, E>) -> Result<Vec<Function>, E>
where
    F: PciFunction + 'static,
{
    let share = |name| Ok(Arc::new(open(name)?) as Function);
    names.iter().map(share).collect()
}

impl Cards {
    /// Number of cards named.
    fn count(&self) -> anyhow::Result<usize> {
        let found = self.names().len();
        ensure!(
            found > 0,
            "say which cards to use: --sim, --vfio-user SOCKET for those of ./stellar serve, or --vfio BDF for real ones"
        );
        Ok(found)
    }

    /// Opens this number of cards.
    fn open<const N: usize>(&self) -> anyhow::Result<[Function; N]> {
        let found = self.count()?;
        ensure!(
            self.sim || found == N,
            "{found} cards are named; it takes {N}, each with its own --vfio-user or --vfio"
        );
        if !self.sim {
            let why = "without --sim: the cards of ./stellar serve have the PCIe that it was told";
            self.pcie.check_unused(why)?;
            self.simulation.check_unused("--sim")?;
        }
        let functions = if self.sim {
            self.simulation.choose()?;
            let pair = CardPair::with_pcie(&self.pcie.settings()?)?;
            (0..N).map(|host| pair.function(host)).collect()
        } else if self.vfio.is_empty() {
            open_all(&self.vfio_user, |socket| VfioUser::open(socket))?
        } else {
            let slowness = self.slower.unwrap_or(NonZeroU32::MIN);
            open_all(&self.vfio, |address| {
                Vfio::open(address).map(|card| card.slowed(slowness))
            })?
        };
        let functions = functions.try_into().ok();
        Ok(functions.expect("there are as many as are asked for"))
    }

    /// Names of the cards.
    fn names(&self) -> Vec<String> {
        if self.sim {
            return vec!["sim0".to_owned(), "sim1".to_owned()];
        }
        let sockets = self.vfio_user.iter();
        let sockets = sockets.map(|socket| socket.display().to_string());
        sockets.chain(self.vfio.iter().cloned()).collect()
    }

    /// Kind of the cards, and their connection.
    fn kind(&self) -> &'static str {
        if self.vfio.is_empty() {
            "Verilated cards, cable to cable"
        } else {
            "through vfio-pci"
        }
    }

    /// A remark on times, for the head of a test.
    fn times(&self) -> Cow<'static, str> {
        if self.sim {
            "of the cards' 250 MHz clock, simulated".into()
        } else if let Some(times) = self.slower {
            format!("of this machine, divided by {times} (--slower)").into()
        } else if self.vfio.is_empty() {
            "of the cards' 250 MHz clock, simulated; it runs on while this program works".into()
        } else {
            "of this machine".into()
        }
    }

    /// A remark on PCIe.
    fn pcie(&self) -> Cow<'static, str> {
        if !self.vfio.is_empty() {
            return "of this machine".into();
        }
        // Options that cannot be were refused when the cards were opened.
        match self.pcie.settings() {
            Ok(settings) if self.sim => {
                let read = settings.reads.latency / 1_000;
                format!("reads take {read} ns (--pcie-read-ns); register writes arrive at once")
                    .into()
            }
            _ => "as ./stellar serve was told; reads take 600 ns by default".into(),
        }
    }
}

/// Transports by their names in perftest.
#[derive(Clone, Copy, clap::ValueEnum)]
enum ConnectionType {
    #[value(name = "MRC")]
    Mrc,
    #[value(name = "RC")]
    Rc,
}

/// Options of all tests.
#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    cards: Cards,
    /// Host of the server, which runs the same test without this argument. The server waits for one client; the client sends
    host: Option<String>,
    /// TCP port of the server; 0: any free port
    #[arg(short, long, default_value_t = 18515)]
    port: u16,
    /// Transport
    #[arg(short, long, value_enum, ignore_case = true, default_value = "MRC")]
    connection: ConnectionType,
    /// Path MTU in bytes: 256, 512, 1024, 2048, 4096 or 8192
    #[arg(short, long, value_name = "BYTES", default_value = "4096", value_parser = PathMtu::parse)]
    mtu: PathMtu,
    /// Longest inline payload of a work request, up to 64 bytes; above 32, send queue entries have 128 bytes
    #[arg(short = 'I', long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=Wqe::INLINE as i64))]
    inline_size: u32,
    /// Seed of the choice of paths
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The ends of a test in this process.
enum Role<'a> {
    Both,
    Server,
    /// The client of the server at this host.
    Client(&'a str),
}

impl Options {
    const fn mtu(&self) -> u32 {
        self.mtu.bytes()
    }

    const fn transport(&self) -> Transport {
        match self.connection {
            ConnectionType::Mrc => Transport::Mrc,
            ConnectionType::Rc => Transport::Rc,
        }
    }

    /// Two cards are both ends. One card is the server, or with a host the client.
    fn role(&self) -> anyhow::Result<Role<'_>> {
        match (self.cards.count()?, &self.host) {
            (1, None) => Ok(Role::Server),
            (1, Some(host)) => Ok(Role::Client(host)),
            (2, None) => Ok(Role::Both),
            (2, Some(host)) => bail!(
                "both ends are in this process (--sim, or two cards), and {host} is to be the other; leave it out, or name one card"
            ),
            (more, _) => bail!("{more} cards are named; a test takes one, or two for both ends"),
        }
    }
}
