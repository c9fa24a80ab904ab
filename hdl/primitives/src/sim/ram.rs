//! The condition under which a clock edge changes a memory.

/// Returns the gate condition of a memory of 2^`address_bits` words. Read data is valid `latency` cycles (0 to 2) after the address, and `write` is
/// the expression of the write enable. An edge changes nothing if there is no write and the data of the present address has already been read.
pub fn gated_read(latency: usize, address_bits: usize, write: &str) -> String {
    if latency == 0 {
        return format!("assign gate_active = {write};\n");
    }
    // With a latency of 2, the output register follows one cycle after the first register.
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
