//! `./stellar wave nic`: the waves of a card while it takes part in a transfer.

use std::path::{Path, PathBuf};

use sim_nic::{chosen_shape, FabricPair, NicModel};
use sim_world::check_bytes;

use crate::demo::cards::{self, Exchange, TransferOptions};
use crate::progress;

/// Waves of more than this fill disks and viewers.
const MOST_BYTES: u64 = 1 << 20;

#[derive(clap::Args)]
pub struct Arguments {
    /// Wave file to write (FST)
    #[arg(long, value_name = "FILE", default_value = "out/wave/nic.fst")]
    out: PathBuf,
    /// Whose waves
    #[arg(long, value_enum, default_value = "sender")]
    card: Card,
    /// Bytes that the sender writes, as one message; at most 1 MiB
    #[arg(long, default_value_t = 16 << 10, value_parser = clap::value_parser!(u64).range(1..=MOST_BYTES))]
    bytes: u64,
    #[command(flatten)]
    transfer: TransferOptions,
    /// Begin with the first register access of the driver instead of the work request
    #[arg(long)]
    bring_up: bool,
    /// Levels of the hierarchy in the waves: 1 for the card's own signals, 2 also for those of its blocks, and so on [default: all]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    levels: Option<u32>,
}

/// One of the two cards.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Card {
    /// Reads the message from its GPU and sends it
    Sender,
    /// Writes it into its GPU
    Receiver,
}

/// Runs the transfer and returns the path of the waves.
pub fn run(arguments: &Arguments) -> anyhow::Result<&Path> {
    let bytes = check_bytes(arguments.bytes)?;
    let (plan, mrc) = cards::plan(&arguments.transfer)?;
    super::make_folder(&arguments.out)?;
    // Only in mode plain do waves show the emitted Verilog.
    let build =
        || Ok::<_, anyhow::Error>(NicModel::plain(chosen_shape(), arguments.levels)?.build()?);
    let library = progress::building("the card with waves", build)?;
    let pair = FabricPair::with_library(&plan, &library)?;
    let host = arguments.card as usize;
    let open = || pair.open_waves(host, &arguments.out);
    if arguments.bring_up {
        open()?;
    }
    let exchange = Exchange::bring_up(&pair, &plan, &mrc, bytes)?;
    if !arguments.bring_up {
        open()?;
    }
    exchange.run()?;
    pair.close_waves(host);
    Ok(&arguments.out)
}
