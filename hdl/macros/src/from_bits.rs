//! Expansion of `#[derive(FromBits)]`.
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, Result};

/// Implements `hdl_macros_support::FromBits` for a record or an enumeration.
pub fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let name = &input.ident;
    let value = match &input.data {
        Data::Struct(record) => record_value(input, &record.fields)?,
        Data::Enum(enumeration) => {
            let variants: Vec<_> = enumeration.variants.iter().map(|v| &v.ident).collect();
            let numbers = 0..variants.len();
            let text = name.to_string();
            quote! {
                match reader.number(<Self as ::hdl_macros_support::core::synth::Synth>::BITS) {
                    #(#numbers => Self::#variants,)*
                    other => ::std::panic!("{} has no value {other}", #text),
                }
            }
        }
        Data::Union(_) => return Err(unsupported(input)),
    };
    if !input.generics.params.is_empty() {
        return Err(unsupported(input));
    }
    Ok(quote! {
        #[automatically_derived]
        impl ::hdl_macros_support::FromBits for #name {
            fn read<const N: usize>(reader: &mut ::hdl_macros_support::BitReader<N>) -> Self {
                #value
            }
        }
    })
}

/// The fields in the order of the layout: a struct literal evaluates them in the order in which it lists them.
fn record_value(input: &DeriveInput, fields: &Fields) -> Result<TokenStream> {
    let Fields::Named(fields) = fields else {
        return Err(unsupported(input));
    };
    let names = fields.named.iter().map(|f| &f.ident);
    Ok(quote!(Self { #(#names: ::hdl_macros_support::FromBits::read(reader),)* }))
}

fn unsupported(input: &DeriveInput) -> syn::Error {
    syn::Error::new_spanned(
        &input.ident,
        "FromBits is for what LogicStruct and LogicState are for: structs with named fields and enums without data, both without generics",
    )
}
