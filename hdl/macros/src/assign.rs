//! Assignments: the right side may be an expression, a struct literal, or an `if`/`match`/block that yields one.
use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::Visit;
use syn::{Expr, ExprAssign, ExprStruct, Ident, Member, Result, Stmt};

use crate::branch::{lower_if, lower_match};
use crate::constant::is_constant;
use crate::expr::{field_place, lower};
use crate::lowered::Lowered;
use crate::path::{signal_name, split_local, split_next};
use crate::scope::{handle, Scope};
use crate::statement::lower_statements;

/// Lowers `left = right;`.
pub fn lower_assignment(assignment: &ExprAssign, scope: &Scope) -> Result<Lowered> {
    let left = &assignment.left;
    let right = &assignment.right;
    let mut lowered = Lowered::hdl(type_hint(left, right));
    if let Some((signal, fields)) = split_next(left) {
        scope.check_may_drive(syn::spanned::Spanned::span(left))?;
        let name = signal_name(signal, scope)?;
        let target = field_target(
            quote!(::hdl_macros_support::Target::signal(#name)),
            quote!(#signal.next),
            &fields,
        );
        lowered.then(lower_value(right, &target, &quote!(#left), scope)?);
        lowered
            .connect
            .extend(quote!(::hdl_macros_support::core::logic::logic_connect_fn(&mut #signal);));
        return Ok(lowered);
    }
    if matches!(&**left, Expr::MethodCall(call) if call.method == "val") {
        return Err(syn::Error::new_spanned(
            left,
            "`.val()` is only read; assign `.next`",
        ));
    }
    let Some((local, fields)) = split_local(left).filter(|(name, _)| *name != "self") else {
        return Err(syn::Error::new_spanned(
            left,
            "assign a signal (`self.a.next`), a field of one (`self.a.next.field`), or a `let mut` local; \
             bits of a vector are changed with `x = x.replace_bit(i, b)`",
        ));
    };
    scope.check_assignable(local, local.span())?;
    let wire = handle(local);
    let base = local.to_string();
    let (version, target, value_like);
    if fields.is_empty() {
        version = quote!(::hdl_macros_support::Local::wire(__elaboration, #base, ::hdl_macros_support::width_of(&#local)));
        target = quote!(__version.target());
        value_like = quote!(#local);
    } else {
        let reads_itself = mentions(right, local);
        version = quote!(#wire.field_version(__elaboration, __statements, #base, #reads_itself));
        target = field_target(quote!(__version.target()), quote!(#local), &fields);
        value_like = quote!(#left);
    }
    let value = lower_value(right, &target, &value_like, scope)?.hdl;
    lowered.hdl.extend(quote!({
        let __version = #version;
        #value
        #wire = __version;
    }));
    Ok(lowered)
}

/// Declares the variable `wire` of the generated code as a new wire called `name`, and gives it a value.
/// `like` is a native variable of the type of the value.
pub fn lower_wire(
    name: &Ident,
    value: &Expr,
    wire: &TokenStream,
    like: &TokenStream,
    scope: &Scope,
) -> Result<Lowered> {
    let name = name.to_string();
    let mut lowered = Lowered::hdl(quote!(
        let #wire = ::hdl_macros_support::Local::wire(__elaboration, #name, ::hdl_macros_support::width_of(&#like));
    ));
    lowered.then(lower_value(value, &quote!(#wire.target()), like, scope)?);
    Ok(lowered)
}

/// Whether an expression mentions a name.
fn mentions(expr: &Expr, name: &Ident) -> bool {
    struct Finder<'a>(&'a Ident, bool);
    impl<'ast> Visit<'ast> for Finder<'_> {
        fn visit_ident(&mut self, ident: &'ast Ident) {
            self.1 |= ident == self.0;
        }
    }
    let mut finder = Finder(name, false);
    finder.visit_expr(expr);
    finder.1
}

/// Lowers `value` into `target` (code of type `Target`); `like` is a native expression of the target's type.
pub fn lower_value(
    value: &Expr,
    target: &TokenStream,
    like: &TokenStream,
    scope: &Scope,
) -> Result<Lowered> {
    let body = |branch: &Expr, scope: &Scope| lower_value(branch, target, like, scope);
    match value {
        _ if is_constant(value, scope) => {
            let literal = quote!(::hdl_macros_support::typed_constant(|| #like, #value));
            Ok(Lowered::hdl(
                quote!({ let __value = #literal; __statements.push(#target.assign(__value)); }),
            ))
        }
        Expr::Paren(paren) => lower_value(&paren.expr, target, like, scope),
        Expr::If(branch) => lower_if(branch, scope, true, &body),
        Expr::Match(select) => lower_match(select, scope, &body),
        Expr::Block(block) if block.label.is_none() => {
            let Some((Stmt::Expr(tail, None), statements)) = block.block.stmts.split_last() else {
                return Err(syn::Error::new_spanned(
                    value,
                    "this block must end in an expression: the value assigned",
                ));
            };
            let mut inner = scope.inside_value();
            let mut lowered = lower_statements(statements, &mut inner)?;
            lowered.then(lower_value(tail, target, like, &inner)?);
            let (hdl, connect) = (&lowered.hdl, &lowered.connect);
            Ok(Lowered {
                hdl: quote!({ #hdl }),
                connect: quote!({ #connect }),
            })
        }
        Expr::Struct(literal) => lower_struct(literal, target, like, scope),
        _ => {
            let expression = lower(value, Some(like), scope)?;
            Ok(Lowered::hdl(
                quote!({ let __value = #expression; __statements.push(#target.assign(__value)); }),
            ))
        }
    }
}

/// `S { a: .., ..base }`: the base (or zero) first, then each field in its place.
fn lower_struct(
    literal: &ExprStruct,
    target: &TokenStream,
    like: &TokenStream,
    scope: &Scope,
) -> Result<Lowered> {
    let mut lowered = match &literal.rest {
        Some(base) => lower_value(base, target, like, scope)?,
        None => Lowered::hdl(
            quote!(__statements.push(#target.clear(::hdl_macros_support::width(|| #like)));),
        ),
    };
    for field in &literal.fields {
        let Member::Named(name) = &field.member else {
            return Err(syn::Error::new_spanned(
                field,
                "tuple structs are not hardware types; name the fields",
            ));
        };
        let field_like = quote!(::hdl_macros_support::shape(|| #like).#name);
        let place = field_target(target.clone(), like.clone(), &[name]);
        lowered.then(lower_value(&field.expr, &place, &field_like, scope)?);
    }
    Ok(lowered)
}

/// Returns the code for the nested field `fields` of `target`. The native expression `like` has the type of `target`.
fn field_target(target: TokenStream, like: TokenStream, fields: &[&Ident]) -> TokenStream {
    let mut target = target;
    let mut like = like;
    for field in fields {
        let (width, offset) = field_place(&like, field);
        target = quote!(#target.field(#width, #offset));
        like = quote!(::hdl_macros_support::shape(|| #like).#field);
    }
    target
}

/// Lets the compiler infer the types in `right` from `left`, as it does in `update`.
fn type_hint(left: &Expr, right: &Expr) -> TokenStream {
    quote!(::hdl_macros_support::same_type(|| #left, || #right);)
}
