//! Method and function calls in expressions.
use proc_macro2::TokenStream;
use quote::{format_ident, quote, ToTokens};
use syn::{
    Expr, ExprCall, ExprMethodCall, GenericArgument, Ident, PathArguments, PathSegment, Result,
};

use crate::constant::{integer_name_width, is_constant};
use crate::expr::{cast, lower, lower_number};
use crate::path::signal_name;
use crate::scope::Scope;

/// Width of the integer a method makes of a vector; `None` for other methods.
pub fn integer_method_width(method: &Ident) -> Option<usize> {
    match method.to_string().as_str() {
        "index" => Some(64),
        name => name.strip_prefix("to_").and_then(integer_name_width),
    }
}

/// Width of the integer made by `u64::from(x)`, `LiteralType::from(x)`; `None` for other calls.
pub fn integer_conversion_width(call: &ExprCall) -> Option<usize> {
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    let mut segments = path.path.segments.iter().rev();
    (segments.next()?.ident == "from").then_some(())?;
    integer_name_width(&segments.next()?.ident.to_string())
}

/// Lowers a method call on a hardware value.
pub fn lower_method(
    call: &ExprMethodCall,
    like: Option<&TokenStream>,
    scope: &Scope,
) -> Result<TokenStream> {
    let ast = quote!(::hdl_macros_support::core::ast);
    let name = call.method.to_string();
    let argument = |index: usize| {
        call.args
            .get(index)
            .ok_or_else(|| syn::Error::new_spanned(call, format!("`{name}` lacks an argument")))
    };
    if let Some(width) = integer_method_width(&call.method) {
        return Ok(cast(lower(&call.receiver, None, scope)?, quote!(#width)));
    }
    match name.as_str() {
        "val" => {
            let signal = signal_name(&call.receiver, scope)?;
            Ok(quote!(#ast::VerilogExpression::Signal(#signal)))
        }
        "into" | "clone" => lower(&call.receiver, None, scope),
        "to_bits" => {
            let value = lower(&call.receiver, None, scope)?;
            let width = call.turbofish.as_ref().and_then(|t| t.args.first());
            resize(value, width, like, call)
        }
        "get_bits" => {
            let receiver = lower(&call.receiver, None, scope)?;
            let width = call.turbofish.as_ref().and_then(|t| t.args.first());
            let width = match (width.and_then(width_argument), like) {
                (Some(width), _) => width,
                (None, Some(like)) => quote!(::hdl_macros_support::width(|| #like)),
                (None, None) => {
                    return Err(syn::Error::new_spanned(call, "give get_bits its width: `x.get_bits::<8>(offset)`"))
                }
            };
            let offset = lower_number(argument(0)?, scope)?;
            Ok(quote!(#ast::VerilogExpression::Slice(
                ::std::boxed::Box::new(#receiver), #width, ::std::boxed::Box::new(#offset)
            )))
        }
        "get_bit" => {
            let receiver = lower(&call.receiver, None, scope)?;
            let index = lower_number(argument(0)?, scope)?;
            Ok(quote!(#ast::VerilogExpression::Index(::std::boxed::Box::new(#receiver), ::std::boxed::Box::new(#index))))
        }
        "replace_bit" => {
            let receiver = lower(&call.receiver, like, scope)?;
            let index = lower_number(argument(0)?, scope)?;
            let value = lower(argument(1)?, Some(&quote!(false)), scope)?;
            Ok(quote!(#ast::VerilogExpression::IndexReplace(
                ::std::boxed::Box::new(#receiver), ::std::boxed::Box::new(#index), ::std::boxed::Box::new(#value)
            )))
        }
        "any" | "all" | "xor" => {
            let op = format_ident!("{}", match name.as_str() { "any" => "Any", "all" => "All", _ => "Xor" });
            let receiver = lower(&call.receiver, None, scope)?;
            Ok(quote!(#ast::VerilogExpression::Unary(#ast::VerilogOpUnary::#op, ::std::boxed::Box::new(#receiver))))
        }
        _ => Err(syn::Error::new_spanned(
            &call.method,
            format!(
                "`{name}` does not translate to hardware; supported methods are val, get_bit, get_bits, replace_bit, any, all, xor, \
                 index, to_u8 .. to_u128, into, to_bits, clone (and len, a constant); helper functions are free functions marked #[hdl_fn]"
            ),
        )),
    }
}

/// A function call with a hardware argument: a conversion, or a helper marked `#[hdl_fn]`.
pub fn lower_call(
    call: &ExprCall,
    like: Option<&TokenStream>,
    scope: &Scope,
) -> Result<TokenStream> {
    let Expr::Path(path) = &*call.func else {
        return Err(syn::Error::new_spanned(
            call,
            "only named functions can be called in a hardware kernel",
        ));
    };
    let segments: Vec<_> = path.path.segments.iter().collect();
    let (Some(last), owner) = (
        segments.last(),
        segments.len().checked_sub(2).map(|i| segments[i]),
    ) else {
        return Err(syn::Error::new_spanned(
            call,
            "only named functions can be called in a hardware kernel",
        ));
    };
    let only_argument = || match call.args.first() {
        Some(argument) if call.args.len() == 1 => Ok(argument),
        _ => Err(syn::Error::new_spanned(
            call,
            "a conversion takes one argument",
        )),
    };
    let name = last.ident.to_string();
    match (owner.map(|o| o.ident.to_string()).as_deref(), name.as_str()) {
        (_, "bit_cast" | "bits" | "unsigned_cast") => {
            let value = lower(only_argument()?, None, scope)?;
            resize(value, generic_argument(&last.arguments), like, call)
        }
        (Some("Bits"), "from" | "into") => {
            let value = lower(only_argument()?, None, scope)?;
            let width = owner.and_then(|o| generic_argument(&o.arguments));
            resize(value, width, like, call)
        }
        (Some(_), "from") => {
            let value = lower(only_argument()?, None, scope)?;
            match integer_conversion_width(call) {
                Some(width) => Ok(cast(value, quote!(#width))),
                None if owner.is_some_and(|o| o.ident == "bool" || o.ident == "Bit") => Ok(value),
                None => Err(unsupported_call(call)),
            }
        }
        (Some(_), "from_bits") => lower_from_bits(path, only_argument()?, scope),
        (Some(owner), _) if owner.starts_with(char::is_uppercase) => Err(unsupported_call(call)),
        _ if name.starts_with("signed") || name.starts_with(char::is_uppercase) => {
            Err(unsupported_call(call))
        }
        _ => lower_helper_call(path, call, scope),
    }
}

/// Lowers `T::from_bits(x)`, which takes as many low bits of `x` as `T` has. The compilation of `update` checks that `x` is wide enough.
fn lower_from_bits(path: &syn::ExprPath, bits: &Expr, scope: &Scope) -> Result<TokenStream> {
    let value = lower(bits, None, scope)?;
    let like = quote!(#path(#bits));
    let ast = quote!(::hdl_macros_support::core::ast);
    Ok(quote!(#ast::VerilogExpression::Slice(
        ::std::boxed::Box::new(#value),
        ::hdl_macros_support::width(|| #like),
        ::std::boxed::Box::new(#ast::VerilogExpression::Literal(0_usize.into()))
    )))
}

fn unsupported_call(call: &ExprCall) -> syn::Error {
    syn::Error::new_spanned(
        call,
        "this call does not translate to hardware; supported are bits, bit_cast, unsigned_cast, Bits::<N>::from, bool::from, u64::from, \
         T::from_bits, and free functions marked #[hdl_fn]",
    )
}

/// A call of an `#[hdl_fn]`: the function `hdl` of the module of its name expands the body in place.
fn lower_helper_call(path: &syn::ExprPath, call: &ExprCall, scope: &Scope) -> Result<TokenStream> {
    let mut expansion = path.clone();
    if let Some(last) = expansion.path.segments.last_mut() {
        let arguments = std::mem::take(&mut last.arguments);
        let ident = Ident::new("hdl", last.ident.span());
        expansion
            .path
            .segments
            .push(PathSegment { ident, arguments });
    }
    let mut lets = Vec::new();
    let mut names = Vec::new();
    for (position, argument) in call.args.iter().enumerate() {
        let name = format_ident!("__argument_{}", position);
        lets.push(if is_constant(argument, scope) {
            quote!(let #name = ::hdl_macros_support::Argument::constant(#argument);)
        } else {
            let expression = lower(argument, None, scope)?;
            quote!(let #name = ::hdl_macros_support::Argument::hardware(
                ::hdl_macros_support::shape(|| #argument), #expression
            );)
        });
        names.push(name);
    }
    Ok(quote!({
        #(#lets)*
        #expansion(__elaboration, __statements, #(#names),*)
    }))
}

fn generic_argument(arguments: &PathArguments) -> Option<&GenericArgument> {
    match arguments {
        PathArguments::AngleBracketed(angle) => angle.args.first(),
        _ => None,
    }
}

/// A width given as a generic argument; `None` for `_`.
fn width_argument(argument: &GenericArgument) -> Option<TokenStream> {
    match argument {
        GenericArgument::Type(syn::Type::Infer(_)) => None,
        other => {
            let width = other.to_token_stream();
            Some(quote!((#width)))
        }
    }
}

/// Casts to the width that is given as a generic argument, or else to the width of the destination.
fn resize(
    value: TokenStream,
    width: Option<&GenericArgument>,
    like: Option<&TokenStream>,
    call: &impl ToTokens,
) -> Result<TokenStream> {
    match (width.and_then(width_argument), like) {
        (Some(width), _) => Ok(cast(value, width)),
        (None, Some(like)) => Ok(cast(value, quote!(::hdl_macros_support::width(|| #like)))),
        (None, None) => Err(syn::Error::new_spanned(
            call,
            "the width of this conversion is not known here: write it, as in `bit_cast::<TO, FROM>(x)` or `bits::<N>(x)`",
        )),
    }
}
