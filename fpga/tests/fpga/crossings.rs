//! The crossings that are found in Verilog, against those in the netlist.
use std::collections::{BTreeMap, BTreeSet};

use hdl_designs::Board;
use stellar_fpga::crossings::{find, Crossing, Kind, Source};
use stellar_fpga::netlist::Module;
use stellar_fpga::platform::Platform;
use stellar_fpga::project::crossings_of;

use crate::files::project;
use crate::netlist::check;

/// The clock of each input of the shim.
fn inputs() -> BTreeMap<&'static str, &'static str> {
    let card = ["reset", "tx_valid", "tx_data", "tx_bytes", "tx_last"];
    let mac = [
        "rx_axis_tvalid",
        "rx_axis_tdata",
        "rx_axis_tkeep",
        "rx_axis_tlast",
        "rx_axis_tuser",
        "tx_axis_tready",
        "usr_rx_reset",
        "usr_tx_reset",
        "stat_rx_aligned",
        "stat_rx_remote_fault",
    ];
    let card = card.into_iter().map(|port| (port, "clock"));
    card.chain(mac.into_iter().map(|port| (port, "mac_clock")))
        .collect()
}

/// The clock of each input of the DCMAC's shim.
fn inputs_of_dcmac() -> BTreeMap<String, &'static str> {
    let card = ["reset", "tx_valid", "tx_data", "tx_bytes", "tx_last"];
    let card = card.into_iter().map(|port| (port.to_owned(), "clock"));
    let mac = ["mac_reset", "link_up", "rx_axis_tvalid", "tx_axis_tready"];
    let segments = (0..4).flat_map(|place| {
        let names = ["tdata", "ena", "sop", "eop", "err", "mty"];
        names.map(|name| format!("rx_axis{place}_{name}"))
    });
    let mac = mac.into_iter().map(str::to_owned).chain(segments);
    card.chain(mac.map(|port| (port, "mac_clock"))).collect()
}

#[test]
fn the_shim_of_the_dcmac_has_the_same_crossings() {
    let [cmac, dcmac] =
        ["cmac_shim", "dcmac_shim"].map(|name| hdl_designs::elaborate(name).unwrap());
    assert_eq!(crossings_of(&cmac), crossings_of(&dcmac));
    let inputs = inputs_of_dcmac();
    let inputs = inputs
        .iter()
        .map(|(port, clock)| (port.as_str(), *clock))
        .collect();
    let netlist = check(&dcmac.text(), &dcmac.top, &inputs);
    assert_eq!(netlist.wrong, BTreeSet::new());
    assert_eq!(netlist.crossings.len(), 11);
}

/// Every path between the clocks of the shim goes through a synchroniser, and the constraints are made of the same ones.
#[test]
fn every_path_between_clocks_is_a_crossing_with_constraints() {
    let shim = hdl_designs::elaborate("cmac_shim").unwrap();
    let text = shim.text();
    let netlist = check(&text, &shim.top, &inputs());
    assert_eq!(netlist.wrong, BTreeSet::new());
    let listed = crossings_of(&shim).into_iter().map(|crossing| {
        let last = match crossing.kind {
            Kind::Reset => "chain_crossing",
            _ => "first_crossing",
        };
        let from = crossing.from.expect("a register sends").path;
        (
            format!("{from}/source_crossing"),
            format!("{}/{last}", crossing.to),
        )
    });
    let listed: BTreeSet<_> = listed.collect();
    assert_eq!(listed, netlist.crossings);
    assert_eq!(
        listed.len(),
        11,
        "4 pointers, 4 resets, frames, drops, link"
    );

    // What the check is worth: a reset of the other clock, a register that is no source, logic in front of a synchroniser and of a reset.
    let mut changed = text;
    let mut due = vec![];
    for (from, to, wrong) in [
        (
            "u_rx_deliver (\n    .clock(card_clock),\n    .fifo_reset(rx_read_reset_reset)",
            "u_rx_deliver (\n    .clock(card_clock),\n    .fifo_reset(rx_write_reset_reset)",
            "u_crossing/u_rx_write_reset/reset to u_crossing/u_rx_deliver/",
        ),
        (
            ".level(up_q)",
            ".level(link_up)",
            "u_start/up to u_crossing/u_up_seen/first_crossing",
        ),
        (
            ".level(complete_q)",
            ".level(complete_q & {10{up_seen_synchronised}})",
            "u_crossing/u_complete/source_crossing to u_crossing/u_complete_seen/first_crossing",
        ),
        (
            ".asynchronous(tx_reset_source_q)",
            ".asynchronous(tx_reset_source_q | reset_source_q)",
            "u_crossing/u_tx_reset_source/source_crossing to u_crossing/u_tx_write_reset/chain_crossing",
        ),
    ] {
        assert_eq!(changed.matches(from).count(), 1, "{from}");
        changed = changed.replace(from, to);
        due.push(wrong);
    }
    let changed = check(&changed, &shim.top, &inputs());
    for wrong in due {
        let found = changed.wrong.iter().any(|path| path.starts_with(wrong));
        assert!(found, "{wrong}: {:?}", changed.wrong);
    }
}

