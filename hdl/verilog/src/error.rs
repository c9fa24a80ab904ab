//! Why a design could not be translated.

use thiserror::Error;

/// A construct that has no exact equivalent in Verilog-2005. Every variant names the module, by its Rust type or its instance path.
#[derive(Debug, Error)]
pub enum EmitError {
    /// Two operands have different widths.
    #[error(
        "{module}: {what}: {left} bits meet {right} bits; make the widths equal with bit_cast"
    )]
    Width {
        module: String,
        what: String,
        left: usize,
        right: usize,
    },
    /// The width of a literal cannot be determined from its context.
    #[error(
        "{module}: the width of literal {literal} is not known here; write bits::<N>({literal})"
    )]
    UnsizedLiteral { module: String, literal: String },
    /// A literal does not fit the signal that it is combined with.
    #[error("{module}: literal {literal} does not fit in {width} bits")]
    LiteralTooWide {
        module: String,
        literal: String,
        width: usize,
    },
    /// The name does not belong to a port, signal, port of a sub-block, local or enumeration value.
    #[error("{module}: no signal named {name}")]
    UnknownSignal { module: String, name: String },
    /// A signal keeps its old value on some path, so that hardware would need a latch.
    #[error("{module}: {signal} is not assigned on every path (a latch); assign a default first")]
    Latch { module: String, signal: String },
    /// Nothing drives an output, an input of a sub-block, or a local that is read.
    #[error("{module}: {signal} is never assigned")]
    Undriven { module: String, signal: String },
    /// The block assigns a signal that it does not drive, such as one of its inputs.
    #[error("{module}: {signal} is assigned but it is {what}")]
    NotAssignable {
        module: String,
        signal: String,
        what: &'static str,
    },
    /// A part select reaches beyond the end of its vector.
    #[error("{module}: bits {high}:{low} selected from {signal}, which has {width}")]
    OutOfRange {
        module: String,
        signal: String,
        high: usize,
        low: usize,
        width: usize,
    },
    /// Two ports would have the same name in Verilog.
    #[error("{module}: {first} and {second} would both be the port {port}; rename one of them")]
    SamePort {
        module: String,
        port: String,
        first: String,
        second: String,
    },
    /// The emitter does not support a construct.
    #[error("{module}: {what} is not supported by this emitter")]
    Unsupported { module: String, what: String },
}
