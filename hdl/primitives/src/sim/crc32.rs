//! The text of [`Crc32Wide`] in gated models. The CRC of a beat comes from a C++ function (`sim/verilated/src/build/crc32.h`), as software computes it: Verilator generates a thousand
//! instructions for the XORs of a beat. The outputs are the same in the same cycles.

use std::fmt::Write;

use super::Gated;
use crate::crc32::Crc32Wide;

impl<const W: usize> Crc32Wide<W> {
    /// The Verilog of this block in gated models.
    pub(crate) fn gated(&self) -> Gated {
        let mut text = String::new();
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
            r#"reg valid_2, last_2;
reg [{pad_top}:0] pad_2;
reg [31:0] added_2;
initial valid_2 = 1'b0;
always @(edge clock) begin
  valid_2 <= valid_1 && !reset;
  if (valid_1) begin
    last_2 <= last_1;
    pad_2 <= pad_1;
    added_2 <= $c32("stellar_crc_of(", data_1, ")");
  end
end
"#,
            pad_top = Self::PAD_BITS - 1,
        );
    }

    fn gated_register_stage(&self, out: &mut String) {
        let _ = write!(
            out,
            r#"reg first, valid_3;
reg [31:0] register;
reg [{pad_top}:0] pad_3;
initial first = 1'b1;
initial valid_3 = 1'b0;
always @(edge clock) begin
  valid_3 <= valid_2 && last_2 && !reset;
  if (reset) first <= 1'b1;
  else if (valid_2) first <= last_2;
  if (valid_2) begin
    register <= $c32("stellar_crc_leap<{W}>(", first ? 32'h{:08x} : register, ")") ^ added_2;
    pad_3 <= pad_2;
  end
end
"#,
            self.initial(),
            pad_top = Self::PAD_BITS - 1,
        );
    }

    /// What takes the hardware several cycles is computed in the first of them.
    fn gated_pad_stages(out: &mut String) {
        *out += "initial out_valid = 1'b0;\ninitial crc = 32'b0;\n";
        let mut source = r#"$c32("stellar_crc_without(", register, ", ", pad_3, ")")"#.to_string();
        for at in 3..Self::PAD_STAGES + 2 {
            let next = at + 1;
            let _ = writeln!(
                out,
                "reg valid_{next};\nreg [31:0] crc_{next};\ninitial valid_{next} = 1'b0;\n\
                 always @(edge clock) begin\n  valid_{next} <= valid_{at} && !reset;\n  if (valid_{at}) crc_{next} <= {source};\nend"
            );
            source = format!("crc_{next}");
        }
        let last = Self::PAD_STAGES + 2;
        let _ = writeln!(
            out,
            "always @(edge clock) begin\n  out_valid <= valid_{last} && !reset;\n  if (valid_{last} && !reset) crc <= {source};\nend"
        );
    }
}
