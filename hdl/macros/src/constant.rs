//! What is known at elaboration, and how it is written as a literal.
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Lit, LitInt, Member, PathArguments, Result, Type};

use crate::scope::Scope;

/// Whether an expression mentions no signal and no hardware local, so that it can be evaluated at elaboration.
/// Fields of `self` that start with `_` are plain Rust values (rust-hdl's derives skip them), and so is `.len()`.
pub fn is_constant(expr: &Expr, scope: &Scope) -> bool {
    let mut finder = HardwareFinder {
        scope,
        found: false,
    };
    finder.visit_expr(expr);
    !finder.found
}

struct HardwareFinder<'a> {
    scope: &'a Scope,
    found: bool,
}

impl HardwareFinder<'_> {
    fn scan_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    self.found |= ident == "self" || self.scope.is_hardware(&ident)
                }
                TokenTree::Group(group) => self.scan_tokens(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for HardwareFinder<'_> {
    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        let on_self = matches!(&*field.base, Expr::Path(p) if p.path.is_ident("self"));
        let plain =
            matches!(&field.member, Member::Named(name) if name.to_string().starts_with('_'));
        if !(on_self && plain) {
            visit::visit_expr_field(self, field);
        }
    }
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method != "len" || !call.args.is_empty() {
            visit::visit_expr_method_call(self, call);
        }
    }
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let Some(ident) = path.path.get_ident() {
            self.found |= ident == "self" || self.scope.is_hardware(ident);
        }
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.scan_tokens(mac.tokens.clone());
    }
}

/// Returns the literal of a constant expression. `like` is a native expression of the same type, if one is known. It supplies the width of
/// `bits(5)` or `x.into()`.
pub fn literal(expr: &Expr, like: Option<&TokenStream>, span: Span) -> Result<TokenStream> {
    if only_integer_literals(expr) {
        let sized = with_u64_literals(expr);
        return Ok(
            quote!(::hdl_macros_support::core::ast::VerilogExpression::Literal((#sized).into())),
        );
    }
    if takes_type_from_context(expr) {
        let like = like.ok_or_else(|| {
            syn::Error::new(
                span,
                "the width of this constant is not known here: write it, as in `bits::<8>(5)`, `Bits::<8>::from(5)` or `T::default()`",
            )
        })?;
        return Ok(quote!(::hdl_macros_support::typed_constant(|| #like, #expr)));
    }
    Ok(quote!({
        use ::hdl_macros_support::{IntegerConstant as _, SynthConstant as _};
        (&::hdl_macros_support::Constant(#expr)).literal()
    }))
}

/// The label of a `case` item for a constant.
pub fn label(expr: &Expr) -> TokenStream {
    quote!({
        use ::hdl_macros_support::{IntegerConstant as _, SynthConstant as _};
        (&::hdl_macros_support::Constant(#expr)).label()
    })
}

/// Whether nothing but unsuffixed integer literals and operators occur (Rust alone would take them for `i32`).
pub fn only_integer_literals(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(lit) => matches!(&lit.lit, Lit::Int(int) if int.suffix().is_empty()),
        Expr::Paren(p) => only_integer_literals(&p.expr),
        Expr::Group(g) => only_integer_literals(&g.expr),
        Expr::Binary(b) => {
            only_integer_literals(&b.left)
                && only_integer_literals(&b.right)
                && !is_comparison(&b.op)
        }
        _ => false,
    }
}

fn is_comparison(op: &syn::BinOp) -> bool {
    use syn::BinOp::*;
    matches!(op, Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
}

fn with_u64_literals(expr: &Expr) -> Expr {
    struct Suffix;
    impl VisitMut for Suffix {
        fn visit_lit_int_mut(&mut self, int: &mut LitInt) {
            *int = LitInt::new(&format!("{int}u64"), int.span());
        }
    }
    let mut expr = expr.clone();
    visit_mut::visit_expr_mut(&mut Suffix, &mut expr);
    expr
}

/// Whether Rust can only infer the type of this expression from where it is used.
fn takes_type_from_context(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(p) => takes_type_from_context(&p.expr),
        Expr::Group(g) => takes_type_from_context(&g.expr),
        Expr::Unary(u) => takes_type_from_context(&u.expr),
        Expr::Binary(b) => {
            takes_type_from_context(&b.left)
                && takes_type_from_context(&b.right)
                && !is_comparison(&b.op)
        }
        Expr::If(_) | Expr::Match(_) | Expr::Block(_) => true,
        Expr::MethodCall(call) => {
            (call.method == "into" || call.method == "to_bits") && call.turbofish.is_none()
        }
        Expr::Call(call) => {
            let Expr::Path(path) = &*call.func else {
                return false;
            };
            let segments = &path.path.segments;
            let generic = segments
                .iter()
                .any(|s| !matches!(s.arguments, PathArguments::None));
            let Some(last) = segments.last() else {
                return false;
            };
            let owner = segments.iter().rev().nth(1);
            !generic
                && (last.ident == "bits"
                    || last.ident == "bit_cast"
                    || last.ident == "unsigned_cast"
                    || owner.is_some_and(|o| {
                        o.ident == "Bits" || (o.ident == "Default" && last.ident == "default")
                    }))
        }
        _ => false,
    }
}

/// Width in bits of a plain Rust integer type; `None` for every other type.
pub fn integer_type_width(ty: &Type) -> Option<usize> {
    let Type::Path(path) = ty else { return None };
    integer_name_width(&path.path.get_ident()?.to_string())
}

/// Width in bits of the plain Rust integer type of this name.
pub fn integer_name_width(name: &str) -> Option<usize> {
    match name {
        "u8" => Some(8),
        "u16" => Some(16),
        "u32" | "i32" => Some(32),
        "u64" | "usize" | "LiteralType" => Some(64),
        "u128" => Some(128),
        _ => None,
    }
}
