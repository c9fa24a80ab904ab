//! The text of [`Crc32Wide`] in gated models. It uses lookup tables, as software does: each table gives the contribution of one byte of the CRC
//! register. Verilator generates about a dozen instructions for a table lookup, and a thousand for the XORs of a beat. The outputs are the same in
//! the same cycles.

use std::fmt::Write;

use super::Gated;
use crate::crc32::Crc32Wide;
use crate::crc32_matrix::{power, product_rows, step_back, POLYNOMIAL};

/// Names of the tables: `step` advances the CRC by a 32-bit word of data, `leap` by a group of words.
const TABLES: [&str; 2] = ["step", "leap"];

impl<const W: usize> Crc32Wide<W> {
    /// The Verilog of this block in gated models.
    pub(crate) fn gated(&self) -> Gated {
        let mut text = String::new();
        tables(&mut text, [32, Self::GROUP]);
        Self::gated_mask_stage(&mut text);
        Self::gated_group_stage(&mut text);
        self.gated_register_stage(&mut text);
        Self::gated_pad_stages(&mut text);
        let valid: Vec<String> = (1..Self::PAD_STAGES + 3)
            .map(|stage| format!("valid_{stage}"))
            .collect();
        let _ = writeln!(
            text,
            "assign gate_active = in_valid || {} || out_valid || reset && !first;",
            valid.join(" || ")
        );
        Gated::Instead(text)
    }

    fn gated_mask_stage(out: &mut String) {
        let _ = write!(
            out,
            "reg valid_1, last_1;
reg [{data_top}:0] data_1;
reg [{pad_top}:0] pad_1;
wire [7:0] pad = 8'd{bytes} - in_bytes;
initial valid_1 = 1'b0;
always @(edge clock) begin
  valid_1 <= in_valid && !reset;
  if (in_valid) begin
    last_1 <= in_last;
    pad_1 <= pad[{pad_top}:0];
    if (in_last) data_1 <= in_data & ~({{{W}{{1'b1}}}} << {{in_bytes, 3'b000}});
    else data_1 <= in_data;
  end
end
",
            data_top = W - 1,
            pad_top = Self::PAD_BITS - 1,
            bytes = W / 8,
        );
    }

    fn gated_group_stage(out: &mut String) {
        let _ = write!(
            out,
            "reg valid_2, last_2;
reg [{pad_top}:0] pad_2;
reg [31:0] part, sum, added_2;
initial valid_2 = 1'b0;
always @(edge clock) begin
  valid_2 <= valid_1 && !reset;
  if (valid_1) begin
    last_2 <= last_1;
    pad_2 <= pad_1;
",
            pad_top = Self::PAD_BITS - 1,
        );
        for at in (0..W).step_by(32) {
            let word = format!("data_1[{at} +: 32]");
            let _ = if at % Self::GROUP == 0 {
                writeln!(out, "    part = step({word});")
            } else {
                writeln!(out, "    part = step(part ^ {word});")
            };
            if at + 32 == Self::GROUP {
                *out += "    sum = part;\n";
            } else if (at + 32) % Self::GROUP == 0 {
                *out += "    sum = leap(sum) ^ part;\n";
            }
        }
        *out += "    added_2 <= sum;\n  end\nend\n";
    }

    fn gated_register_stage(&self, out: &mut String) {
        let groups = W / Self::GROUP;
        let _ = write!(
            out,
            "reg first, valid_3;
reg [31:0] register;
reg [{pad_top}:0] pad_3;
initial first = 1'b1;
initial valid_3 = 1'b0;
always @(edge clock) begin
  valid_3 <= valid_2 && last_2 && !reset;
  if (reset) first <= 1'b1;
  else if (valid_2) first <= last_2;
  if (valid_2) begin
    register <= {}first ? 32'h{:08x} : register{} ^ added_2;
    pad_3 <= pad_2;
  end
end
",
            "leap(".repeat(groups),
            self.initial(),
            ")".repeat(groups),
            pad_top = Self::PAD_BITS - 1,
        );
    }

    fn gated_pad_stages(out: &mut String) {
        *out += "reg [31:0] less;\ninitial out_valid = 1'b0;\ninitial crc = 32'b0;\n";
        let mut source = "register".to_string();
        for stage in 0..Self::PAD_STAGES {
            let (at, next) = (stage + 3, stage + 4);
            let mut less = format!("    less = {source};\n");
            for k in 2 * stage..(2 * stage + 2).min(Self::PAD_BITS) {
                let rows = product_rows("less", &power(step_back, 8 << k));
                let _ = writeln!(less, "    if (pad_{at}[{k}]) less = {rows};");
            }
            let _ = if stage + 1 == Self::PAD_STAGES {
                write!(
                    out,
                    "always @(edge clock) begin\n  out_valid <= valid_{at} && !reset;\n  if (valid_{at} && !reset) begin\n{less}    crc <= less;\n  end\nend\n"
                )
            } else {
                let (top, low) = (Self::PAD_BITS - 1, 2 * stage + 2);
                write!(
                    out,
                    "reg valid_{next};\nreg [31:0] crc_{next};\nreg [{top}:{low}] pad_{next};\ninitial valid_{next} = 1'b0;\n\
                     always @(edge clock) begin\n  valid_{next} <= valid_{at} && !reset;\n  if (valid_{at}) begin\n{less}    \
                     crc_{next} <= less;\n    pad_{next} <= pad_{at}[{top}:{low}];\n  end\nend\n"
                )
            };
            source = format!("crc_{next}");
        }
    }
}

/// Writes the tables and the functions that use them. A table gives the contribution of byte `k` of the CRC register after a number of zero bits; the
/// function adds up the contributions of the four bytes.
fn tables(out: &mut String, steps: [usize; 2]) {
    let _ = write!(
        out,
        "function [31:0] times(input [31:0] from, input integer count);
  integer i;
  begin
    times = from;
    for (i = 0; i < count; i = i + 1) times = times[0] ? (times >> 1) ^ 32'h{POLYNOMIAL:08x} : times >> 1;
  end
endfunction
integer entry;
"
    );
    for (name, steps) in TABLES.into_iter().zip(steps) {
        let mut looks = vec![];
        for k in 0..4 {
            let _ = write!(
                out,
                "reg [31:0] {name}_{k} [0:255];\n\
                 initial for (entry = 0; entry < 256; entry = entry + 1) {name}_{k}[entry] = times(entry << {shift}, {steps});\n",
                shift = 8 * k,
            );
            looks.push(format!("{name}_{k}[from[{} +: 8]]", 8 * k));
        }
        let _ = write!(
            out,
            "function [31:0] {name}(input [31:0] from);\n  {name} = {};\nendfunction\n",
            looks.join(" ^ ")
        );
    }
}
