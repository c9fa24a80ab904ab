//! The CRC-32 of Ethernet (IEEE 802.3, 3.2.9; RoCE's invariant CRC uses it too) over one wide beat per cycle.
//!
//! The register is bit-reversed as in software: polynomial 0xEDB88320, shifting right, byte 0 of the beat first. One step for one data bit `d`
//! is linear over GF(2): `r' = A (r ^ d)`. So a beat of `W` bits is `r' = A^W r + sum of A^(W-j) e0` over its set bits `j`, where `e0` is the
//! register with only bit 0 set. A short last beat is processed as if zeros followed, and a product with `A^(-8 pad)` removes their effect. This
//! module computes the powers of `A` when it writes the Verilog, so the hardware consists of fixed XORs.

use std::collections::VecDeque;
use std::fmt::Write;

use rust_hdl::prelude::*;

use crate::crc32_matrix::{power, product, row, step, step_back};
use crate::sim;

/// CRC of frames of beats of `W` bits (a power of two from 64 to 1,024): one beat per cycle, frames back to back, also of a single beat.
///
/// `crc` is the *register* after the whole frame, before any final inversion; it comes with `out_valid`, once per frame,
/// [`Crc32Wide::LATENCY`] cycles after the last beat, and holds until the next.
///
/// Stages and planned LUT6 levels: mask of valid bytes (2); masked XOR over groups of 256 bits (4); next register from the old one and the
/// groups (3); then the padding, two powers of two per cycle (6 each).
#[derive(LogicBlock)]
pub struct Crc32Wide<const W: usize> {
    pub clock: Signal<In, Clock>,
    /// Discards frames in progress; the next beat starts a frame.
    pub reset: Signal<In, Bit>,

    pub in_valid: Signal<In, Bit>,
    /// Byte `i` in bits `8i + 7 : 8i`. Bytes beyond `in_bytes` of the last beat may hold anything.
    pub in_data: Signal<In, Bits<W>>,
    /// Valid bytes of the last beat, 1 to `W / 8`. Other beats are full.
    pub in_bytes: Signal<In, Bits<8>>,
    pub in_last: Signal<In, Bit>,

    pub out_valid: Signal<Out, Bit>,
    pub crc: Signal<Out, Bits<32>>,

    _initial: u32,
    _register: u32,
    /// Results on their way, the oldest first.
    _results: VecDeque<Option<u32>>,
}

impl<const W: usize> Crc32Wide<W> {
    /// Bits of a byte count below `W / 8`.
    pub(crate) const PAD_BITS: usize = (W / 8).trailing_zeros() as usize;
    /// Number of cycles that remove padding.
    pub(crate) const PAD_STAGES: usize = Self::PAD_BITS.div_ceil(2);
    /// Cycles from a frame's last beat to its CRC.
    pub const LATENCY: usize = 3 + Self::PAD_STAGES;

    /// The value of the register at the start of each frame.
    pub(crate) const fn initial(&self) -> u32 {
        self._initial
    }

    /// A CRC whose register starts each frame at `initial` (0xFFFFFFFF for the plain CRC).
    pub fn new(initial: u32) -> Self {
        assert!(
            (64..=1024).contains(&W) && W.is_power_of_two(),
            "Crc32Wide of {W} bits: use a power of two from 64 to 1,024"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            in_valid: Default::default(),
            in_data: Default::default(),
            in_bytes: Default::default(),
            in_last: Default::default(),
            out_valid: Default::default(),
            crc: Default::default(),
            _initial: initial,
            _register: initial,
            _results: idle(Self::LATENCY),
        }
    }
}

fn idle(latency: usize) -> VecDeque<Option<u32>> {
    std::iter::repeat_n(None, latency - 1).collect()
}

impl<const W: usize> Default for Crc32Wide<W> {
    fn default() -> Self {
        Self::new(u32::MAX)
    }
}

