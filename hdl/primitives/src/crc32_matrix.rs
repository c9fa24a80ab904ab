//! CRC-32 steps as 32 x 32 matrices over GF(2). A matrix is its columns: where each register bit goes.

const POLYNOMIAL: u32 = 0xEDB8_8320;

/// The register after a zero bit.
pub(crate) fn step(register: u32) -> u32 {
    register >> 1 ^ if register & 1 == 1 { POLYNOMIAL } else { 0 }
}

/// The register before a zero bit: the polynomial's top bit is set, so the top bit shows whether the polynomial was added.
pub(crate) fn step_back(register: u32) -> u32 {
    let out = register >> 31;
    (register ^ if out == 1 { POLYNOMIAL } else { 0 }) << 1 | out
}

/// The columns of the matrix of `times` steps.
pub(crate) fn power(one: fn(u32) -> u32, times: usize) -> Vec<u32> {
    (0..32)
        .map(|i| (0..times).fold(1 << i, |register, _| one(register)))
        .collect()
}

/// Row `bit` of up to 32 columns, as a mask of the inputs it sums.
pub(crate) fn row(columns: &[u32], bit: usize) -> u32 {
    columns
        .iter()
        .enumerate()
        .fold(0, |mask, (i, column)| mask | (column >> bit & 1) << i)
}

/// Verilog for `name = matrix * vector`.
pub(crate) fn product(name: &str, vector: &str, columns: &[u32]) -> String {
    let rows: Vec<String> = (0..32)
        .rev()
        .map(|bit| format!("^({vector} & 32'h{:08x})", row(columns, bit)))
        .collect();
    format!("  wire [31:0] {name} = {{{}}};\n", rows.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_back_undoes_a_step() {
        for register in [1, 0x8000_0000, POLYNOMIAL, 0x1234_5678, u32::MAX] {
            assert_eq!(step_back(step(register)), register);
            assert_eq!(step(step_back(register)), register);
        }
    }
}
