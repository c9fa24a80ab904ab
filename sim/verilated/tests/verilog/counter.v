// Counts the clock cycles in which it is enabled. `next` is combinational. C++ does not allow the name `a__b` as it is.
module counter(
    input clk,
    input enable,
    input a__b,
    input [7:0] stop_at,
    output reg [7:0] count,
    output [7:0] next
);
    initial count = 3;
    assign next = count + {7'd0, enable} + {7'd0, a__b};
    always @(posedge clk) begin
        count <= next;
        if (stop_at != 0 && next == stop_at) $stop;
    end
endmodule
