// A DSP slice as AMD's UG579 describes it, as far as Yosys uses it: multiplier and 48-bit sum, registers A, B, C, M and P; no pre-adder, no SIMD, no pattern
// detection, no cascade of operands. A setting outside of that ends the simulation.
module DSP48E2 #(
    parameter ACASCREG = 1,
    parameter ADREG = 1,
    parameter ALUMODEREG = 1,
    parameter AMULTSEL = "A",
    parameter AREG = 1,
    parameter A_INPUT = "DIRECT",
    parameter BCASCREG = 1,
    parameter BMULTSEL = "B",
    parameter BREG = 1,
    parameter B_INPUT = "DIRECT",
    parameter CARRYINREG = 1,
    parameter CARRYINSELREG = 1,
    parameter CREG = 1,
    parameter DREG = 1,
    parameter INMODEREG = 1,
    parameter MREG = 1,
    parameter OPMODEREG = 1,
    parameter PREADDINSEL = "A",
    parameter PREG = 1,
    parameter USE_MULT = "MULTIPLY",
    parameter USE_SIMD = "ONE48"
) (
    input wire [29:0] A,
    input wire [29:0] ACIN,
    input wire [3:0] ALUMODE,
    input wire [17:0] B,
    input wire [17:0] BCIN,
    input wire [47:0] C,
    input wire CARRYIN,
    input wire [2:0] CARRYINSEL,
    input wire CEA1, input wire CEA2, input wire CEAD, input wire CEALUMODE, input wire CEB1, input wire CEB2, input wire CEC,
    input wire CECARRYIN, input wire CECTRL, input wire CED, input wire CEINMODE, input wire CEM, input wire CEP,
    input wire CLK,
    input wire [26:0] D,
    input wire [4:0] INMODE,
    input wire [8:0] OPMODE,
    input wire [47:0] PCIN,
    input wire RSTA, input wire RSTALLCARRYIN, input wire RSTALUMODE, input wire RSTB, input wire RSTC, input wire RSTCTRL, input wire RSTD,
    input wire RSTINMODE, input wire RSTM, input wire RSTP,
    output wire [47:0] P,
    output wire [47:0] PCOUT
);
    reg [29:0] a_first, a_second;
    reg [17:0] b_first, b_second;
    reg [47:0] c_kept, p_kept;
    reg signed [44:0] m_kept;
    wire [29:0] a = AREG == 0 ? A : a_second;
    wire [17:0] b = BREG == 0 ? B : b_second;
    wire [47:0] c = CREG == 0 ? C : c_kept;
    wire signed [44:0] product = $signed(a[26:0]) * $signed(b);
    wire signed [44:0] m = MREG == 0 ? product : m_kept;
    wire [47:0] m_wide = {{3{m[44]}}, m};

    reg [47:0] w, x, y, z, sum;
    always @(*) begin
        case (OPMODE[8:7])
            2'b01: w = P;
            2'b11: w = c;
            default: w = 48'd0;
        endcase
        // The multiplier takes both X and Y: the whole product is at X here.
        case (OPMODE[1:0])
            2'b01: x = m_wide;
            2'b10: x = P;
            2'b11: x = {a, b};
            default: x = 48'd0;
        endcase
        case (OPMODE[3:2])
            2'b10: y = ~48'd0;
            2'b11: y = c;
            default: y = 48'd0;
        endcase
        case (OPMODE[6:4])
            3'b001: z = PCIN;
            3'b010: z = P;
            3'b011: z = c;
            3'b101: z = {{17{PCIN[47]}}, PCIN[47:17]};
            3'b110: z = {{17{P[47]}}, P[47:17]};
            default: z = 48'd0;
        endcase
        case (ALUMODE)
            4'b0001: sum = ~z + w + x + y + CARRYIN;
            4'b0010: sum = ~(z + w + x + y + CARRYIN);
            4'b0011: sum = z - (w + x + y + CARRYIN);
            default: sum = z + w + x + y + CARRYIN;
        endcase
    end

    initial begin
        {a_first, a_second, b_first, b_second, c_kept, p_kept, m_kept} = 0;
        if (A_INPUT != "DIRECT" || B_INPUT != "DIRECT" || AMULTSEL != "A" || BMULTSEL != "B" || USE_SIMD != "ONE48" || ALUMODEREG != 0 || OPMODEREG != 0 || CARRYINREG != 0 || CARRYINSELREG != 0) begin
            $display("DSP48E2: a setting that its model does not have");
            $finish;
        end
    end
    always @(posedge CLK) begin
        if (ALUMODE[3:2] != 0 || INMODE != 0 || CARRYINSEL != 0 || OPMODE[8:7] == 2'b10 || OPMODE[6:4] == 3'b100 || (OPMODE[1:0] == 2'b01) != (OPMODE[3:2] == 2'b01)) begin
            $display("DSP48E2: an operation that its model does not have");
            $finish;
        end
        if (RSTA) {a_first, a_second} <= 60'd0;
        else begin
            if (CEA1) a_first <= A;
            if (CEA2) a_second <= AREG == 2 ? a_first : A;
        end
        if (RSTB) {b_first, b_second} <= 36'd0;
        else begin
            if (CEB1) b_first <= B;
            if (CEB2) b_second <= BREG == 2 ? b_first : B;
        end
        if (RSTC) c_kept <= 48'd0;
        else if (CEC) c_kept <= C;
        if (RSTM) m_kept <= 45'd0;
        else if (CEM) m_kept <= product;
        if (RSTP) p_kept <= 48'd0;
        else if (CEP) p_kept <= sum;
    end
    assign P = PREG == 0 ? sum : p_kept;
    assign PCOUT = P;
endmodule
