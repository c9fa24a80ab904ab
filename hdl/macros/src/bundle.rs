//! `#[bundle]`: both ends of a port group from the declaration of the driving one.
use proc_macro2::TokenStream;
use quote::{format_ident, quote, ToTokens};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Fields, Ident, ItemStruct, Path, PathArguments, Result, Token, Type};

/// What the emitter finds instead of Verilog in a bundle: the rules that simulations check.
const TAG: &str = "@bundle";
/// The rules a bundle may keep, as the crate documentation explains them.
const RULES: [&str; 2] = ["keep", "frames"];

/// The bundle and its other end.
pub fn expand(rules: TokenStream, bundle: &ItemStruct) -> Result<TokenStream> {
    let rules = parse_rules(rules)?;
    let name = &bundle.ident;
    let Some(stem) = name.to_string().strip_suffix("Src").map(str::to_string) else {
        return Err(syn::Error::new_spanned(
            name,
            "declare the driving end, under a name that ends in `Src`: the other end is then called `...Snk`",
        ));
    };
    let Fields::Named(fields) = &bundle.fields else {
        return Err(syn::Error::new_spanned(
            bundle,
            "a bundle is a struct with named fields",
        ));
    };
    let mut forward = vec![];
    let mut backward = vec![];
    for field in &fields.named {
        let field_name = field.ident.clone().expect("a named field");
        if is_driven(&field.ty)? {
            forward.push(field_name);
        } else {
            backward.push(field_name);
        }
    }
    let mut other = bundle.clone();
    other.ident = format_ident!("{}Snk", stem, span = name.span());
    other.attrs.retain(|a| !a.path().is_ident("doc"));
    let about = format!("The receiving end of a [`{name}`].");
    other.attrs.push(syn::parse_quote!(#[doc = #about]));
    for field in &mut other.fields {
        OtherEnd.visit_type_mut(&mut field.ty);
    }
    let tag = [&[TAG.to_string()], rules.as_slice()].concat().join(" ");
    let ends = [bundle, &other].map(|end| end_of_bundle(end, &tag));
    let (impl_generics, ty_generics, bounds) = bundle.generics.split_for_impl();
    let types = |end: &ItemStruct, names: &[Ident]| -> Vec<Type> {
        let of = |name: &Ident| end.fields.iter().find(|f| f.ident.as_ref() == Some(name));
        names.iter().filter_map(of).map(|f| f.ty.clone()).collect()
    };
    let joins = [
        (bundle, &other),
        (bundle, bundle),
        (&other, &other),
        (&other, bundle),
    ].map(|(from, to)| {
        let join = quote!(::hdl_macros_support::Join);
        let (from_name, to_name) = (&from.ident, &to.ident);
        let (sent, taken) = (types(from, &forward), types(to, &forward));
        let (taken_back, sent_back) = (types(from, &backward), types(to, &backward));
        quote! {
            #[automatically_derived]
            impl #impl_generics #join<#to_name #ty_generics> for #from_name #ty_generics #bounds {
                fn join(&mut self, to: &mut #to_name #ty_generics) {
                    #(#join::join(&mut self.#forward, &mut to.#forward);)*
                    #(#join::join(&mut to.#backward, &mut self.#backward);)*
                }
                fn mark_driven(&mut self, to: &mut #to_name #ty_generics) {
                    #(#join::mark_driven(&mut self.#forward, &mut to.#forward);)*
                    #(#join::mark_driven(&mut to.#backward, &mut self.#backward);)*
                }
                fn assign(
                    from: &str,
                    to: &str,
                    statements: &mut ::std::vec::Vec<::hdl_macros_support::core::ast::VerilogStatement>,
                ) {
                    let name = |end: &str, signal: &str| ::std::format!("{end}${signal}");
                    #(<#sent as #join<#taken>>::assign(
                        &name(from, ::std::stringify!(#forward)), &name(to, ::std::stringify!(#forward)), statements);)*
                    #(<#sent_back as #join<#taken_back>>::assign(
                        &name(to, ::std::stringify!(#backward)), &name(from, ::std::stringify!(#backward)), statements);)*
                }
            }
        }
    });
    Ok(quote!(#(#ends)* #(#joins)*))
}

fn parse_rules(rules: TokenStream) -> Result<Vec<String>> {
    let paths = Punctuated::<Path, Token![,]>::parse_terminated.parse2(rules)?;
    let rule = |path: &Path| {
        let name = path.to_token_stream().to_string();
        let known = RULES.contains(&name.as_str());
        known.then_some(name).ok_or_else(|| {
            syn::Error::new_spanned(
                path,
                format!("no rule of a bundle; there are {}", RULES.join(", ")),
            )
        })
    };
    paths.iter().map(rule).collect()
}

/// Whether the driving end of the bundle drives a field of this type.
fn is_driven(ty: &Type) -> Result<bool> {
    let usage = || {
        syn::Error::new_spanned(
            ty,
            "a field of a bundle is a `Signal<Out, _>` or `Signal<In, _>`, a bundle (`...Src` or `...Snk`), or an array of one of them",
        )
    };
    match ty {
        Type::Array(array) => is_driven(&array.elem),
        Type::Path(path) => {
            let last = path.path.segments.last().ok_or_else(usage)?;
            let name = last.ident.to_string();
            match direction(last) {
                Some(direction) if direction == "Out" => Ok(true),
                Some(direction) if direction == "In" => Ok(false),
                None if name.ends_with("Src") => Ok(true),
                None if name.ends_with("Snk") => Ok(false),
                _ => Err(usage()),
            }
        }
        _ => Err(usage()),
    }
}

/// `Out` of a `Signal<Out, T>`.
fn direction(segment: &syn::PathSegment) -> Option<&Ident> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(syn::GenericArgument::Type(Type::Path(first))) if segment.ident == "Signal" => {
            first.path.get_ident()
        }
        _ => None,
    }
}

/// Turns the type of a field into that of the same field of the other end.
struct OtherEnd;

impl VisitMut for OtherEnd {
    fn visit_path_segment_mut(&mut self, segment: &mut syn::PathSegment) {
        if segment.ident == "Signal" {
            if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
                if let Some(syn::GenericArgument::Type(direction)) = arguments.args.first_mut() {
                    let driven = direction.to_token_stream().to_string() == "Out";
                    *direction = if driven {
                        syn::parse_quote!(In)
                    } else {
                        syn::parse_quote!(Out)
                    };
                }
            }
            return;
        }
        let name = segment.ident.to_string();
        let other = match (name.strip_suffix("Src"), name.strip_suffix("Snk")) {
            (Some(stem), _) => format!("{stem}Snk"),
            (None, Some(stem)) => format!("{stem}Src"),
            (None, None) => return visit_mut::visit_path_segment_mut(self, segment),
        };
        segment.ident = Ident::new(&other, segment.ident.span());
    }
}

/// Generates the struct of one end, and the code by which a block can contain it.
fn end_of_bundle(end: &ItemStruct, tag: &str) -> TokenStream {
    let name = &end.ident;
    let (impl_generics, ty_generics, bounds) = end.generics.split_for_impl();
    let fields: Vec<&Ident> = end.fields.iter().filter_map(|f| f.ident.as_ref()).collect();
    let docs: Vec<String> = end.fields.iter().flat_map(documentation).collect();
    let text = [&[tag.to_string()], docs.as_slice()].concat().join("\n");
    let core = quote!(::hdl_macros_support::core);
    quote! {
        #[derive(Clone, Debug, Default)]
        #end

        #[automatically_derived]
        impl #impl_generics #core::logic::Logic for #name #ty_generics #bounds {
            fn update(&mut self) {}
            fn hdl(&self) -> #core::ast::Verilog {
                #core::ast::Verilog::Custom(::std::string::String::from(#text))
            }
        }

        #[automatically_derived]
        impl #impl_generics #core::block::Block for #name #ty_generics #bounds {
            fn connect_all(&mut self) {
                #(#core::block::Block::connect_all(&mut self.#fields);)*
            }
            fn update_all(&mut self) {
                #(#core::block::Block::update_all(&mut self.#fields);)*
            }
            fn has_changed(&self) -> bool {
                #(#core::block::Block::has_changed(&self.#fields))||*
            }
            fn accept(&self, name: &str, probe: &mut dyn #core::probe::Probe) {
                probe.visit_start_namespace(name, self);
                #(#core::block::Block::accept(&self.#fields, ::std::stringify!(#fields), probe);)*
                probe.visit_end_namespace(name, self);
            }
        }
    }
}

/// Returns lines of the form `field text` with the comments on a field in the source.
fn documentation(field: &syn::Field) -> Vec<String> {
    let name = field.ident.as_ref().expect("a named field");
    let text = |attribute: &Attribute| match &attribute.meta {
        syn::Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(format!("{name} {}", text.value().trim())),
            _ => None,
        },
        _ => None,
    };
    field.attrs.iter().filter_map(text).collect()
}
