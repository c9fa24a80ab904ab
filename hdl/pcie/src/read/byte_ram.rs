//! Block RAM with a write enable per byte.

use hdl_primitives::sim::text;
use rust_hdl::prelude::*;

use crate::sim;

/// A memory of 2^`A` words of `W` bits with write enables for its `N` = `W` / 8 byte lanes. The data comes one cycle after the address. A read of an address that is written in the same
/// cycle gives the old contents. 72 bits of width take one RAMB36 with its eight byte write enables, up to 512 words.
#[derive(LogicBlock)]
pub struct ByteRam<const W: usize, const N: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub write_lanes: Signal<In, Bits<N>>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<W>>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<W>>,
    _words: Vec<Bits<W>>,
}

impl<const W: usize, const N: usize, const A: usize> Default for ByteRam<W, N, A> {
    fn default() -> Self {
        assert!(
            W == 8 * N,
            "ByteRam<{W}, {N}, {A}>: {N} byte lanes need W = {}",
            8 * N
        );
        assert!(
            (1..=16).contains(&A),
            "ByteRam<{W}, {N}, {A}>: use 1 to 16 address bits"
        );
        Self {
            clock: Default::default(),
            write_lanes: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            _words: vec![Bits::default(); 1 << A],
        }
    }
}

impl<const W: usize, const N: usize, const A: usize> Logic for ByteRam<W, N, A> {
    fn update(&mut self) {
        if !self.clock.pos_edge() {
            return;
        }
        self.read_data.next = self._words[self.read_address.val().index()];
        let (lanes, data) = (self.write_lanes.val(), self.write_data.val());
        let word = &mut self._words[self.write_address.val().index()];
        for i in (0..W).filter(|i| lanes.get_bit(i / 8)) {
            *word = word.replace_bit(i, data.get_bit(i));
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let hardware = format!(
            "  (* ram_style = \"block\" *) reg [{top}:0] memory [0:{last}];
`ifndef SYNTHESIS
  integer i;
  initial for (i = 0; i < {depth}; i = i + 1) memory[i] = {W}'d0;
`endif
  initial read_data = {W}'d0;
  genvar lane;
  generate for (lane = 0; lane < {N}; lane = lane + 1) begin : lanes
    always @(posedge clock) if (write_lanes[lane]) memory[write_address][8*lane +: 8] <= write_data[8*lane +: 8];
  end endgenerate
  always @(posedge clock) read_data <= memory[read_address];
",
            top = W - 1,
            last = (1 << A) - 1,
            depth = 1 << A,
        );
        Verilog::Custom(text::<Self>(&hardware, sim::byte_ram(N, A)))
    }
}
