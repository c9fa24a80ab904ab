// A small design with every kind of object a test can reach.
module counter_cell #(parameter STEP = 1) (
  input wire clk,
  input wire enable,
  output reg [7:0] count
);
  reg [7:0] history [0:3];
  initial count = 0;
  always @(posedge clk) if (enable) begin
    count <= count + STEP;
    history[count[1:0]] <= count;
  end
endmodule

module counter #(parameter LIMIT = 200) (
  input wire clk,
  input wire enable,
  input wire [99:0] wide_in,
  input wire [0:0] one_bit,
  output wire [7:0] count,
  output reg [99:0] wide_out,
  output wire done,
  // Driven by nothing, as the ports in the empty shells that tests of bus models have for a design.
  output wire [3:0] spare
);
  wire [7:0] counts [0:1];
  genvar i;
  generate for (i = 0; i < 2; i = i + 1) begin : lane
    wire [7:0] value;
    counter_cell #(.STEP(i + 1)) u_cell (.clk(clk), .enable(enable), .count(value));
  end endgenerate
  assign count = lane[0].value;
  assign done = count >= LIMIT;
  always @(posedge clk) wide_out <= wide_in;
  // Ends the simulation when told to, with a value no test reaches by accident.
  always @(posedge clk) if (wide_in == {100{1'b1}}) $finish;
endmodule
