//! Expansion of `#[hdl]` and `#[hdl_fn]`.
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, ItemFn, Pat, Result, ReturnType};

use crate::assign::lower_value;
use crate::constant::integer_type_width;
use crate::lowered::Lowered;
use crate::scope::{handle, Binding, Scope};
use crate::source::Source;
use crate::statement::lower_statements;

/// Keeps `update` as it is and adds `connect` and `hdl`.
pub fn expand_update(update: &ItemFn) -> Result<TokenStream> {
    let signature = &update.sig;
    let is_update = signature.ident == "update"
        && signature.inputs.len() == 1
        && matches!(signature.inputs.first(), Some(FnArg::Receiver(r)) if r.reference.is_some() && r.mutability.is_some())
        && matches!(signature.output, ReturnType::Default);
    if !is_update {
        return Err(syn::Error::new_spanned(
            signature,
            "#[hdl] belongs on `fn update(&mut self)` in an `impl Logic for ...`; helper functions take #[hdl_fn]",
        ));
    }
    let source = Source::of(signature.ident.span());
    let block = source.as_ref().map(|s| s.block(signature.ident.span()));
    let mut lowered = Lowered::default();
    let scope = &mut Scope::default();
    for statement in &update.block.stmts {
        if let Some(source) = &source {
            lowered.then(Lowered::hdl(source.statement(statement.span())));
        }
        lowered.then(lower_statements(std::slice::from_ref(statement), scope)?);
    }
    let (hdl, connect) = (lowered.hdl, lowered.connect);
    Ok(quote! {
        #[allow(unreachable_patterns, clippy::all)]
        #update

        #[allow(unused, clippy::all)]
        #[automatically_derived]
        fn connect(&mut self) {
            #connect
        }

        #[allow(unused, clippy::all)]
        #[automatically_derived]
        fn hdl(&self) -> ::hdl_macros_support::core::ast::Verilog {
            let __elaboration = &mut ::hdl_macros_support::Elaboration::of(self);
            let mut __block = ::std::vec![::hdl_macros_support::core::ast::VerilogStatement::Comment(
                ::std::format!("@module {}", ::std::any::type_name::<Self>())
            )];
            {
                let __statements = &mut __block;
                #block
                #hdl
            }
            ::hdl_macros_support::core::ast::Verilog::Combinatorial(__block)
        }
    })
}

/// Keeps the function and adds a module of its name, whose function `hdl` expands the body where it is called: functions and modules have
/// names of their own kinds, so an import of the function imports both.
pub fn expand_helper(function: &ItemFn) -> Result<TokenStream> {
    let signature = &function.sig;
    let ReturnType::Type(_, result) = &signature.output else {
        return Err(syn::Error::new_spanned(
            signature,
            "an #[hdl_fn] returns a value",
        ));
    };
    let name = signature.ident.to_string();
    let mut scope = Scope::default().inside_value();
    let mut parameters = TokenStream::new();
    let mut prologue = TokenStream::new();
    for input in &signature.inputs {
        let FnArg::Typed(parameter) = input else {
            return Err(syn::Error::new_spanned(
                input,
                "an #[hdl_fn] is a free function: pass the values it needs",
            ));
        };
        let Pat::Ident(pattern) = &*parameter.pat else {
            return Err(syn::Error::new_spanned(
                &parameter.pat,
                "a parameter of an #[hdl_fn] is a plain name",
            ));
        };
        if pattern.mutability.is_some() || pattern.by_ref.is_some() {
            return Err(syn::Error::new_spanned(
                pattern,
                "parameters cannot be reassigned; bind a `let mut` of the body",
            ));
        }
        let (parameter_name, ty) = (&pattern.ident, &parameter.ty);
        let text = parameter_name.to_string();
        parameters.extend(quote!(#parameter_name: ::hdl_macros_support::Argument<#ty>,));
        if integer_type_width(ty).is_some() {
            scope.bind(parameter_name, Binding::Constant);
            prologue
                .extend(quote!(let #parameter_name = #parameter_name.into_constant(#name, #text);));
        } else {
            scope.bind(
                parameter_name,
                Binding::Hardware {
                    mutable: false,
                    depth: 0,
                    integer: None,
                },
            );
            let local = handle(parameter_name);
            prologue.extend(quote!(
                let (#parameter_name, #local) = #parameter_name.into_local(__elaboration, __statements, #text);
            ));
        }
    }
    let body = Expr::Block(syn::ExprBlock {
        attrs: Vec::new(),
        label: None,
        block: (*function.block).clone(),
    });
    let like = quote!(<#result as ::std::default::Default>::default());
    let value = lower_value(&body, &quote!(__result.target()), &like, &scope)?.hdl;
    let (visibility, generics) = (&function.vis, &signature.generics);
    let where_clause = &generics.where_clause;
    let module = &signature.ident;
    Ok(quote! {
        #function

        #[allow(unused, non_snake_case, clippy::all)]
        #[doc(hidden)]
        #visibility mod #module {
            use super::*;

            pub fn hdl #generics (
                __elaboration: &mut ::hdl_macros_support::Elaboration,
                __statements: &mut ::std::vec::Vec<::hdl_macros_support::core::ast::VerilogStatement>,
                #parameters
            ) -> ::hdl_macros_support::core::ast::VerilogExpression #where_clause {
                #prologue
                let __result = ::hdl_macros_support::Local::wire(__elaboration, #name, ::hdl_macros_support::width(|| #like));
                #value
                __result.read()
            }
        }
    })
}
