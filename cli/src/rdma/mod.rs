//! Tools an RDMA user knows, on the driver: `./stellar devinfo`, `write_bw`, `write_imm_bw` and `write_lat`, with perftest's options and tables where they make sense.

pub mod devinfo;
mod hosts;
mod table;
mod times;
pub mod write_bw;
pub mod write_lat;

use anyhow::ensure;
use sim_nic::CardPair;

/// Which cards.
#[derive(clap::Args)]
pub struct Cards {
    /// Two simulated hosts in this process, a Verilated card each, cable to cable; times are simulated
    #[arg(long)]
    sim: bool,
}

impl Cards {
    fn open(&self) -> anyhow::Result<CardPair> {
        ensure!(self.sim, "say which cards to use: --sim is what there is");
        Ok(CardPair::new()?)
    }
}

/// What both tests are told.
#[derive(clap::Args)]
pub struct Options {
    #[command(flatten)]
    cards: Cards,
    /// Path MTU in bytes
    #[arg(short, long, default_value = "4096", value_parser = ["256", "512", "1024", "2048", "4096"])]
    mtu: String,
    /// Most bytes that a work request brings with it instead of naming them in memory
    #[arg(short = 'I', long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=16))]
    inline_size: u32,
    /// Decides where the choice of paths begins
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Options {
    fn mtu_log2(&self) -> u8 {
        let mtu: u32 = self.mtu.parse().expect("the parser takes numbers only");
        mtu.ilog2() as u8
    }
}