impl<const W: usize> Logic for Crc32Wide<W> {
    /// Bit by bit, so that the matrices of `hdl` have something else to agree with.
    fn update(&mut self) {
        if !self.clock.pos_edge() {
            return;
        }
        if self.reset.val() {
            self._register = self._initial;
            self._results = idle(Self::LATENCY);
            self.out_valid.next = false;
            return;
        }
        let mut result = None;
        if self.in_valid.val() {
            let last = self.in_last.val();
            let bytes = if last {
                self.in_bytes.val().index()
            } else {
                W / 8
            };
            assert!(
                (1..=W / 8).contains(&bytes),
                "a last beat of {bytes} bytes: 1 to {}",
                W / 8
            );
            let data = self.in_data.val();
            for i in 0..8 * bytes {
                self._register = step(self._register ^ u32::from(data.get_bit(i)));
            }
            if last {
                result = Some(self._register);
                self._register = self._initial;
            }
        }
        self._results.push_back(result);
        let leaving = self._results.pop_front().flatten();
        self.out_valid.next = leaving.is_some();
        if let Some(crc) = leaving {
            self.crc.next = u64::from(crc).into();
        }
    }

    fn connect(&mut self) {
        self.out_valid.connect();
        self.crc.connect();
    }

    fn hdl(&self) -> Verilog {
        let mut stages = String::new();
        self.mask_stage(&mut stages);
        self.group_stage(&mut stages);
        self.register_stage(&mut stages);
        self.pad_stages(&mut stages);
        Verilog::Custom(sim::text::<Self>(&stages, self.gated()))
    }
}

impl<const W: usize> Crc32Wide<W> {
    /// Bits of one group: 128 terms on average, three LUT6 levels.
    const GROUP: usize = if W < 256 { W } else { 256 };

