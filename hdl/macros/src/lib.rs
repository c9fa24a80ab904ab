//! `#[hdl]`: write a Rust-HDL kernel as ordinary Rust, with `let`, helper functions and unrolled loops.
//!
//! The attribute stands on `fn update(&mut self)` in an `impl Logic for ...`, in the place of rust-hdl's `#[hdl_gen]`. `update` stays the
//! Rust it is: that is the native simulation. Added are `connect` (which signals the block drives) and `hdl`, which builds rust-hdl's AST
//! by *running* at elaboration: loops run, constant conditions are decided, array indices are plain numbers.
//!
//! ```ignore
//! #[hdl_fn]
//! fn saturating_add<const N: usize>(a: Bits<N>, b: Bits<N>) -> Bits<N> {
//!     let sum = a + b;
//!     if sum < a { Bits::<N>::mask() } else { sum }
//! }
//!
//! impl Logic for Accumulator {
//!     #[hdl]
//!     fn update(&mut self) {
//!         dff_setup!(self, clock, total);
//!         let step = if self.double.val() { self.amount.val() << 1 } else { self.amount.val() };
//!         if self.enable.val() {
//!             self.total.d.next = saturating_add(self.total.q.val(), step);
//!         }
//!         for i in 0..LANES {
//!             self.lane[i].data.next = self.total.q.val();
//!         }
//!         self.sum.next = self.total.q.val();
//!     }
//! }
//! ```
//! A crate that uses the macros depends on `hdl-macros-support` (what the generated code calls) and has
//! `rust_hdl_core::prelude::*` in scope.
//!
//! # The accepted subset
//! **Statements**
//! * `let x = e;`, `let x: T = e;` become a wire `x` (`x_1`, ... if the module already uses the name). `let mut x` may be reassigned, whole
//!   or by field, at its own level and inside unrolled loops, each time making a new version; not inside a hardware `if`/`match`
//!   below its `let`.
//! * `self.a.b[i].next = e;`, `self.a.next.field.sub = e;`
//! * `if`/`else`, `match` (enum values, integers, constants, `A | B`, `_`), as statements and as the right side of `let` and `=`,
//!   where the branches are `let`s and a last expression. On constants they are decided at elaboration.
//! * `for i in a..b` over any constant range or iterator: unrolled.
//! * Struct literals on the right side of `let` and `=`, with `..base`.
//! * `dff_setup!(self, clock, a, b)`, `clock!(self, clock, a, b[..])`, `clock_reset!(self, a, b[..])`, where `b[..]` is every block of an array;
//!   `join!(self, a.x => b.y)`; the `assert!` family is for simulation only.
//!
//! **Expressions**: `self.a.val()`, locals, fields of `LogicStruct`s, `+ - * & | ^ << >> == != < <= > >= && || !`, unary `-`, `get_bit(i)`,
//! `get_bits::<N>(offset)`, `replace_bit(i, b)`, `any()`, `all()`, `xor()`, `index()`, `to_u8()` ..., `into()`, `to_bits::<N>()`,
//! `bits::<N>(e)`, `bit_cast::<M, N>(e)`, `Bits::<N>::from(e)`, `unsigned_cast`, `T::from_bits(e)` of a `T` that derives [`macro@FromBits`], calls of functions marked `#[hdl_fn]`.
//!
//! **Constants** are whatever mentions neither a signal nor a hardware local: any Rust. Fields of `self` whose name starts with `_`
//! (which rust-hdl's derives skip) are constants too, and so is `.len()`.
//!
//! Anything else is a compile error at its place that says what to write instead.
#![forbid(unsafe_code)]

mod assign;
mod branch;
mod bundle;
mod call;
mod connection;
mod constant;
mod expr;
mod from_bits;
mod invocation;
mod kernel;
mod lowered;
mod path;
#[cfg(test)]
mod rejection_tests;
mod scope;
mod source;
mod statement;

use proc_macro::TokenStream;
use syn::parse::Parser;
use syn::{parse_macro_input, DeriveInput, ItemFn, ItemStruct};

/// Adds `connect` and `hdl` to a kernel `fn update(&mut self)`; see the crate documentation for the accepted subset.
#[proc_macro_attribute]
pub fn hdl(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    kernel::expand_update(&function)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a free function of hardware values callable from kernels: it keeps the function and adds a module of the same name
/// for the expansion of its body in place, which an import of the function brings along. Parameters of plain integer types (`usize`, ...) must be constants at the call.
#[proc_macro_attribute]
pub fn hdl_fn(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    kernel::expand_helper(&function)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Declares a bundle, which is a group of ports that connects as one. The struct is the driving end, `...Src`. The macro adds the receiving end,
/// `...Snk`, in which every signal has the other direction, and the code that [`join!`] calls. A block then has fields of these types, or arrays of
/// them, as ports.
///
/// The name of a Verilog port consists of those of the bundle and the signal: `rx: MacRxSnk<512>` has the ports `rx_valid` and `rx_data`, and element
/// 0 of `rx: [MacRxSnk<512>; 2]` has `rx0_valid`. A signal `record` has the name of the bundle alone, and a bundle `in_` is `in`.
///
/// Arguments are the rules that the driving end keeps and that Verilated tests check:
/// * `keep`: once `valid`, an offer stays, and its payload does not change, until `ready`;
/// * `frames`: every beat but the `last` is full, and `bytes` of it is neither zero nor more than `data` has.
#[proc_macro_attribute]
pub fn bundle(rules: TokenStream, item: TokenStream) -> TokenStream {
    let bundle = parse_macro_input!(item as ItemStruct);
    bundle::expand(rules.into(), &bundle)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// `join!(self, a.x => b.y, ...)` connects signals and bundles, from the driving to the receiving end. Paths start below `self`. The ends are outputs and
/// inputs of sub-blocks, or of the block itself: `rx => port.mac` passes on an input of the block, `port.out => tx` an output of a sub-block.
#[proc_macro]
pub fn join(arguments: TokenStream) -> TokenStream {
    parse_macro_input!(arguments as connection::Joins)
        .native()
        .into()
}

/// `clock!(self, clock, a, b[..])`: the signal `clock` of the block for the port `clock` of its sub-blocks, and of every block of the array `b`.
#[proc_macro]
pub fn clock(arguments: TokenStream) -> TokenStream {
    fan_out(connection::Fanout::parser("clock"), arguments)
}

/// `clock_reset!(self, a, b[..])`: the signals `clock` and `reset` of the block for the ports `clock` and `reset` of its sub-blocks, and of every block of
/// the array `b`.
#[proc_macro]
pub fn clock_reset(arguments: TokenStream) -> TokenStream {
    let ports = &invocation::CLOCK_AND_RESET;
    fan_out(connection::Fanout::parser_of_same_names(ports), arguments)
}

fn fan_out(
    parser: impl Parser<Output = connection::Fanout>,
    arguments: TokenStream,
) -> TokenStream {
    let parsed = parser.parse(arguments);
    parsed
        .map_or_else(syn::Error::into_compile_error, |fanout| fanout.native())
        .into()
}

/// Implements `hdl_macros_support::FromBits` for a type that derives `LogicStruct` or `LogicState`: `T::from_bits(x)` is the value in the low
/// bits of `x`, in kernels and everywhere else.
#[proc_macro_derive(FromBits)]
pub fn from_bits(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as DeriveInput);
    from_bits::expand(&input)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
