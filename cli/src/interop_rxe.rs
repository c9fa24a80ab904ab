//! The host's side of `./stellar interop rxe`. `tools/interop` builds and starts the guest, and starts this program beside it.

use std::path::PathBuf;

use anyhow::bail;
use sim_bridge::{BitFlip, LinkAddress};
use sim_interop::{cases, check_names, run as run_cases, Options};
use sim_nic::NicModel;

use crate::progress;
use crate::simulation::SimulationOptions;

#[derive(clap::Args)]
#[command(
    before_long_help = "Powers up a Verilated card with port 0 bridged to a peer, and runs the cases of docs/interop.md against the peer's RDMA stack. \
        `./stellar interop rxe` starts a guest and this; for a peer of your own see docs/interop.md."
)]
pub struct Arguments {
    /// Socket to the peer's network card: dgram:LOCAL:REMOTE, listen:PATH or connect:PATH
    #[arg(long, value_name = "SOCKET", required_unless_present = "list")]
    net: Option<LinkAddress>,
    /// Socket of the peer's program rdma_peer
    #[arg(long, value_name = "PATH", required_unless_present = "list")]
    control: Option<PathBuf>,
    /// Socket of QEMU's machine protocol, for the cases that stop the guest
    #[arg(long, value_name = "PATH")]
    qmp: Option<PathBuf>,
    /// Directory of the captures
    #[arg(long, value_name = "DIRECTORY", default_value = "out/interop_rxe")]
    directory: PathBuf,
    /// Lists the cases without running them, and marks the cases of the short form with a star
    #[arg(long)]
    list: bool,
    /// Runs only the cases of the short form
    #[arg(long, conflicts_with = "case")]
    short: bool,
    /// Runs only this case; may be given several times
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,
    /// Seed of all data and of the link's faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    simulation: SimulationOptions,
    /// Inverts one header bit of all packets of the card, counted from the base transport header on. Every case must then fail
    #[arg(long, value_name = "BYTE.BIT")]
    flip: Option<BitFlip>,
}

/// Runs the cases.
pub fn run(arguments: Arguments) -> anyhow::Result<()> {
    if arguments.list {
        for case in cases() {
            println!("{} {}", if case.is_short { '*' } else { ' ' }, case.name);
        }
        return Ok(());
    }
    let (Some(net), Some(control)) = (arguments.net, arguments.control) else {
        bail!("--net and --control are needed");
    };
    arguments.simulation.choose()?;
    check_names(&arguments.case)?;
    let options = Options {
        net,
        control,
        qmp: arguments.qmp,
        directory: arguments.directory,
        names: arguments.case,
        is_short: arguments.short,
        seed: arguments.seed,
        flip: arguments.flip,
    };
    progress::building("the card", NicModel::shared)?;
    let report = run_cases(&options, |line| eprintln!("{line}"))?;
    println!("{}", report.table());
    println!();
    println!("the peer: {}", report.peer);
    let (cases, failed) = (report.rows.len(), report.failed());
    println!("{} of {cases} cases passed", cases - failed);
    if options.flip.is_none() {
        match &report.tshark {
            Ok(()) => println!(
                "tshark reads all {} packets, none of them malformed; the iCRC of each was recomputed",
                report.packets
            ),
            Err(error) => println!("tshark: {error:#}"),
        }
    }
    if !report.is_good() {
        bail!(
            "not everything holds; captures are in {}",
            options.directory.display()
        );
    }
    Ok(())
}
