//! `./stellar synth`: each block of a design through Yosys for UltraScale+: cells, and the longest paths between registers. With `--check`, the whole card.

mod card;
mod check;
mod memories;
mod netlist;
mod page;
mod print;

use std::path::PathBuf;

use anyhow::Context;
use indicatif::ProgressBar;
use stellar_fit::{Counts, Form, Yosys};
use tabled::settings::{object::Columns, Alignment, Style};
use tabled::{Table, Tabled};

use crate::board::BoardOption;
use crate::verilog::{Width, CARD};

use netlist::Netlist;

/// Modules reported on their own, with everything below them: those of `docs/rx_lane.md`, of `docs/requester.md`, of `docs/tx_lane.md` and of `docs/dma_read.md`.
const BLOCKS: &[&str] = &[
    "decap",
    "align",
    "parse",
    "icrc_check",
    "packet_buffer",
    "frame_verdict",
    "core_issue",
    "qp_fetch",
    "rc_track",
    "mr_check",
    "emtt_lookup",
    "psn_track",
    "dma_write",
    "drop_counters",
    "rx_control",
    "ack_order_queue",
    "fence_control",
    "fetch_share",
    "responder",
    "spray_engine",
    "nscc_engine",
    "tx_window",
    "message_table",
    "transmit_flow",
    "sack_flow",
    "delay_estimate",
    "loss_flow",
    "rc_flow",
    "qp_admin_flow",
    "timer_scan",
    "qp_schedule",
    "tenant_limits",
    "doorbell_queue",
    "tx_packet_builder",
    "local_translate",
    "payload_mux",
    "extension_headers",
    "frame_layout",
    "header_build",
    "payload_buffer",
    "frame_assembler",
    "icrc_insert",
    "tx_frame_builder",
    "answer_queue",
    "departures",
    "link_filter",
    "stuck_port",
    "tx_lane",
    "dma_read",
    "read_scoreboard",
    "read_issue",
    "completion_check",
    "completion_writer",
    "in_order_return",
    "request_slots",
    "slot_packer",
    "link_guard",
    "message_gate",
    "completion_stream",
    "request_words",
    "request_executor",
    "answer_beats",
    "completer",
    "entry_reader",
    "write_arbiter",
    "flush_retry",
    "write_flush",
    "read_faults",
    "invalidate_responder",
    "read_drain",
    "bar_decoder",
    "interrupts",
    "host_queues",
    "counter_bank",
    "counter_rows",
    "path_counters",
    "qp_counters",
    "registers",
    "doorbells",
    "async_fifo_bits_521_5_6_distributed",
    "async_fifo_bits_521_9_10_block36",
    "pulse_handshake",
    "reset_synchroniser",
    "cmac_start",
    "rx_admit",
    "rx_deliver",
    "tx_store",
    "tx_launch",
    "cmac_receive",
    "cmac_send",
    "cmac_shim",
    "dcmac_receive",
    "dcmac_send",
    "dcmac_shim",
    "axi_lite_access",
    "dcmac_sequence",
    "request_launch",
    "function_reset",
];

/// LUT levels that may lie between registers at 250 MHz on UltraScale+ (architecture, budgets).
const LEVEL_BUDGET: u32 = 8;

#[derive(clap::Args)]
pub struct Arguments {
    /// Receive lane of this width in bits
    #[arg(long, default_value = "1024", conflicts_with = "design")]
    width: Width,
    /// Blocks of this design instead of the receive lane's, such as `nic` (`./stellar verilog --list` names them)
    #[arg(long, value_name = "DESIGN")]
    design: Option<String>,
    #[command(flatten)]
    board: BoardOption,
    /// Only blocks whose module name starts with this
    #[arg(long, value_name = "PREFIX")]
    block: Option<String>,
    /// Write the rows into this page as well, beside those of earlier runs (`docs/area.md`)
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    memories: memories::MemoriesOption,
    #[command(flatten)]
    whole: check::CheckOptions,
}

#[derive(Tabled, Default)]
struct Row {
    block: String,
    #[tabled(inline)]
    cells: Counts,
    #[tabled(rename = "LUT levels")]
    levels: u32,
    #[tabled(rename = "carry cells")]
    carries: u32,
    /// Date of the commit that was synthesised.
    source: String,
}

/// Synthesises and prints.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let card = |option| card::Card::find(arguments.board.profile()?, option);
    if arguments.memories.is_wanted() {
        return memories::MemoriesOption::run(&card("--memories")?);
    }
    if arguments.whole.is_wanted() {
        return arguments.whole.run(&card("--check")?);
    }
    let name = name(arguments)?;
    let known = hdl_designs::find(&name)?;
    crate::progress::say(&format!("elaborating {name}"));
    let design = hdl_designs::for_bitstream(known.name)?;
    let verilog = design.text();
    let chosen: Vec<&str> = design
        .modules
        .iter()
        .map(|m| m.name.as_str())
        .filter(|m| BLOCKS.iter().any(|b| is_block(m, b)))
        .filter(|m| {
            arguments
                .block
                .as_ref()
                .is_none_or(|p| m.starts_with(p.as_str()))
        })
        .collect();
    anyhow::ensure!(
        !chosen.is_empty(),
        "no block matches; the blocks are: {}",
        BLOCKS.join(", ")
    );
    let bar = ProgressBar::new(chosen.len() as u64);
    let date = page::source_date();
    let mut rows = vec![];
    for module in chosen {
        bar.println(format!("yosys: {module}"));
        let row = synthesise(&verilog, module)?;
        rows.push(Row {
            source: date.clone(),
            ..row
        });
        if let Some(page) = &arguments.markdown {
            page::update(page, &name, &rows)?;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut table = Table::new(&rows);
    table
        .with(Style::markdown())
        .modify(Columns::new(1..), Alignment::right());
    println!("{table}");
    let deep: Vec<&str> = rows
        .iter()
        .filter(|row| row.levels > LEVEL_BUDGET)
        .map(|row| row.block.as_str())
        .collect();
    anyhow::ensure!(
        deep.is_empty(),
        "more than {LEVEL_BUDGET} LUT levels between registers in {}: 250 MHz is not credible",
        deep.join(", ")
    );
    println!("Every path is within the budget of {LEVEL_BUDGET} LUT levels between registers.");
    Ok(())
}

/// The design to synthesise. With a board, `nic` is its card, which is also the default.
fn name(arguments: &Arguments) -> anyhow::Result<String> {
    let design = arguments.design.as_deref();
    Ok(match arguments.board.profile()? {
        Some(profile) if design.is_none_or(|design| design == CARD) => profile.design().into(),
        _ => design.map_or_else(|| arguments.width.lane_design(), Into::into),
    })
}

/// Whether `module` is a form of `block`: `align_1024` is one of `align`, `align_stage` is not.
fn is_block(module: &str, block: &str) -> bool {
    module
        .strip_prefix(block)
        .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '_'))
}

fn synthesise(verilog: &str, module: &str) -> anyhow::Result<Row> {
    let json = Yosys::new("yosys").synthesise(verilog, module, Form::Json)?;
    let netlist = Netlist::parse(&json, module)?;
    let depth = netlist.depth().with_context(|| module.to_string())?;
    Ok(Row {
        block: module.to_string(),
        cells: netlist.cells().counts(),
        levels: depth.luts,
        carries: depth.carries,
        source: String::new(),
    })
}
