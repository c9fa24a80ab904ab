// CARRY4 with a wire for each carry: in Yosys' model a carry depends on another bit of the same vector, which Verilator takes for a loop.
module CARRY4 (output [3:0] CO, output [3:0] O, input CI, input CYINIT, input [3:0] DI, input [3:0] S);
  wire into = CI | CYINIT;
  wire carry_0 = S[0] ? into : DI[0];
  wire carry_1 = S[1] ? carry_0 : DI[1];
  wire carry_2 = S[2] ? carry_1 : DI[2];
  wire carry_3 = S[3] ? carry_2 : DI[3];
  assign CO = {carry_3, carry_2, carry_1, carry_0};
  assign O = S ^ {carry_2, carry_1, carry_0, into};
endmodule
