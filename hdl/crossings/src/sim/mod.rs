//! What simulation models have for the primitives of this crate and the hardware does not have: when an edge matters in gated models
//! ([`hdl_primitives::sim`]), and metastability.

/// Returns the lines that replace those of a synchroniser of `bits` levels through `stages` flip-flops where metastability is simulated.
///
/// A level that changed since the last edge may arrive before or after this edge, each bit by itself. Only the latest change is uncertain: the
/// constraints keep the delay of each bit below a period of the source (`docs/crossings.md`), so an earlier change has arrived. A bit that has
/// arrived stays. The generator is xorshift64, stirred by the number of changes, so that two synchronisers differ.
pub(crate) fn metastable_synchroniser(bits: usize, stages: usize) -> String {
    let top = bits - 1;
    let zero = format!("{bits}'d0");
    let mut text = format!(
        "reg [{top}:0] level_now = {zero};\n\
         reg [{top}:0] level_before = {zero};\n\
         reg [31:0] changes = 32'd0;\n\
         reg [31:0] changes_seen = 32'd0;\n\
         reg [63:0] dice = 64'd0;\n\
         // Plus arguments may come after time 0.\n\
         task seed; if (!$value$plusargs(\"metastability=%d\", dice) || dice == 64'd0) dice = 64'd88172645463325252; endtask\n\
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
         \x20 if (dice == 64'd0) seed;\n\
         \x20 dice = dice ^ {{32'd0, changes}};\n\
         \x20 dice = dice ^ (dice << 13);\n\
         \x20 dice = dice ^ (dice >> 7);\n\
         \x20 dice = dice ^ (dice << 17);\n\
         \x20 changes_seen <= changes;\n\
         \x20 stage_1 <= (changes != changes_seen) ? level ^ ((level_now ^ level_before) & dice[{top}:0]) : level;\n"
    );
    for stage in 2..=stages {
        text += &format!("  stage_{stage} <= stage_{};\n", stage - 1);
    }
    text + &format!("end\nassign synchronised = stage_{stages};\n")
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
