//! `./stellar devinfo`: what the driver finds (rdma-core: `ibv_devinfo`).

use stellar_driver::{Limits, PageSize, Probe};
use stellar_wire::host::config_space::VENDOR;
use stellar_wire::mtu;

use super::Cards;

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    cards: Cards,
    /// Also print the sizes of the card's tables
    #[arg(short, long)]
    verbose: bool,
    /// Also print the counters since the last reset: received packets, accepted (None) and dropped by reason, those of queues, doorbells and acknowledgements, and
    /// what each port and the PCIe endpoint beside it have dropped or failed to read. Then the errors that both PCI functions have logged, which this clears.
    /// Then those counters of queue pairs that are not zero, of each queue pair that has sent or received a data packet
    #[arg(short, long)]
    counters: bool,
    /// Also print every counter of this queue pair; several are possible. With it, --counters prints no other queue pairs
    #[arg(long, value_name = "N")]
    qp: Vec<u32>,
}

/// Prints one card, because both cards of a pair are alike.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let [function] = arguments.cards.open()?;
    let probe = Probe::new(function)?;
    let wanted = arguments
        .qp
        .iter()
        .map(|&qp| Ok((qp, probe.qp_counters(qp)?)));
    let wanted = wanted.collect::<Result<Vec<_>, stellar_driver::Error>>()?;
    println!("hca_id: {}", arguments.cards.names()[0]);
    line(1, "transport", "OCP MRC 1.0 on RoCEv2");
    line(1, "node_guid", format!("{:016x}", probe.serial));
    line(1, "vendor_id", format!("{VENDOR:#06x}"));
    for function in probe.functions() {
        let name = format!("{}_function", function.name());
        line(1, &name, format!("{:#06x}", function.device()));
    }
    line(1, "lane_width", format!("{} bits", probe.data_path.width));
    let (major, minor) = probe.version;
    line(1, "register_map", format!("{major}.{minor}"));
    line(1, "pcie_max_payload", probe.max_payload);
    line(1, "pcie_max_read", probe.max_read);
    line(1, "pcie_ats", if probe.ats { "on" } else { "off" });
    line(1, "msi_x_vectors", probe.msi_x_vectors);
    if arguments.verbose {
        limits(&Limits::of(&probe));
    }
    line(1, "phys_port_cnt", probe.features.ports);
    for port in 0..probe.features.ports {
        let up = probe.ports_up >> port & 1 == 1;
        line(2, "port", port + 1);
        line(
            3,
            "state",
            if up {
                "PORT_ACTIVE (4)"
            } else {
                "PORT_DOWN (1)"
            },
        );
        line(
            3,
            "max_mtu",
            format!("{} ({})", mtu::MAX_PAYLOAD, mtu::code(mtu::MAX_LOG2)),
        );
        line(3, "link_layer", "Ethernet");
    }
    if arguments.counters {
        line(1, "rx_packets", "");
        for counter in probe.counters()? {
            line(2, &counter.reason.to_string(), counter.value);
        }
        line(1, "queues_and_doorbells", "");
        for count in probe.card_counters()? {
            line(2, &count.counter.to_string(), count.value);
        }
        for count in probe.port_counters()? {
            if count.counter.index() == 0 {
                line(1, &format!("port{}_and_pcie", count.port), "");
            }
            line(2, &count.counter.to_string(), count.value);
        }
        for found in probe.take_pcie_errors()? {
            let names: Vec<_> = found.errors.iter().map(|error| error.name()).collect();
            let names = if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            };
            line(1, &format!("pcie_errors_{}", found.function.name()), names);
            if let Some((first, header)) = found.first {
                line(2, "first", format!("{}, {header}", first.name()));
            }
        }
        if arguments.qp.is_empty() {
            for (qp, counters) in probe.active_qp_counters()? {
                line(1, &format!("qp{qp}"), "");
                for (counter, value) in counters.iter().filter(|(_, value)| *value > 0) {
                    line(2, &counter.to_string(), value);
                }
            }
        }
    }
    for (qp, counters) in wanted {
        line(1, &format!("qp{qp}"), "");
        for (counter, value) in counters.iter() {
            line(2, &counter.to_string(), value);
        }
    }
    Ok(())
}

fn limits(limits: &Limits) {
    line(1, "max_qp", limits.queue_pairs);
    line(1, "max_qp_wr", limits.send_entries);
    line(1, "max_inline_data", limits.inline_bytes);
    line(1, "max_write_imm", limits.write_imm);
    line(1, "max_write_imm_all_qp", limits.write_imm_stash);
    line(1, "max_cqe", limits.completion_entries);
    line(1, "num_comp_vectors", limits.completion_vectors);
    line(1, "max_mr", limits.regions);
    line(1, "max_mr_pages", limits.translations);
    let bytes = PageSize::ALL.iter().fold(0, |all, size| all | size.bytes());
    line(1, "page_size_cap", format!("{bytes:#x}"));
    line(1, "max_pd", limits.domains);
    line(1, "max_contexts", limits.contexts);
    line(1, "max_tenant_shares", limits.tenant_shares);
    line(1, "max_tenant_weight", u8::MAX);
    line(1, "max_event_queues", limits.event_queues);
    line(1, "max_send_window", limits.send_window);
    line(1, "max_receive_window", limits.receive_window);
    line(1, "entropy_profiles", limits.entropy_profiles);
    line(1, "explicit_profiles", limits.explicit_profiles);
    line(1, "max_ah", limits.peer_hosts);
    line(1, "rc_paths", limits.rc_paths);
}

fn line(depth: usize, name: &str, value: impl std::fmt::Display) {
    let text = format!("{}{:<24}{value}", "\t".repeat(depth), format!("{name}:"));
    println!("{}", text.trim_end());
}
