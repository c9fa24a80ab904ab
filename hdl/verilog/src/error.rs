//! Why a design could not be translated.

use thiserror::Error;

/// A construct that has no faithful Verilog-2005 translation. Every variant names the module (by Rust type or instance path).
#[derive(Debug, Error)]
pub enum EmitError {
    /// Operands of different widths meet.
    #[error(
        "{module}: {what}: {left} bits meet {right} bits; make the widths equal with bit_cast"
    )]
    Width {
        module: String,
        what: String,
        left: usize,
        right: usize,
    },
    /// A literal is in a place that does not determine its width.
    #[error(
        "{module}: the width of literal {literal} is not known here; write bits::<N>({literal})"
    )]
    UnsizedLiteral { module: String, literal: String },
    /// A literal needs more bits than the signal it meets has.
    #[error("{module}: literal {literal} does not fit in {width} bits")]
    LiteralTooWide {
        module: String,
        literal: String,
        width: usize,
    },
    /// A name is neither a port, a signal, a port of a sub-block, a local nor an enumeration value.
    #[error("{module}: no signal named {name}")]
    UnknownSignal { module: String, name: String },
    /// A signal keeps its old value on some path: hardware would need a latch.
    #[error("{module}: {signal} is not assigned on every path (a latch); assign a default first")]
    Latch { module: String, signal: String },
    /// Nothing drives an input of a sub-block, an output or a local that is read.
    #[error("{module}: {signal} is never assigned")]
    Undriven { module: String, signal: String },
    /// A signal that is not ours to drive is assigned.
    #[error("{module}: {signal} is assigned but it is {what}")]
    NotAssignable {
        module: String,
        signal: String,
        what: &'static str,
    },
    /// A part select reaches past the end of what it selects from.
    #[error("{module}: bits {high}:{low} selected from {signal}, which has {width}")]
    OutOfRange {
        module: String,
        signal: String,
        high: usize,
        low: usize,
        width: usize,
    },
    /// Two ports would have the same name.
    #[error("{module}: {first} and {second} would both be the port {port}; rename one of them")]
    SamePort {
        module: String,
        port: String,
        first: String,
        second: String,
    },
    /// A construct outside the supported subset.
    #[error("{module}: {what} is not supported by this emitter")]
    Unsupported { module: String, what: String },
}
