// Block RAM and UltraRAM of UltraScale+ as AMD's UG573 describes them, as far as Yosys uses them: no output registers, no cascades, no ECC, one port that
// writes. A setting outside of that ends the simulation.

// The array of a block RAM in words of 64 data bits and 8 parity bits. A port has 0, 1, 2, 4, 9, 18, 36 or 72 bits; it takes them from its aligned address.
// A read of what is written in the same cycle gives the old contents (READ_FIRST).
module stellar_block_ram #(
    parameter ADDRESS = 15,
    parameter READ_A = 0,
    parameter READ_B = 0,
    parameter WRITE = 0,
    parameter WORDS = 1 << (ADDRESS - 6),
    parameter [WORDS*64-1:0] DATA = 0,
    parameter [WORDS*8-1:0] PARITY = 0,
    parameter [71:0] RESET_A = 0,
    parameter [71:0] RESET_B = 0
) (
    input wire clock_a,
    input wire clock_b,
    input wire enable_a,
    input wire enable_b,
    input wire reset_a,
    input wire reset_b,
    input wire [ADDRESS-1:0] address_a,
    input wire [ADDRESS-1:0] address_b,
    output reg [71:0] read_a,
    output reg [71:0] read_b,
    input wire write_clock,
    input wire [7:0] write_bytes,
    input wire [ADDRESS-1:0] write_address,
    input wire [71:0] write_data
);
    // Data bits of a port, as a power of two.
    function integer bits(input integer width);
        case (width)
            0, 1: bits = 0;
            2: bits = 1;
            4: bits = 2;
            9: bits = 3;
            18: bits = 4;
            36: bits = 5;
            default: bits = 6;
        endcase
    endfunction
    function [63:0] ones(input integer count);
        ones = count >= 64 ? ~64'd0 : (64'd1 << count) - 64'd1;
    endfunction
    // What a port of this width reads at `offset` of a word: parity in the upper byte.
    function [71:0] part(input [71:0] word, input [5:0] offset, input integer width);
        reg [5:0] first;
        reg [63:0] data;
        reg [7:0] parity;
        begin
            first = offset >> bits(width) << bits(width);
            data = (word[63:0] >> first) & ones(1 << bits(width));
            parity = (word[71:64] >> (first >> 3)) & ones((1 << bits(width)) >> 3);
            part = {parity, data};
        end
    endfunction

    reg [71:0] words [0:WORDS-1];
    integer i;
    initial begin
        for (i = 0; i < WORDS; i = i + 1) words[i] = {PARITY[i*8 +: 8], DATA[i*64 +: 64]};
        read_a = 0;
        read_b = 0;
    end

    reg [5:0] write_first;
    reg [63:0] data_mask;
    reg [7:0] parity_mask;
    reg [71:0] mask;
    reg [71:0] placed;
    always @(*) begin
        write_first = write_address[5:0] >> bits(WRITE) << bits(WRITE);
        parity_mask = write_bytes & ones((1 << bits(WRITE)) >> 3);
        data_mask = {{8{parity_mask[7]}}, {8{parity_mask[6]}}, {8{parity_mask[5]}}, {8{parity_mask[4]}}, {8{parity_mask[3]}}, {8{parity_mask[2]}}, {8{parity_mask[1]}}, {8{parity_mask[0]}}};
        if (WRITE < 9) data_mask = write_bytes[0] ? ones(1 << bits(WRITE)) : 64'd0;
        mask = {parity_mask << (write_first >> 3), data_mask << write_first};
        placed = {write_data[71:64] << (write_first >> 3), write_data[63:0] << write_first};
    end
    always @(posedge write_clock) if (WRITE != 0 && write_bytes != 0)
        words[write_address[ADDRESS-1:6]] <= (words[write_address[ADDRESS-1:6]] & ~mask) | (placed & mask);

    always @(posedge clock_a) if (READ_A != 0 && enable_a)
        read_a <= reset_a ? RESET_A : part(words[address_a[ADDRESS-1:6]], address_a[5:0], READ_A);
    always @(posedge clock_b) if (READ_B != 0 && enable_b)
        read_b <= reset_b ? RESET_B : part(words[address_b[ADDRESS-1:6]], address_b[5:0], READ_B);
endmodule
