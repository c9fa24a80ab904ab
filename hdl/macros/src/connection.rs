//! `join!`, `clock!` and `clock_reset!`: the connections of a block, in the kernel and as what the kernel runs natively.
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Expr, Ident, Result, Token};

use crate::lowered::Lowered;
use crate::path::signal_name;
use crate::scope::Scope;

/// `(self, a.x => b.y, ...)`.
pub struct Joins(Vec<(Expr, Expr)>);

impl Parse for Joins {
    fn parse(input: ParseStream) -> Result<Self> {
        let block: Token![self] = input.parse()?;
        let mut joins = vec![];
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let from = of_block(&block, &input.parse()?)?;
            input.parse::<Token![=>]>()?;
            joins.push((from, of_block(&block, &input.parse()?)?));
        }
        Ok(Self(joins))
    }
}

impl Joins {
    /// Returns the code of a native simulation.
    pub fn native(&self) -> TokenStream {
        let joins = self.0.iter();
        let joins =
            joins.map(|(from, to)| quote!(::hdl_macros_support::Join::join(&mut #from, &mut #to);));
        quote!({ #(#joins)* })
    }

    /// Returns the code that elaborates the hardware.
    pub fn lower(&self, scope: &Scope) -> Result<Lowered> {
        let mut lowered = Lowered::default();
        for (from, to) in &self.0 {
            let (from_name, to_name) = (signal_name(from, scope)?, signal_name(to, scope)?);
            lowered.then(Lowered {
                hdl: quote!(::hdl_macros_support::assign_join(&#from, &#to, (&#from_name, &#to_name), __statements);),
                connect: quote!(::hdl_macros_support::Join::mark_driven(&mut #from, &mut #to);),
            });
        }
        Ok(lowered)
    }
}

/// Signals of the block for the ports of sub-blocks that have these names: `(self, clock, a, b, c[..])`, where `c[..]` is every block of an array.
pub struct Fanout {
    wires: Vec<Wire>,
    to: Vec<Sink>,
}

/// A signal of the block, and the port of sub-blocks that it drives.
struct Wire {
    port: Ident,
    from: Expr,
}

/// A sub-block, or an array of them.
struct Sink {
    block: Expr,
    array: bool,
}

impl Fanout {
    /// The parser for fan-out of a signal, which the arguments name, to the port `port` of sub-blocks.
    pub fn parser(port: &'static str) -> impl FnOnce(ParseStream) -> Result<Self> {
        move |input| {
            let block: Token![self] = input.parse()?;
            input.parse::<Token![,]>()?;
            let from = of_block(&block, &input.parse()?)?;
            Ok(Self {
                wires: vec![Wire {
                    port: name(port),
                    from,
                }],
                to: parse_sinks(&block, input)?,
            })
        }
    }

    /// The parser for fan-out of the signals `ports` of the block to the ports of these names: `(self, a, b, c[..])`.
    pub fn parser_of_same_names(
        ports: &'static [&'static str],
    ) -> impl FnOnce(ParseStream) -> Result<Self> {
        move |input| {
            let block: Token![self] = input.parse()?;
            let wire = |port: &&str| {
                let port = name(port);
                Wire {
                    from: syn::parse_quote!(#block.#port),
                    port,
                }
            };
            Ok(Self {
                wires: ports.iter().map(wire).collect(),
                to: parse_sinks(&block, input)?,
            })
        }
    }

    /// Each signal with each sub-block that it goes to.
    fn connections(&self) -> impl Iterator<Item = (&Wire, &Sink)> {
        let of_wire = |wire| self.to.iter().map(move |sink| (wire, sink));
        self.wires.iter().flat_map(of_wire)
    }

    /// Returns the code of a native simulation.
    pub fn native(&self) -> TokenStream {
        let assignments = self.connections().map(|(wire, sink)| {
            let from = &wire.from;
            sink.each(&wire.port, |to| Ok(quote!(#to.next = #from.val();)))
        });
        let assignments: Result<Vec<TokenStream>> = assignments.collect();
        let assignments = assignments.expect("nothing of this fails");
        quote!({ #(#assignments)* })
    }

    /// Returns the code that elaborates the hardware.
    pub fn lower(&self, scope: &Scope) -> Result<Lowered> {
        let mut lowered = Lowered::default();
        for (wire, sink) in self.connections() {
            let from = &wire.from;
            let from_name = signal_name(from, scope)?;
            lowered.then(Lowered {
                hdl: sink.each(&wire.port, |to| {
                    let to_name = signal_name(to, scope)?;
                    Ok(quote!(::hdl_macros_support::assign_join(&#from, &#to, (&#from_name, &#to_name), __statements);))
                })?,
                connect: sink.each(&wire.port, |to| Ok(quote!(::hdl_macros_support::core::logic::logic_connect_fn(&mut #to);)))?,
            });
        }
        Ok(lowered)
    }
}

/// The sub-blocks `, a, b, c[..]`.
fn parse_sinks(block: &Token![self], input: ParseStream) -> Result<Vec<Sink>> {
    let mut sinks = vec![];
    while !input.is_empty() {
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            break;
        }
        sinks.push(match of_block(block, &input.parse()?)? {
            Expr::Index(index) if is_all(&index.index) => Sink {
                block: *index.expr,
                array: true,
            },
            block => Sink {
                block,
                array: false,
            },
        });
    }
    Ok(sinks)
}

impl Sink {
    /// `code` for the port of the block, or of each block of the array.
    fn each(
        &self,
        port: &Ident,
        code: impl Fn(&Expr) -> Result<TokenStream>,
    ) -> Result<TokenStream> {
        let block = &self.block;
        if !self.array {
            return code(&syn::parse_quote!(#block.#port));
        }
        let i = name("__each");
        let code = code(&syn::parse_quote!(#block[#i].#port))?;
        Ok(quote!(for #i in 0..#block.len() { #code }))
    }
}

/// A name that the macro makes: of a port, or of the loop variable of a fan-out to an array.
fn name(text: &str) -> Ident {
    Ident::new(text, proc_macro2::Span::call_site())
}

/// Whether an index is `..`.
fn is_all(index: &Expr) -> bool {
    matches!(index, Expr::Range(range) if range.start.is_none() && range.end.is_none())
}

/// The path `a.b[i].c` below `self`.
fn of_block(block: &Token![self], path: &Expr) -> Result<Expr> {
    match path {
        Expr::Path(name) if name.path.get_ident().is_some() => Ok(syn::parse_quote!(#block.#name)),
        Expr::Field(field) => {
            let (base, member) = (of_block(block, &field.base)?, &field.member);
            Ok(syn::parse_quote!(#base.#member))
        }
        Expr::Index(index) => {
            let (base, place) = (of_block(block, &index.expr)?, &index.index);
            Ok(syn::parse_quote!(#base[#place]))
        }
        _ => Err(syn::Error::new_spanned(
            path,
            "name a port without `self`: `port`, `child.port`, `array[i].port`",
        )),
    }
}
