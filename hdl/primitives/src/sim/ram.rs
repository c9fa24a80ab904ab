//! Whether a clock edge can change a memory.

/// The gate condition of a memory of 2^`address_bits` words. Its data comes `latency` cycles (0 to 2) after the address, and `write` is the expression
/// of its write enable. An edge changes nothing if nothing is written and the data of the present address has already arrived.
pub fn gated_read(latency: usize, address_bits: usize, write: &str) -> String {
    if latency == 0 {
        return format!("assign gate_active = {write};\n");
    }
    // The second cycle of latency moves what the first one moved in the cycle before.
    let (declared, arrives, any) = match latency {
        1 => ("", "", "gate_moved"),
        _ => (
            " reg gate_moved_1 = 0;",
            " gate_moved_1 <= gate_moved;",
            "gate_moved || gate_moved_1",
        ),
    };
    format!(
        "reg [{top}:0] gate_address = 0; reg gate_written = 0;{declared}\n\
         wire gate_moved = {write} || gate_written || read_address != gate_address;\n\
         always @(edge clock) begin gate_address <= read_address; gate_written <= {write};{arrives} end\n\
         assign gate_active = {any};\n",
        top = address_bits - 1,
    )
}
