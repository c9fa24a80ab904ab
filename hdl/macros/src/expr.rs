//! Expressions: Rust to AST.
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{BinOp, Expr, Member, Result, UnOp};

use crate::call;
use crate::constant::{self, is_constant};
use crate::scope::{handle, Binding, Scope};

/// The generated code (a `VerilogExpression`) for an expression. `like` is a native expression of the
/// same type where one is known, for constants that take their type from their place.
pub fn lower(expr: &Expr, like: Option<&TokenStream>, scope: &Scope) -> Result<TokenStream> {
    if is_constant(expr, scope) {
        return constant::literal(expr, like, syn::spanned::Spanned::span(expr));
    }
    let ast = quote!(::hdl_macros_support::core::ast);
    match expr {
        Expr::Paren(paren) => lower(&paren.expr, like, scope),
        Expr::Group(group) => lower(&group.expr, like, scope),
        Expr::Path(path) => lower_local(path, scope),
        Expr::Field(field) => lower_field(field, scope),
        Expr::Unary(unary) => {
            let op = match unary.op {
                UnOp::Not(_) => quote!(Not),
                UnOp::Neg(_) => quote!(Neg),
                _ => return Err(syn::Error::new_spanned(expr, "hardware has the unary operators `!` and `-`")),
            };
            let inner = lower(&unary.expr, like, scope)?;
            Ok(quote!(#ast::VerilogExpression::Unary(#ast::VerilogOpUnary::#op, ::std::boxed::Box::new(#inner))))
        }
        Expr::Binary(binary) => lower_binary(binary, like, scope),
        Expr::MethodCall(method) => call::lower_method(method, like, scope),
        Expr::Call(function) => call::lower_call(function, like, scope),
        Expr::If(_) | Expr::Match(_) | Expr::Struct(_) | Expr::Block(_) => Err(syn::Error::new_spanned(
            expr,
            "`if`, `match`, blocks and struct literals of hardware values stand alone on the right of `=`: bind this one first, `let x = ...;`",
        )),
        Expr::Cast(_) => Err(syn::Error::new_spanned(
            expr,
            "`as` works on constants only; resize hardware values with `bit_cast::<TO, FROM>(x)`",
        )),
        Expr::Index(_) => Err(syn::Error::new_spanned(
            expr,
            "hardware values are not indexed with `[]`: use `x.get_bit(i)` or `x.get_bits::<N>(offset)`; signals are read with `.val()`",
        )),
        _ => Err(syn::Error::new_spanned(
            expr,
            "not supported in a hardware kernel; supported are signals (`self.a.val()`), locals, struct fields, operators, \
             get_bit(s), replace_bit, any, all, xor, index, into, to_bits, bits, bit_cast, Bits::from and #[hdl_fn] calls",
        )),
    }
}

/// Like [`lower`], for a place where only the number matters (bit index, shift amount, `match` scrutinee):
/// `.index()` and the other ways to make an integer of a vector fall away.
pub fn lower_number(expr: &Expr, scope: &Scope) -> Result<TokenStream> {
    match expr {
        Expr::Paren(paren) => lower_number(&paren.expr, scope),
        Expr::Path(path)
            if path
                .path
                .get_ident()
                .is_some_and(|name| scope.is_hardware(name)) =>
        {
            let local = handle(path.path.require_ident()?);
            Ok(quote!(#local.read()))
        }
        _ if is_constant(expr, scope) => lower(expr, None, scope),
        Expr::MethodCall(method) if call::integer_method_width(&method.method).is_some() => {
            lower(&method.receiver, None, scope)
        }
        _ => lower(expr, None, scope),
    }
}

/// Returns the width of the plain Rust integer type of an expression, if the expression shows it (`x.index()`, `x.to_u8()`, sums of them).
pub fn integer_width(expr: &Expr, scope: &Scope) -> Option<usize> {
    match expr {
        Expr::Paren(paren) => integer_width(&paren.expr, scope),
        Expr::Path(path) => match scope.get(path.path.get_ident()?)? {
            Binding::Hardware { integer, .. } => integer,
            Binding::Constant => None,
        },
        Expr::MethodCall(method) => call::integer_method_width(&method.method),
        Expr::Call(function) => call::integer_conversion_width(function),
        Expr::Binary(binary) => match binary.op {
            BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
            | BinOp::BitXor(_) => {
                integer_width(&binary.left, scope).or_else(|| integer_width(&binary.right, scope))
            }
            BinOp::Shl(_) | BinOp::Shr(_) => integer_width(&binary.left, scope),
            _ => None,
        },
        _ => None,
    }
}

fn lower_local(path: &syn::ExprPath, scope: &Scope) -> Result<TokenStream> {
    let name = path.path.require_ident()?;
    if name == "self" {
        return Err(syn::Error::new_spanned(
            path,
            "`self` is no value in hardware; read a signal: `self.<signal>.val()`",
        ));
    }
    let local = handle(name);
    Ok(match scope.get(name) {
        // The Rust type is wider than the vector: arithmetic on it happens at the Rust width.
        Some(Binding::Hardware {
            integer: Some(width),
            ..
        }) => cast(quote!(#local.read()), quote!(#width)),
        _ => quote!(#local.read()),
    })
}

fn lower_field(field: &syn::ExprField, scope: &Scope) -> Result<TokenStream> {
    let Member::Named(name) = &field.member else {
        return Err(syn::Error::new_spanned(
            field,
            "tuples are not hardware types; use a struct that derives LogicStruct",
        ));
    };
    if name == "next" {
        return Err(syn::Error::new_spanned(
            field,
            "`.next` is only written; read a signal with `.val()`",
        ));
    }
    if matches!(&*field.base, Expr::Path(p) if p.path.is_ident("self")) {
        return Err(syn::Error::new_spanned(
            field,
            "read a signal with `.val()`; a field that is a plain Rust value must have a name that starts with `_`",
        ));
    }
    let base = &field.base;
    let value = lower(base, None, scope)?;
    let (width, offset) = field_place(&quote!(#base), name);
    let ast = quote!(::hdl_macros_support::core::ast);
    Ok(quote!(#ast::VerilogExpression::Slice(
        ::std::boxed::Box::new(#value),
        #width,
        ::std::boxed::Box::new(#ast::VerilogExpression::Literal((#offset).into()))
    )))
}

/// Width and offset of a field of the struct that the native expression `base` yields.
pub fn field_place(base: &TokenStream, field: &syn::Ident) -> (TokenStream, TokenStream) {
    let width = format_ident!("get_my_width_{}", field);
    let offset = format_ident!("get_my_offset_{}", field);
    (
        quote!(::hdl_macros_support::shape(|| #base).#width()),
        quote!(::hdl_macros_support::shape(|| #base).#offset()),
    )
}

/// `VerilogExpression::Cast` of a lowered expression.
pub fn cast(value: TokenStream, width: TokenStream) -> TokenStream {
    quote!(::hdl_macros_support::core::ast::VerilogExpression::Cast(::std::boxed::Box::new(#value), #width))
}

fn lower_binary(
    binary: &syn::ExprBinary,
    like: Option<&TokenStream>,
    scope: &Scope,
) -> Result<TokenStream> {
    let op = match binary.op {
        BinOp::Add(_) => quote!(Add),
        BinOp::Sub(_) => quote!(Sub),
        BinOp::Mul(_) => quote!(Mul),
        BinOp::And(_) => quote!(LogicalAnd),
        BinOp::Or(_) => quote!(LogicalOr),
        BinOp::BitXor(_) => quote!(BitXor),
        BinOp::BitAnd(_) => quote!(BitAnd),
        BinOp::BitOr(_) => quote!(BitOr),
        BinOp::Shl(_) => quote!(Shl),
        BinOp::Shr(_) => quote!(Shr),
        BinOp::Eq(_) => quote!(Eq),
        BinOp::Ne(_) => quote!(Ne),
        BinOp::Lt(_) => quote!(Lt),
        BinOp::Le(_) => quote!(Le),
        BinOp::Gt(_) => quote!(Gt),
        BinOp::Ge(_) => quote!(Ge),
        _ => {
            return Err(syn::Error::new_spanned(
                binary,
                "hardware has no such operator; supported are + - * & | ^ << >> == != < <= > >= && ||, and `x = x + 1` instead of `x += 1`",
            ))
        }
    };
    let (left_expr, right_expr) = (&binary.left, &binary.right);
    let (left_like, right_like) = match (
        is_constant(left_expr, scope),
        is_constant(right_expr, scope),
    ) {
        (true, false) => (Some(quote!(#right_expr)), None),
        (false, true) => (None, Some(quote!(#left_expr))),
        _ => (like.cloned(), None),
    };
    let left = lower(left_expr, left_like.as_ref(), scope)?;
    let right = match binary.op {
        BinOp::Shl(_) | BinOp::Shr(_) => lower_number(right_expr, scope)?,
        _ => lower(right_expr, right_like.as_ref(), scope)?,
    };
    let ast = quote!(::hdl_macros_support::core::ast);
    Ok(quote!({
        let __left = #left;
        let __right = #right;
        #ast::VerilogExpression::Binary(::std::boxed::Box::new(__left), #ast::VerilogOp::#op, ::std::boxed::Box::new(__right))
    }))
}
