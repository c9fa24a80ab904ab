//! What simulation models have for the primitives of this crate and the hardware does not have: when an edge matters in gated models
//! ([`hdl_primitives::sim`]), and metastability; and what proofs have.

pub(crate) mod proof;

/// Returns the lines that replace those of a synchroniser of `bits` levels through `stages` flip-flops where metastability is simulated.
///
/// A level that changed since the last edge may arrive before or after this edge, each bit by itself. Only the latest change is uncertain: the
/// constraints keep the delay of each bit below a period of the source (`docs/crossings.md`), so an earlier change has arrived. A bit that has
/// arrived stays. The generator is xorshift64, stirred by the number of changes, so that two synchronisers differ. It is seeded at the first edge, because
/// plus arguments may come after time 0.
pub(crate) fn metastable_synchroniser(bits: usize, stages: usize) -> String {
    let top = bits - 1;
    let zero = format!("{bits}'d0");
    let mut text = format!(
        "reg [{top}:0] level_now = {zero};\n\
         reg [{top}:0] level_before = {zero};\n\
         reg [31:0] changes = 32'd0;\n\
         reg [31:0] changes_seen = 32'd0;\n\
         reg [63:0] dice = 64'd0;\n\
         function [63:0] rolled(input [63:0] last, input [31:0] stir);\n\
         \x20 begin\n\
         \x20   rolled = last;\n\
         \x20   if (last == 64'd0) if (!$value$plusargs(\"metastability=%d\", rolled)) rolled = 64'd88172645463325252;\n\
         \x20   rolled = rolled ^ {{32'd0, stir}};\n\
         \x20   rolled = rolled ^ (rolled << 13);\n\
         \x20   rolled = rolled ^ (rolled >> 7);\n\
         \x20   rolled = rolled ^ (rolled << 17);\n\
         \x20 end\n\
         endfunction\n\
         always @(level) begin\n\
         \x20 level_before <= level_now;\n\
         \x20 level_now <= level;\n\
         \x20 changes <= changes + 32'd1;\n\
         end\n"
    );
    for stage in 1..=stages {
        text += &format!("reg [{top}:0] stage_{stage} = {zero};\n");
    }
    text += &format!(
        "always @(posedge clock) begin\n\
         \x20 dice <= rolled(dice, changes);\n\
         \x20 changes_seen <= changes;\n\
         \x20 stage_1 <= (changes != changes_seen) ? level ^ ((level_now ^ level_before) & dice[{top}:0]) : level;\n"
    );
    for stage in 2..=stages {
        text += &format!("  stage_{stage} <= stage_{};\n", stage - 1);
    }
    text + &format!("end\nassign synchronised = stage_{stages};\n")
}

/// Returns the lines of a memory of 2^`address_bits` words of `bits` that stops the simulation when a word is read at the first edge of the read clock
/// after an edge of the write clock that wrote it. In the hardware, the two edges may be at the same time.
pub(crate) fn checked_ram(bits: usize, address_bits: usize) -> String {
    let (top, words) = (bits - 1, 1_usize << address_bits);
    format!(
        "reg [{top}:0] memory [0:{last}];\n\
         reg [{last}:0] wrote = {words}'d0;\n\
         reg [{last}:0] wrote_seen = {words}'d0;\n\
         initial read_data = {bits}'d0;\n\
         always @(posedge write_clock) if (write_enable) begin\n\
         \x20 memory[write_address] <= write_data;\n\
         \x20 wrote[write_address] <= ~wrote[write_address];\n\
         end\n\
         always @(posedge read_clock) begin\n\
         \x20 wrote_seen <= wrote;\n\
         \x20 if (read_enable) begin\n\
         \x20   read_data <= memory[read_address];\n\
         \x20   if (wrote[read_address] != wrote_seen[read_address]) $fatal(1, \"%m: a word is read while it is written\");\n\
         \x20 end\n\
         end\n",
        last = words - 1,
    )
}

/// Returns the gate condition of a synchroniser whose registers have these names.
pub(crate) fn synchroniser_moves(registers: &[String]) -> String {
    let mut before = "level".to_owned();
    let mut moves = vec![];
    for register in registers {
        moves.push(format!("{register} != {before}"));
        before.clone_from(register);
    }
    format!("assign gate_active = {};\n", moves.join(" || "))
}

/// Returns the gate condition of a register.
pub(crate) fn register_moves() -> String {
    "assign gate_active = source_crossing != d;\n".into()
}
