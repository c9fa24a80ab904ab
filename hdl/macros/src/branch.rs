//! `if` and `match`, as statements and as values: hardware when the condition is, elaborated away when it is constant.
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ExprIf, ExprMatch, Pat, Result};

use crate::constant::{self, is_constant};
use crate::expr::{lower, lower_number};
use crate::lowered::Lowered;
use crate::scope::{Binding, Scope};

/// How the bodies of a branch are lowered: as statements, or as the value of a target.
pub type Body<'a> = dyn Fn(&Expr, &Scope) -> Result<Lowered> + 'a;

/// Lowers `if`; `body` lowers each branch. A missing `else` is an error when `is_value`.
pub fn lower_if(branch: &ExprIf, scope: &Scope, is_value: bool, body: &Body) -> Result<Lowered> {
    if let Expr::Let(condition) = &*branch.cond {
        return Err(syn::Error::new_spanned(
            condition,
            "`if let` is not supported; use `match` on an enum or compare",
        ));
    }
    if is_value && branch.else_branch.is_none() {
        return Err(syn::Error::new_spanned(
            branch,
            "an `if` used as a value needs an `else`",
        ));
    }
    let constant = is_constant(&branch.cond, scope);
    let inner = if constant {
        scope.clone()
    } else {
        scope.deeper()
    };
    let then_block = Expr::Block(syn::ExprBlock {
        attrs: Vec::new(),
        label: None,
        block: branch.then_branch.clone(),
    });
    let then = body(&then_block, &inner)?;
    let otherwise = match &branch.else_branch {
        Some((_, expr)) => body(expr, &inner)?,
        None => Lowered::default(),
    };
    let (then_connect, else_connect) = (&then.connect, &otherwise.connect);
    if constant {
        let condition = &branch.cond;
        let (then_hdl, else_hdl) = (&then.hdl, &otherwise.hdl);
        return Ok(Lowered {
            hdl: quote!(if #condition { #then_hdl } else { #else_hdl }),
            connect: quote!(if #condition { #then_connect } else { #else_connect }),
        });
    }
    let test = lower(&branch.cond, None, scope)?;
    let (then_block, else_block) = (then.hdl_block(), otherwise.hdl_block());
    Ok(Lowered {
        hdl: quote!({
            let __test = #test;
            let __then = #then_block;
            let __otherwise = #else_block;
            __statements.push(::hdl_macros_support::conditional(__test, __then, __otherwise));
        }),
        connect: quote!({ #then_connect } { #else_connect }),
    })
}

/// Lowers `match`; `body` lowers the body of each arm.
pub fn lower_match(select: &ExprMatch, scope: &Scope, body: &Body) -> Result<Lowered> {
    if is_constant(&select.expr, scope) {
        return lower_constant_match(select, scope, body);
    }
    let scrutinee = &select.expr;
    let test = lower_number(scrutinee, scope)?;
    let mut arms = TokenStream::new();
    let mut connect = TokenStream::new();
    for arm in &select.arms {
        if let Some((_, guard)) = &arm.guard {
            return Err(syn::Error::new_spanned(
                guard,
                "match guards do not translate; use `if` inside the arm",
            ));
        }
        let labels = labels(&arm.pat)?;
        let lowered = body(&arm.body, &scope.deeper())?;
        let block = lowered.hdl_block();
        arms.extend(quote!({
            let labels = ::std::vec![#(#labels),*];
            let block = #block;
            __arms.push(::hdl_macros_support::SelectArm { labels, block });
        }));
        let arm_connect = lowered.connect;
        connect.extend(quote!({ #arm_connect }));
    }
    Ok(Lowered {
        hdl: quote!({
            let __test = #test;
            let mut __arms = ::std::vec::Vec::new();
            #arms
            __statements.push(::hdl_macros_support::select(__test, __arms));
        }),
        connect,
    })
}

fn lower_constant_match(select: &ExprMatch, scope: &Scope, body: &Body) -> Result<Lowered> {
    let scrutinee = &select.expr;
    let mut hdl = TokenStream::new();
    let mut connect = TokenStream::new();
    for arm in &select.arms {
        let pattern = &arm.pat;
        let guard = arm.guard.as_ref().map(|(_, guard)| quote!(if #guard));
        let mut inner = scope.clone();
        if let Pat::Ident(ident) = pattern {
            inner.bind(&ident.ident, Binding::Constant);
        }
        let lowered = body(&arm.body, &inner)?;
        let (arm_hdl, arm_connect) = (lowered.hdl, lowered.connect);
        hdl.extend(quote!(#pattern #guard => { #arm_hdl }));
        connect.extend(quote!(#pattern #guard => { #arm_connect }));
    }
    Ok(Lowered {
        hdl: quote!(match #scrutinee { #hdl }),
        connect: quote!(match #scrutinee { #connect }),
    })
}

/// The `case` labels (expressions of type `String`) of a pattern.
fn labels(pattern: &Pat) -> Result<Vec<TokenStream>> {
    let of_constant = |expr: Expr| vec![constant::label(&expr)];
    match pattern {
        Pat::Wild(_) => Ok(vec![quote!(::std::string::String::from("default"))]),
        Pat::Path(path) => Ok(of_constant(Expr::Path(path.clone()))),
        // `OP_WRITE` parses as a binding; by Rust's naming convention a capital makes it a constant.
        Pat::Ident(ident)
            if ident.subpat.is_none()
                && ident.ident.to_string().starts_with(char::is_uppercase) =>
        {
            let name = &ident.ident;
            Ok(of_constant(syn::parse_quote!(#name)))
        }
        Pat::Lit(literal) => match &literal.lit {
            syn::Lit::Int(int) => {
                let value: u128 = int.base10_parse()?;
                let text = value.to_string();
                Ok(vec![quote!(::std::string::String::from(#text))])
            }
            _ => Ok(of_constant(Expr::Lit(literal.clone()))),
        },
        Pat::Paren(paren) => labels(&paren.pat),
        Pat::Or(or) => {
            let mut all = Vec::new();
            for case in &or.cases {
                all.extend(labels(case)?);
            }
            Ok(all)
        }
        _ => Err(syn::Error::new_spanned(
            pattern,
            "patterns of a hardware `match` are enum values, constants, integers, `A | B` and `_`",
        )),
    }
}