/// The whole card of the V80 with its blocks: clocks of both endpoints, of the registers, and of the DCMAC.
#[test]
fn every_path_between_clocks_of_the_v80_is_a_crossing_with_constraints() {
    let project = project(Board::V80);
    let top = "openstellar_200g2";
    let text: String = project
        .files
        .iter()
        .filter(|(path, _)| path.ends_with(".v") && !path.ends_with("/v80.v"))
        .map(|(_, text)| text.as_str())
        .collect();
    let inputs = inputs_of_v80(&text, top);
    let inputs: BTreeMap<&str, &str> = inputs
        .iter()
        .map(|(port, clock)| (port.as_str(), *clock))
        .collect();
    let found = check(&text, top, &inputs);
    assert_eq!(found.wrong, BTreeSet::new());
    let mut listed = BTreeSet::new();
    for block in Platform::of(Board::V80).blocks {
        let crossings = crossings_of(&hdl_designs::elaborate(block.design).unwrap());
        for at in block.at {
            let at = at.strip_prefix("u_port/").unwrap();
            for crossing in &crossings {
                let last = match crossing.kind {
                    Kind::Reset => "chain_crossing",
                    Kind::Levels { .. } => "first_crossing",
                    Kind::Memory => continue,
                };
                if let Some(from) = &crossing.from {
                    listed.insert((
                        format!("{at}/{}/source_crossing", from.path),
                        format!("{at}/{}/{last}", crossing.to),
                    ));
                }
            }
        }
    }
    assert_eq!(found.crossings, listed);
    assert_eq!(
        listed.len(),
        2 * 11 + 4 + 14,
        "of both shims; resets and links of both ports; of the endpoint: 6 pointers, 2 numbers, 2 resets, down, FLR, and 2 of its pulse"
    );

    // What the check is worth: a pin of the wrong endpoint, a level of the wrong clock, and a clock that is swapped.
    let mut changed = text;
    let mut due = vec![];
    for (from, to, wrong) in [
        (
            ".rc1_tvalid(rc1_tvalid)",
            ".rc1_tvalid(s_axis_rc1_tvalid)",
            "s_axis_rc1_tvalid to u_card/",
        ),
        (
            "assign link_down = {link_down1, pcie_link_down};",
            "assign link_down = {pcie_link_down1, pcie_link_down};",
            "pcie_link_down1 to u_card/",
        ),
        (
            ".mac_clock(mac_clk),\n    .mac_reset(mac_reset[1])",
            ".mac_clock(reg_clk),\n    .mac_reset(mac_reset[1])",
            "u_start/u_resets_seen_1/",
        ),
        (
            ".flr_done(flr_over[1])",
            ".flr_done(flr_in_process1)",
            "flr_in_process1 to u_endpoint1/",
        ),
    ] {
        assert_eq!(changed.matches(from).count(), 1, "{from}");
        changed = changed.replace(from, to);
        due.push(wrong);
    }
    let changed = check(&changed, top, &inputs);
    for wrong in due {
        let found = changed.wrong.iter().any(|path| path.starts_with(wrong));
        assert!(found, "{wrong}: {:?}", changed.wrong);
    }
}

