//! The condition under which a clock edge changes a [`ByteRotator`](crate::ByteRotator).

use super::Gated;

pub(crate) fn byte_rotator() -> Gated {
    let active = "in_valid || valid_1 || out_valid";
    Gated::Beside(format!("assign gate_active = {active};\n"))
}
