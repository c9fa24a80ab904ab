//! Macros that stand as statements.
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Result, Token};

use crate::connection::{Fanout, Joins};
use crate::lowered::Lowered;
use crate::path::signal_name;
use crate::scope::Scope;

/// The ports that `clock_reset!` connects.
pub const CLOCK_AND_RESET: [&str; 2] = ["clock", "reset"];

/// Lowers the macros of kernels; assertions are simulation only.
pub fn lower_macro(mac: &Macro, scope: &Scope) -> Result<Lowered> {
    let name = mac
        .path
        .segments
        .last()
        .map(|segment| segment.ident.to_string())
        .unwrap_or_default();
    match name.as_str() {
        "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => Ok(Lowered::default()),
        "dff_setup" => lower_flip_flops(mac, scope),
        "clock" => fan_out(mac, Fanout::parser("clock"), scope),
        "clock_reset" => fan_out(mac, Fanout::parser_of_same_names(&CLOCK_AND_RESET), scope),
        "join" => {
            scope.check_may_drive(syn::spanned::Spanned::span(mac))?;
            mac.parse_body::<Joins>()?.lower(scope)
        }
        _ => Err(syn::Error::new_spanned(
            mac,
            "this macro does not translate to hardware; supported are dff_setup!, clock!, clock_reset!, join! and the assert! family (simulation only)",
        )),
    }
}

fn fan_out(mac: &Macro, parser: impl Parser<Output = Fanout>, scope: &Scope) -> Result<Lowered> {
    scope.check_may_drive(syn::spanned::Spanned::span(mac))?;
    mac.parse_body_with(parser)?.lower(scope)
}

/// `dff_setup!(self, clock, a, b)`: clocks of `self.a`, `self.b`, and `d = q` as their default.
fn lower_flip_flops(mac: &Macro, scope: &Scope) -> Result<Lowered> {
    scope.check_may_drive(syn::spanned::Spanned::span(mac))?;
    let arguments = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone())?;
    let mut arguments = arguments.into_iter();
    let (Some(block), Some(clock)) = (arguments.next(), arguments.next()) else {
        return Err(syn::Error::new_spanned(
            mac,
            "expected `(self, clock, flip_flop, ...)`",
        ));
    };
    let of_self = |member: &Expr, port: TokenStream| -> Result<Expr> {
        syn::parse2(quote!(#block.#member #port))
    };
    let clock = signal_name(&of_self(&clock, TokenStream::new())?, scope)?;
    let assign = |to: TokenStream, from: TokenStream| {
        let ast = quote!(::hdl_macros_support::core::ast);
        quote!(__statements.push(::hdl_macros_support::Target::signal(#to).assign(#ast::VerilogExpression::Signal(#from)));)
    };
    let connect =
        |signal: &Expr| quote!(::hdl_macros_support::core::logic::logic_connect_fn(&mut #signal););
    let mut clocks = Lowered::default();
    let mut holds = Lowered::default();
    for flip_flop in arguments {
        let clock_port = of_self(&flip_flop, quote!(.clock))?;
        clocks.then(Lowered {
            hdl: assign(signal_name(&clock_port, scope)?, clock.clone()),
            connect: connect(&clock_port),
        });
        let d = of_self(&flip_flop, quote!(.d))?;
        let q = of_self(&flip_flop, quote!(.q))?;
        holds.then(Lowered {
            hdl: assign(signal_name(&d, scope)?, signal_name(&q, scope)?),
            connect: connect(&d),
        });
    }
    clocks.then(holds);
    Ok(clocks)
}
