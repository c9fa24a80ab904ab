//! What proofs have in the place of the primitives' own lines: the solver chooses what the hardware does not define (`docs/formal.md`, "Two clocks").
//!
//! A step of a proof is a moment in which any of the clocks have an edge. The net of a clock is high in the steps in which it has one. `step` has an edge in
//! every step, and `anyseq` makes a net free.

/// The clock of the steps.
const STEP: &str = "  (* gclk *) reg step;\n";

/// Returns the lines of a register of `bits` whose output takes any time to the other clock, each bit by itself, up to the next edge of `clock`. That is what
/// the constraints ask for (`docs/crossings.md`).
///
/// A flip-flop that samples a bit while it changes settles at either value. These are the cases that the bit arrives just behind or before the edge. An edge of
/// the other clock in the same step as the next edge of `clock` may also find the old value. Nothing on `clock` may use `q`, because it sees the delay.
pub(crate) fn late_register(bits: usize) -> String {
    let top = bits - 1;
    format!(
        "{STEP}\
         \x20 (* anyseq *) reg [{top}:0] late;\n\
         \x20 reg [{top}:0] source_crossing = {bits}'d0;\n\
         \x20 reg [{top}:0] old = {bits}'d0;\n\
         \x20 always @(posedge clock) source_crossing <= d;\n\
         \x20 always @(posedge step) old <= clock ? source_crossing : q;\n\
         \x20 assign q = (old & late) | (source_crossing & ~late);\n"
    )
}

/// Returns the lines of a memory of 2^`address_bits` words of `bits`, of which a word is undefined at the first edge of the read clock at or after an edge of
/// the write clock that wrote it.
pub(crate) fn undefined_ram(bits: usize, address_bits: usize) -> String {
    let (top, words) = (bits - 1, 1_usize << address_bits);
    format!(
        "{STEP}\
         \x20 (* anyseq *) reg [{top}:0] undefined;\n\
         \x20 reg [{top}:0] memory [0:{last}];\n\
         \x20 reg [{last}:0] fresh = {words}'d0;\n\
         \x20 wire [{last}:0] here = {words}'d1 << write_address;\n\
         \x20 wire [{last}:0] unsettled = (write_clock & write_enable) ? (fresh | here) : fresh;\n\
         \x20 initial read_data = {bits}'d0;\n\
         \x20 always @(posedge step) fresh <= read_clock ? {words}'d0 : unsettled;\n\
         \x20 always @(posedge write_clock) if (write_enable) memory[write_address] <= write_data;\n\
         \x20 always @(posedge read_clock) if (read_enable) read_data <= unsettled[read_address] ? undefined : memory[read_address];\n",
        last = words - 1,
    )
}
