//! Tests what the written Verilog gives its reader besides the logic: comments of the source, names of fields, and no redundant statements. The text
//! of simulation models must contain none of these comments.

use hdl_macros::{hdl, hdl_fn};
use hdl_testkit::equivalence::{check, Random};
use hdl_verilog::{emit, emit_hiding};
use rust_hdl::prelude::*;
use sim_models::DesignModels;

use crate::golden;

#[derive(Copy, Clone, Default, Debug, PartialEq, LogicStruct)]
struct Header {
    psn: Bits<24>,
    last: Bit,
}

#[derive(Copy, Clone, Default, Debug, PartialEq, LogicStruct)]
struct Packet {
    queue: Bits<10>,
    header: Header,
}

/// Returns the PSN after `psn`. With `saturating`, the greatest PSN is its own successor. The argument is constant, so the translation removes the
/// branch.
#[hdl_fn]
fn next_psn(psn: Bits<24>, saturating: Bit) -> Bits<24> {
    let sum = psn + 1;
    if saturating && sum == 0 {
        psn
    } else {
        sum
    }
}

/// Counts the packets of a queue.
#[derive(LogicBlock, Default)]
struct PacketCount {
    pub clock: Signal<In, Clock>,
    // From the parser.
    pub valid: Signal<In, Bit>,
    /// The packet that was parsed.
    pub packet: Signal<In, Packet>,
    /// Packets so far.
    pub count: Signal<Out, Bits<24>>,
    /// Bits 3 to 0 of the next PSN, for tests.
    pub probe: Signal<Out, Bits<4>>,
    counted: DFF<Bits<24>>,
}

impl Logic for PacketCount {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, counted);
        // parse: what the packet is
        let packet = self.packet.val();
        let ends = packet.header.last && packet.queue.get_bits::<4>(6) != 0;

        // count: the last packet of a message starts again
        if ends {
            self.counted.d.next = 0.into();
        } else if self.valid.val() {
            self.counted.d.next = next_psn(self.counted.q.val(), false);
        }

        // report
        self.count.next = self.counted.q.val();
        self.probe.next = next_psn(packet.header.psn, false).get_bits::<4>(0);
    }
}

#[test]
fn the_text_is_as_agreed() {
    let mut block = PacketCount::default();
    block.connect_all();
    golden::assert_golden("packet_count.v", &emit(&block).unwrap().text());
}

#[test]
fn the_logic_is_the_same() {
    check(
        PacketCount::default,
        Some(|u| &mut u.clock),
        |uut, rng| {
            uut.valid.next = bool::random(rng);
            uut.packet.next = Packet {
                queue: Bits::random(rng),
                header: Header {
                    psn: Bits::random(rng),
                    last: bool::random(rng),
                },
            };
        },
        500,
        7,
    )
    .unwrap();
}

#[test]
fn models_are_built_without_comments() {
    let mut block = PacketCount::default();
    block.connect_all();
    let model = emit(&block).unwrap().model().verilog;
    let comments: Vec<&str> = model
        .lines()
        .filter(|l| l.contains("//") || l.contains("/*"))
        .collect();
    assert_eq!(
        comments,
        ["// Generated from hdl_verilog::readable::PacketCount"]
    );
}

#[test]
fn a_hidden_output_is_no_port_and_its_logic_stays() {
    let mut block = PacketCount::default();
    block.connect_all();
    let design = emit_hiding(&block, &["probe"]).unwrap();
    assert!(design.ports.iter().all(|port| port.name != "probe"));
    assert!(design.text().contains("\n  wire [3:0] probe;\n"));
    let refused = emit_hiding(&block, &["packet"]).unwrap_err().to_string();
    assert!(refused.contains("packet"), "{refused}");
}
