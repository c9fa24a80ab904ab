//! Signal paths: `self.regs[i].q` is the Verilog name `regs$<i>$q`, as rust-hdl's own visitors name it.
use proc_macro2::TokenStream;
use quote::{quote, ToTokens};
use syn::{Expr, Member, Result};

use crate::constant::is_constant;
use crate::scope::Scope;

/// The expression (a `String`) that computes the flattened name of `self.a.b[i].c`.
pub fn signal_name(path: &Expr, scope: &Scope) -> Result<TokenStream> {
    let mut format = String::new();
    let mut indices = Vec::new();
    collect(path, scope, &mut format, &mut indices)?;
    if format.is_empty() {
        return Err(syn::Error::new_spanned(
            path,
            "name a signal: `self.<signal>`",
        ));
    }
    Ok(if indices.is_empty() {
        quote!(::std::string::String::from(#format))
    } else {
        quote!(::std::format!(#format, #((#indices) as usize),*))
    })
}

fn collect(
    expr: &Expr,
    scope: &Scope,
    format: &mut String,
    indices: &mut Vec<TokenStream>,
) -> Result<()> {
    match expr {
        Expr::Path(p) if p.path.is_ident("self") => Ok(()),
        Expr::Paren(p) => collect(&p.expr, scope, format, indices),
        Expr::Field(field) => {
            collect(&field.base, scope, format, indices)?;
            if !format.is_empty() {
                format.push('$');
            }
            match &field.member {
                Member::Named(name) => format.push_str(&name.to_string()),
                Member::Unnamed(index) => format.push_str(&index.index.to_string()),
            }
            Ok(())
        }
        Expr::Index(index) => {
            collect(&index.expr, scope, format, indices)?;
            if !is_constant(&index.index, scope) {
                return Err(syn::Error::new_spanned(
                    &index.index,
                    "the index of an array of signals or blocks must be known at elaboration (a loop variable or a constant); \
                     to select at run time, loop over the array and compare",
                ));
            }
            format.push_str("${}");
            indices.push(index.index.to_token_stream());
            Ok(())
        }
        other => Err(syn::Error::new_spanned(
            other,
            "not a signal path: expected `self.<signal>`, `self.<child>.<port>` or `self.<array>[i].<port>`",
        )),
    }
}

/// Splits the left side of an assignment: `self.a.b.next.f.g` is the signal `self.a.b` and the fields `f`, `g`.
/// `None` if there is no `.next` in it.
pub fn split_next(left: &Expr) -> Option<(&Expr, Vec<&syn::Ident>)> {
    let Expr::Field(field) = left else {
        return None;
    };
    let Member::Named(name) = &field.member else {
        return None;
    };
    if name == "next" {
        return Some((&field.base, Vec::new()));
    }
    let (signal, mut fields) = split_next(&field.base)?;
    fields.push(name);
    Some((signal, fields))
}

/// Splits `x.f.g` into the local `x` and its fields; `None` if the root is no plain name.
pub fn split_local(left: &Expr) -> Option<(&syn::Ident, Vec<&syn::Ident>)> {
    match left {
        Expr::Path(p) => Some((p.path.get_ident()?, Vec::new())),
        Expr::Field(field) => {
            let Member::Named(name) = &field.member else {
                return None;
            };
            let (local, mut fields) = split_local(&field.base)?;
            fields.push(name);
            Some((local, fields))
        }
        _ => None,
    }
}
