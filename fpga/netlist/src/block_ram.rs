//! The pins and parameters of RAMB18E2 and RAMB36E2 around the array of `cells/block_ram.v`. They have up to 144 parameters of contents, so their text is made.

use std::fmt::Write;

/// A block RAM of 2^`address` data bits, each of whose two ports has `pins` data pins.
pub(crate) fn module(name: &str, address: usize, pins: usize) -> String {
    let contents = (1 << address) / 256;
    let parity_contents = contents / 8;
    let parity_pins = pins / 8;
    let both = 2 * pins;
    let value = pins + parity_pins;
    let mut text = format!("module {name} #(\n");
    for (parameter, count) in [("INIT", contents), ("INITP", parity_contents)] {
        for i in 0..count {
            let _ = writeln!(text, "    parameter [255:0] {parameter}_{i:02X} = 256'd0,");
        }
    }
    for port in ["A", "B"] {
        let _ = writeln!(
            text,
            "    parameter [71:0] INIT_{port} = 72'd0,\n    parameter [71:0] SRVAL_{port} = 72'd0,\n    parameter DO{port}_REG = 1,\n    \
             parameter READ_WIDTH_{port} = 0,\n    parameter WRITE_WIDTH_{port} = 0,\n    parameter WRITE_MODE_{port} = \"NO_CHANGE\"{}",
            if port == "A" { "," } else { "" }
        );
    }
    let joined = |parameter: &str, count: usize| {
        let parts = (0..count).rev().map(|i| format!("{parameter}_{i:02X}"));
        parts.collect::<Vec<_>>().join(", ")
    };
    let _ = write!(
        text,
        ") (
    input wire [{address_top}:0] ADDRARDADDR, input wire [{address_top}:0] ADDRBWRADDR, input wire ADDRENA, input wire ADDRENB,
    input wire CLKARDCLK, input wire CLKBWRCLK, input wire ENARDEN, input wire ENBWREN, input wire REGCEAREGCE, input wire REGCEB,
    input wire RSTRAMARSTRAM, input wire RSTRAMB, input wire RSTREGARSTREG, input wire RSTREGB, input wire SLEEP,
    input wire [{parity_top}:0] WEA, input wire [{write_top}:0] WEBWE,
    input wire [{top}:0] DINADIN, input wire [{top}:0] DINBDIN, input wire [{parity_top}:0] DINPADINP, input wire [{parity_top}:0] DINPBDINP,
    output wire [{top}:0] DOUTADOUT, output wire [{top}:0] DOUTBDOUT, output wire [{parity_top}:0] DOUTPADOUTP, output wire [{parity_top}:0] DOUTPBDOUTP
);
    // With the full width, port A reads and port B writes with the pins of both.
    localparam WIDE_READ = READ_WIDTH_A == {wide};
    localparam WIDE_WRITE = WRITE_WIDTH_B == {wide};
    localparam BY_A = WRITE_WIDTH_A != 0;
    localparam [63:0] DATA_RESET_A = WIDE_READ ? {{SRVAL_B[{top}:0], SRVAL_A[{top}:0]}} : SRVAL_A[{top}:0];
    localparam [63:0] DATA_RESET_B = SRVAL_B[{top}:0];
    localparam [7:0] PARITY_RESET_A = WIDE_READ ? {{SRVAL_B[{value_top}:{pins}], SRVAL_A[{value_top}:{pins}]}} : SRVAL_A[{value_top}:{pins}];
    localparam [7:0] PARITY_RESET_B = SRVAL_B[{value_top}:{pins}];
    initial if ((BY_A && WRITE_WIDTH_B != 0) || DOA_REG != 0 || DOB_REG != 0 || (BY_A ? WRITE_MODE_A : WRITE_MODE_B) != \"READ_FIRST\") begin
        $display(\"{name}: a setting that its model does not have\");
        $finish;
    end
    wire [71:0] read_a, read_b;
    wire [63:0] data_in = BY_A ? DINADIN : WIDE_WRITE ? {{DINBDIN, DINADIN}} : DINBDIN;
    wire [7:0] parity_in = BY_A ? DINPADINP : WIDE_WRITE ? {{DINPBDINP, DINPADINP}} : DINPBDINP;
    stellar_block_ram #(
        .ADDRESS({address}), .READ_A(READ_WIDTH_A), .READ_B(READ_WIDTH_B), .WRITE(BY_A ? WRITE_WIDTH_A : WRITE_WIDTH_B),
        .DATA({{{data}}}),
        .PARITY({{{parity}}}),
        .RESET_A({{PARITY_RESET_A, DATA_RESET_A}}), .RESET_B({{PARITY_RESET_B, DATA_RESET_B}})
    ) array (
        .clock_a(CLKARDCLK), .clock_b(CLKBWRCLK), .enable_a(ENARDEN), .enable_b(ENBWREN), .reset_a(RSTRAMARSTRAM), .reset_b(RSTRAMB),
        .address_a(ADDRARDADDR), .address_b(ADDRBWRADDR), .read_a(read_a), .read_b(read_b),
        .write_clock(BY_A ? CLKARDCLK : CLKBWRCLK), .write_bytes(BY_A ? (ENARDEN ? WEA : 0) : (ENBWREN ? WEBWE : 0)),
        .write_address(BY_A ? ADDRARDADDR : ADDRBWRADDR), .write_data({{parity_in, data_in}})
    );
    assign DOUTADOUT = read_a[{top}:0];
    assign DOUTPADOUTP = read_a[{parity_a_top}:64];
    assign DOUTBDOUT = WIDE_READ ? read_a[{both_top}:{pins}] : read_b[{top}:0];
    assign DOUTPBDOUTP = WIDE_READ ? read_a[{parity_b_top}:{parity_b}] : read_b[{parity_a_top}:64];
endmodule
",
        address_top = address - 1,
        top = pins - 1,
        parity_top = parity_pins - 1,
        write_top = 2 * parity_pins - 1,
        wide = both + 2 * parity_pins,
        data = joined("INIT", contents),
        parity = joined("INITP", parity_contents),
        value_top = value - 1,
        both_top = both - 1,
        parity_b = 64 + parity_pins,
        parity_a_top = 64 + parity_pins - 1,
        parity_b_top = 64 + 2 * parity_pins - 1,
    );
    text
}
