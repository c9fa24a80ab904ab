// UltraRAM: 4,096 words of 72 bits. Port A acts before port B in a cycle, so a read through A and a write through B of one word give the old contents.
module URAM288 #(
    parameter BWE_MODE_A = "PARITY_INTERLEAVED",
    parameter BWE_MODE_B = "PARITY_INTERLEAVED",
    parameter EN_AUTO_SLEEP_MODE = "FALSE",
    parameter IREG_PRE_A = "FALSE",
    parameter IREG_PRE_B = "FALSE",
    parameter IS_CLK_INVERTED = 1'b0,
    parameter OREG_A = "FALSE",
    parameter OREG_B = "FALSE",
    parameter RST_MODE_A = "SYNC",
    parameter RST_MODE_B = "SYNC"
) (
    input wire [22:0] ADDR_A,
    input wire [22:0] ADDR_B,
    input wire [8:0] BWE_A,
    input wire [8:0] BWE_B,
    input wire CLK,
    input wire [71:0] DIN_A,
    input wire [71:0] DIN_B,
    output reg [71:0] DOUT_A,
    output reg [71:0] DOUT_B,
    input wire EN_A,
    input wire EN_B,
    input wire INJECT_DBITERR_A,
    input wire INJECT_DBITERR_B,
    input wire INJECT_SBITERR_A,
    input wire INJECT_SBITERR_B,
    input wire RDB_WR_A,
    input wire RDB_WR_B,
    input wire RST_A,
    input wire RST_B,
    input wire SLEEP
);
    // The bits that a write changes. A parity bit goes with its byte (interleaved), or all eight with the ninth enable (independent).
    function [71:0] mask(input [8:0] enables, input interleaved);
        mask = {interleaved ? enables[7:0] : {8{enables[8]}},
                {8{enables[7]}}, {8{enables[6]}}, {8{enables[5]}}, {8{enables[4]}}, {8{enables[3]}}, {8{enables[2]}}, {8{enables[1]}}, {8{enables[0]}}};
    endfunction

    reg [71:0] words [0:4095];
    integer i;
    initial begin
        for (i = 0; i < 4096; i = i + 1) words[i] = 72'd0;
        DOUT_A = 72'd0;
        DOUT_B = 72'd0;
        if (IS_CLK_INVERTED || OREG_A != "FALSE" || OREG_B != "FALSE" || IREG_PRE_A != "FALSE" || IREG_PRE_B != "FALSE" || EN_AUTO_SLEEP_MODE != "FALSE") begin
            $display("URAM288: a setting that its model does not have");
            $finish;
        end
    end
    wire [71:0] mask_b = mask(BWE_B, BWE_MODE_B == "PARITY_INTERLEAVED");
    always @(posedge CLK) begin
        if (EN_A && RDB_WR_A) begin
            $display("URAM288: a write through port A, which its model does not have");
            $finish;
        end
        if (EN_A && !RDB_WR_A) DOUT_A <= RST_A ? 72'd0 : words[ADDR_A[11:0]];
        if (EN_B && !RDB_WR_B) DOUT_B <= RST_B ? 72'd0 : words[ADDR_B[11:0]];
        if (EN_B && RDB_WR_B) words[ADDR_B[11:0]] <= (words[ADDR_B[11:0]] & ~mask_b) | (DIN_B & mask_b);
    end
endmodule