    fn mask_stage(&self, out: &mut String) {
        let bytes = W / 8;
        let _ = write!(
            out,
            "  // Which bytes count, and how many are missing.
  reg valid_1, last_1;
  reg [{data_top}:0] data_1;
  reg [{byte_top}:0] keep_1;
  reg [{pad_top}:0] pad_1;
  wire [7:0] pad = 8'd{bytes} - in_bytes;
  initial valid_1 = 1'b0;
  always @(posedge clock) begin
    valid_1 <= in_valid && !reset;
    if (in_valid) begin
      last_1 <= in_last;
      data_1 <= in_data;
      keep_1 <= in_last ? ~({{{bytes}{{1'b1}}}} << in_bytes) : {{{bytes}{{1'b1}}}};
      pad_1 <= pad[{pad_top}:0];
    end
  end
",
            data_top = W - 1,
            byte_top = bytes - 1,
            pad_top = Self::PAD_BITS - 1,
        );
    }

    fn group_stage(&self, out: &mut String) {
        // Column `j`: what data bit `j` adds to the register, A^(W-j) e0.
        let mut columns = vec![0u32; W];
        let mut column = 1;
        for j in (0..W).rev() {
            column = step(column);
            columns[j] = column;
        }
        let groups = W / Self::GROUP;
        *out += "  // What the data add to the register, group by group.\n";
        for word in 0..W / 32 {
            let keeps: Vec<String> = (0..4)
                .rev()
                .map(|b| format!("{{8{{keep_1[{}]}}}}", 4 * word + b))
                .collect();
            let _ = writeln!(
                out,
                "  wire [31:0] word_{word} = data_1[{}:{}] & {{{}}};",
                32 * word + 31,
                32 * word,
                keeps.join(", ")
            );
        }
        for group in 0..groups {
            let words = (group * Self::GROUP / 32)..((group + 1) * Self::GROUP / 32);
            for bit in 0..32 {
                let terms: Vec<String> = words
                    .clone()
                    .map(|word| {
                        format!(
                            "(word_{word} & 32'h{:08x})",
                            row(&columns[32 * word..32 * word + 32], bit)
                        )
                    })
                    .collect();
                let _ = writeln!(
                    out,
                    "  wire group_{group}_{bit} = ^({});",
                    terms.join(" ^ ")
                );
            }
            let _ = writeln!(out, "  reg [31:0] group_{group};");
        }
        let _ = writeln!(
            out,
            "  reg valid_2, last_2;\n  reg [{}:0] pad_2;",
            Self::PAD_BITS - 1
        );
        *out += "  initial valid_2 = 1'b0;\n  always @(posedge clock) begin\n    valid_2 <= valid_1 && !reset;\n    if (valid_1) begin\n";
        *out += "      last_2 <= last_1;\n      pad_2 <= pad_1;\n";
        for group in 0..groups {
            let bits: Vec<String> = (0..32)
                .rev()
                .map(|bit| format!("group_{group}_{bit}"))
                .collect();
            let _ = writeln!(out, "      group_{group} <= {{{}}};", bits.join(", "));
        }
        *out += "    end\n  end\n";
    }

    fn register_stage(&self, out: &mut String) {
        let groups: Vec<String> = (0..W / Self::GROUP)
            .map(|group| format!("group_{group}"))
            .collect();
        let _ = write!(
            out,
            "  // The register after this beat.
  reg first, valid_3;
  reg [31:0] register;
  reg [{pad_top}:0] pad_3;
  wire [31:0] start = first ? 32'h{:08x} : register;
{}  initial first = 1'b1;
  initial valid_3 = 1'b0;
  always @(posedge clock) begin
    valid_3 <= valid_2 && last_2 && !reset;
    if (reset) first <= 1'b1;
    else if (valid_2) first <= last_2;
    if (valid_2) begin
      register <= advanced ^ {};
      pad_3 <= pad_2;
    end
  end
",
            self._initial,
            product("advanced", "start", &power(step, W)),
            groups.join(" ^ "),
            pad_top = Self::PAD_BITS - 1,
        );
    }

    fn pad_stages(&self, out: &mut String) {
        *out += "  // The zero bytes after the frame's end are taken away again.\n";
        *out += "  initial out_valid = 1'b0;\n  initial crc = 32'b0;\n";
        let mut source = "register".to_string();
        for stage in 0..Self::PAD_STAGES {
            let at = stage + 3;
            for k in 2 * stage..(2 * stage + 2).min(Self::PAD_BITS) {
                let undone = format!("undone_{k}");
                *out += &product(&undone, &source, &power(step_back, 8 << k));
                let _ = writeln!(
                    out,
                    "  wire [31:0] less_{k} = pad_{at}[{k}] ? {undone} : {source};"
                );
                source = format!("less_{k}");
            }
            let next = at + 1;
            if stage + 1 == Self::PAD_STAGES {
                let _ = writeln!(
                    out,
                    "  always @(posedge clock) begin\n    out_valid <= valid_{at} && !reset;\n    if (valid_{at} && !reset) crc <= {source};\n  end"
                );
            } else {
                // Only the bits of later stages travel on, under their own numbers.
                let _ = writeln!(
                    out,
                    "  reg valid_{next};\n  reg [31:0] crc_{next};\n  reg [{top}:{low}] pad_{next};\n  initial valid_{next} = 1'b0;\n  \
                     always @(posedge clock) begin\n    valid_{next} <= valid_{at} && !reset;\n    if (valid_{at}) begin\n      \
                     crc_{next} <= {source};\n      pad_{next} <= pad_{at}[{top}:{low}];\n    end\n  end",
                    top = Self::PAD_BITS - 1,
                    low = 2 * stage + 2,
                );
                source = format!("crc_{next}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latency_is_documented_by_width() {
        assert_eq!(Crc32Wide::<1024>::LATENCY, 7);
        assert_eq!(Crc32Wide::<512>::LATENCY, 6);
        assert_eq!(Crc32Wide::<64>::LATENCY, 5);
    }

    #[test]
    #[should_panic(expected = "Crc32Wide of 96 bits: use a power of two from 64 to 1,024")]
    fn an_odd_width_is_refused() {
        let _ = Crc32Wide::<96>::default();
    }
}
