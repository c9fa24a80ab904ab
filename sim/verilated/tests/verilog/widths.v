// Has a port of every kind of Verilator's storage: integers of 8, 16, 32 and 64 bits, and arrays of words. The outputs are combinational copies of
// the inputs, and one is a registered copy.
module widths(
    input clk,
    input        in_1,    output        out_1,
    input [7:0]  in_8,    output [7:0]  out_8,
    input [8:0]  in_9,    output [8:0]  out_9,
    input [32:0] in_33,   output [32:0] out_33,
    input [63:0] in_64,   output [63:0] out_64,
    input [64:0] in_65,   output [64:0] out_65,
    input [1023:0] in_1024, output [1023:0] out_1024,
    output reg [1023:0] held_1024
);
    assign out_1 = in_1;
    assign out_8 = in_8;
    assign out_9 = in_9;
    assign out_33 = in_33;
    assign out_64 = in_64;
    assign out_65 = in_65;
    assign out_1024 = in_1024;
    always @(posedge clk) held_1024 <= in_1024;
endmodule
