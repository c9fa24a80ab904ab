//! The program behind `./stellar`: demo, verilog, synth, wave, bench, figures, fuzz, world, cluster, serve, devinfo, write_bw, write_imm_bw and write_lat.

mod bench;
mod board;
mod cluster;
mod demo;
mod figures;
mod fuzz;
mod interop_rxe;
mod path_mtu;
mod pcapng;
mod pcie_options;
mod policy_name;
mod progress;
mod rdma;
mod scenarios;
mod serve;
mod simulation;
mod synth;
mod verilog;
mod wave;
mod world;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use rdma::write_bw::Verb;

/// OpenStellar: an open multi-path RDMA NIC, simulated from its Verilog.
#[derive(Parser)]
#[command(name = "stellar", version)]
struct Arguments {
    /// Show no progress; results, warnings and errors only
    #[arg(long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write from GPU to GPU between two Verilated cards; `demo rx`: captures through the receive lane
    Demo(demo::Arguments),
    /// Write the generated Verilog
    Verilog(verilog::Arguments),
    /// Synthesise each block with Yosys: cells and logic levels
    Synth(synth::Arguments),
    /// Write waves of the receive lane; `wave nic`: of a card during a transfer
    Wave(wave::Arguments),
    /// Measure the hardware and the simulation
    Bench(bench::Arguments),
    /// Measure what the papers' figures show, beside the papers' numbers
    Figures(figures::Arguments),
    /// Feed mutated frames to the receive lane
    Fuzz(fuzz::Arguments),
    /// Run two NICs on a fabric: the software reference, or Verilated cards
    World(world::Arguments),
    /// Run many endpoints on a fabric: the software reference, with records of packets
    Cluster(cluster::Arguments),
    /// Run two cabled cards and serve each as a PCI device on a socket (vfio-user)
    Serve(serve::Arguments),
    /// Run the cases of `./stellar interop rxe`, which starts the guest
    #[command(name = "interop-rxe", hide = true)]
    InteropRxe(interop_rxe::Arguments),
    /// Show what the driver finds on a card
    Devinfo(rdma::devinfo::Arguments),
    /// Measure the bandwidth of RDMA WRITEs between two cards
    #[command(name = "write_bw")]
    WriteBw(rdma::write_bw::Arguments),
    /// Measure the bandwidth of RDMA WRITEs with immediate between two cards, and count the immediates
    #[command(name = "write_imm_bw")]
    WriteImmBw(rdma::write_bw::Arguments),
    /// Measure the latency of RDMA WRITEs between two cards
    #[command(name = "write_lat")]
    WriteLat(rdma::write_lat::Arguments),
}

fn main() -> ExitCode {
    // Elaboration needs a large stack, so it runs in a thread of its own.
    let worker = std::thread::Builder::new()
        .stack_size(512 << 20)
        .spawn(|| run(Arguments::parse()))
        .expect("a thread can be started");
    match worker.join() {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("error: {}", said_once(&error));
            ExitCode::FAILURE
        }
        // The panic was reported already.
        Err(_) => ExitCode::FAILURE,
    }
}

/// The error and its causes. If an error's text contains its cause, the cause is not repeated.
fn said_once(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    if arguments.quiet {
        progress::set_quiet();
    }
    match arguments.command {
        Command::Demo(a) => demo::run(&a),
        Command::Verilog(a) => verilog::run(&a),
        Command::Synth(a) => synth::run(&a),
        Command::Wave(a) => wave::run(&a),
        Command::Bench(a) => bench::run(&a),
        Command::Figures(a) => figures::run(&a),
        Command::Fuzz(a) => fuzz::run(&a),
        Command::World(a) => world::run(&a),
        Command::Cluster(a) => cluster::run(&a),
        Command::Serve(a) => serve::run(&a),
        Command::InteropRxe(a) => interop_rxe::run(a),
        Command::Devinfo(a) => rdma::devinfo::run(&a),
        Command::WriteBw(a) => rdma::write_bw::run(&a, Verb::Write),
        Command::WriteImmBw(a) => rdma::write_bw::run(&a, Verb::WriteWithImmediate),
        Command::WriteLat(a) => rdma::write_lat::run(&a),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{anyhow, Context};
    use clap::CommandFactory;

    #[test]
    fn the_arguments_of_no_command_contradict() {
        super::Arguments::command().debug_assert();
    }

    #[test]
    fn a_cause_is_said_once() {
        let told = anyhow!("no such file").context("cannot read a.pcap: no such file");
        assert_eq!(super::said_once(&told), "cannot read a.pcap: no such file");
        let untold: anyhow::Result<()> = Err(anyhow!("no such file")).context("cannot read a.pcap");
        let untold = untold.unwrap_err();
        assert_eq!(
            super::said_once(&untold),
            "cannot read a.pcap: no such file"
        );
    }
}