/// The clock of each input of the card of the V80; those that are asynchronous are left out.
fn inputs_of_v80(text: &str, top: &str) -> BTreeMap<String, &'static str> {
    let module = Module::read_all(text)
        .into_iter()
        .find(|module| module.name == top)
        .unwrap();
    let inputs = module.ports.iter().filter(|port| !port.is_output);
    let clocked = inputs.filter_map(|port| {
        let name = port.name.as_str();
        let of_endpoint_1 = [
            "s_axis_cq1",
            "s_axis_rc1",
            "m_axis_rq1",
            "user_reset1",
            "pcie_link_down1",
            "flr_in_process1",
        ];
        let of_mac = ["rx_axis_", "tx_axis_"];
        let of_registers = ["m_axi_", "reg_reset"];
        let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
        let clock = if name.ends_with("_clk") || name == "user_clk1" || name.starts_with("gt_") {
            return None;
        } else if begins(&of_endpoint_1) {
            "user_clk1"
        } else if begins(&of_mac) {
            "mac_clk"
        } else if begins(&of_registers) {
            "reg_clk"
        } else {
            "user_clk"
        };
        Some((name.to_owned(), clock))
    });
    clocked.collect()
}

/// FIFOs alone: their pointers, and the words of LUT RAM.
#[test]
fn a_fifo_in_lut_ram_has_one_crossing_more_than_one_in_block_ram() {
    let source = |path: &str, clock: &str| {
        Some(Source {
            path: path.into(),
            clock: clock.into(),
        })
    };
    let pointer = |bits, from, sender, to: &str, clock: &str| Crossing {
        kind: Kind::Levels { bits },
        from: source(from, sender),
        to: to.into(),
        clock: clock.into(),
        write_clock: None,
    };
    let of = |name| crossings_of(&hdl_designs::elaborate(name).unwrap());
    let pointers = |bits| {
        vec![
            pointer(
                bits,
                "u_read_gray",
                "read_clock",
                "u_read_gray_seen",
                "write_clock",
            ),
            pointer(
                bits,
                "u_write_gray",
                "write_clock",
                "u_write_gray_seen",
                "read_clock",
            ),
        ]
    };
    assert_eq!(of("async_fifo_block"), pointers(10));
    let memory = Crossing {
        kind: Kind::Memory,
        from: None,
        to: "u_memory".into(),
        clock: "read_clock".into(),
        write_clock: Some("write_clock".into()),
    };
    let mut all = pointers(6);
    all.insert(0, memory);
    assert_eq!(of("async_fifo_lut"), all);
    assert_eq!(of("registers"), vec![], "a block with one clock");
}

/// A register may send across the border of its module, and levels may come from a pin.
#[test]
fn sources_are_found_across_modules() {
    let fifo = hdl_designs::elaborate("pulse_handshake").unwrap();
    let text = fifo.text();
    let top = "
module around (
  input wire a,
  input wire b,
  input wire pin,
  output wire out
);
  wire level;
  sender u_sender (
    .clock(a),
    .level(level)
  );
  level_synchroniser_1_3 u_seen (
    .clock(b),
    .level(level),
    .synchronised(out)
  );
  level_synchroniser_1_3 u_pin (
    .clock(b),
    .level(pin),
    .synchronised()
  );
endmodule
module sender (
  input wire clock,
  output wire level
);
  wire q;
  crossing_source_1 u_source (
    .clock(clock),
    .d(1'b0),
    .q(q)
  );
  assign level = q;
endmodule
";
    let found = find(&Module::read_all(&format!("{text}{top}")), "around");
    let ends: Vec<_> = found
        .iter()
        .map(|crossing| {
            let from = crossing.from.as_ref();
            (
                from.map(|from| (from.path.as_str(), from.clock.as_str())),
                crossing.to.as_str(),
                crossing.clock.as_str(),
            )
        })
        .collect();
    assert_eq!(
        ends,
        [
            (Some(("u_sender/u_source", "a")), "u_seen", "b"),
            (None, "u_pin", "b")
        ]
    );
}
