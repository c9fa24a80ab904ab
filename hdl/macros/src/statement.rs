//! Statements of a kernel.
use quote::{format_ident, quote};
use syn::{Expr, ExprForLoop, Item, LocalInit, Pat, Result, Stmt, Type};

use crate::assign::{lower_assignment, lower_wire};
use crate::branch::{lower_if, lower_match};
use crate::constant::{integer_type_width, is_constant};
use crate::expr::{integer_width, lower_number};
use crate::invocation;
use crate::lowered::Lowered;
use crate::scope::{handle, Binding, Scope};

/// Lowers consecutive statements; names they bind are added to `scope`.
pub fn lower_statements(statements: &[Stmt], scope: &mut Scope) -> Result<Lowered> {
    let mut lowered = Lowered::default();
    for statement in statements {
        lowered.then(match statement {
            Stmt::Local(local) => lower_let(local, scope)?,
            Stmt::Item(item @ (Item::Const(_) | Item::Use(_))) => Lowered::both(item),
            Stmt::Item(item) => {
                return Err(syn::Error::new_spanned(
                    item,
                    "only `const` and `use` items may stand in a hardware kernel",
                ))
            }
            Stmt::Expr(expr, _) => lower_expression_statement(expr, scope)?,
            Stmt::Macro(mac) => invocation::lower_macro(&mac.mac, scope)?,
        });
    }
    Ok(lowered)
}

/// Lowers an expression that stands as a statement.
pub fn lower_expression_statement(expr: &Expr, scope: &Scope) -> Result<Lowered> {
    match expr {
        Expr::Assign(assignment) => lower_assignment(assignment, scope),
        Expr::If(branch) => lower_if(branch, scope, false, &lower_expression_statement),
        Expr::Match(select) => lower_match(select, scope, &lower_expression_statement),
        Expr::ForLoop(for_loop) => lower_for(for_loop, scope),
        Expr::Block(block) if block.label.is_none() => {
            let lowered = lower_statements(&block.block.stmts, &mut scope.clone())?;
            let (hdl, connect) = (&lowered.hdl, &lowered.connect);
            Ok(Lowered { hdl: quote!({ #hdl }), connect: quote!({ #connect }) })
        }
        Expr::Macro(mac) => invocation::lower_macro(&mac.mac, scope),
        Expr::Paren(paren) => lower_expression_statement(&paren.expr, scope),
        Expr::Tuple(tuple) if tuple.elems.is_empty() => Ok(Lowered::default()),
        Expr::Binary(binary) => Err(syn::Error::new_spanned(
            binary,
            "compound assignment does not translate; write `x = x + ...`",
        )),
        _ => Err(syn::Error::new_spanned(
            expr,
            "not a hardware statement; supported are `let`, assignments, `if`, `match`, `for` over a constant range, \
             join!, dff_setup!, clock!, clock_reset! and assert!",
        )),
    }
}

fn lower_let(local: &syn::Local, scope: &mut Scope) -> Result<Lowered> {
    let Some(LocalInit {
        expr,
        diverge: None,
        ..
    }) = &local.init
    else {
        return Err(syn::Error::new_spanned(
            local,
            "a `let` needs its value at once (and no `else`): `let x = if c { a } else { b };`",
        ));
    };
    let (pattern, ty) = match &local.pat {
        Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
        other => (other, None),
    };
    let mutable = matches!(pattern, Pat::Ident(ident) if ident.mutability.is_some());
    if is_constant(expr, scope) && !mutable {
        for name in bound_names(pattern) {
            scope.bind(name, Binding::Constant);
        }
        return Ok(Lowered::both(local));
    }
    let Pat::Ident(ident) = pattern else {
        return Err(syn::Error::new_spanned(
            pattern,
            "a hardware `let` binds one name",
        ));
    };
    let name = &ident.ident;
    let integer = ty.map_or_else(|| integer_width(expr, scope), integer_type_width);
    if integer.is_some() && mutable {
        return Err(syn::Error::new_spanned(
            local,
            "a mutable hardware local must be a `Bits<N>`, `Bit`, enum or struct",
        ));
    }
    let wire = handle(name);
    let annotation = ty.map(|ty: &Type| quote!(: #ty));
    // Only its type matters: the closure is never run.
    let native = quote!(::hdl_macros_support::shape(|| #expr));
    let outer = scope.clone();
    scope.bind(
        name,
        Binding::Hardware {
            mutable,
            depth: scope.depth,
            integer,
        },
    );
    if integer.is_some() {
        let value = lower_number(expr, &outer)?;
        return Ok(Lowered::hdl(quote!(
            let #wire = ::hdl_macros_support::Local::alias(#value);
            let #name #annotation = #native;
        )));
    }
    // The value is lowered before the name is bound: `let x = x + 1` reads the old `x`. So the new native value (for its
    // width) first has a name of its own.
    let shape = format_ident!("__shape_{}", name);
    let value = lower_wire(name, expr, &quote!(__wire), &quote!(#shape), &outer)?.hdl;
    Ok(Lowered::hdl(quote!(
        let #shape #annotation = #native;
        let mut #wire = { #value __wire };
        let #name = #shape;
    )))
}

fn lower_for(for_loop: &ExprForLoop, scope: &Scope) -> Result<Lowered> {
    if !is_constant(&for_loop.expr, scope) {
        return Err(syn::Error::new_spanned(
            &for_loop.expr,
            "a hardware `for` is unrolled: its range must be constant",
        ));
    }
    let mut inner = scope.clone();
    for name in bound_names(&for_loop.pat) {
        inner.bind(name, Binding::Constant);
    }
    let lowered = lower_statements(&for_loop.body.stmts, &mut inner)?;
    let (pattern, range) = (&for_loop.pat, &for_loop.expr);
    let (hdl, connect) = (&lowered.hdl, &lowered.connect);
    Ok(Lowered {
        hdl: quote!(for #pattern in #range { #hdl }),
        connect: quote!(for #pattern in #range { #connect }),
    })
}

/// The names a pattern binds.
fn bound_names(pattern: &Pat) -> Vec<&syn::Ident> {
    match pattern {
        Pat::Ident(ident) => vec![&ident.ident],
        Pat::Tuple(tuple) => tuple.elems.iter().flat_map(bound_names).collect(),
        Pat::Type(typed) => bound_names(&typed.pat),
        Pat::Reference(reference) => bound_names(&reference.pat),
        Pat::Paren(paren) => bound_names(&paren.pat),
        _ => Vec::new(),
    }
}
