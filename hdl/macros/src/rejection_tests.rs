//! Tests of the code that the macros refuse, and of their messages.
use quote::quote;
use syn::{ItemFn, ItemStruct};

use crate::bundle;
use crate::kernel::{expand_helper, expand_update};

#[track_caller]
fn assert_refused(body: proc_macro2::TokenStream, message: &str) {
    let kernel: ItemFn = syn::parse2(quote!(fn update(&mut self) { #body })).unwrap();
    let error = expand_update(&kernel)
        .expect_err("must be refused")
        .to_string();
    assert!(error.contains(message), "said: {error}");
}

#[test]
fn reassignment_below_a_hardware_condition() {
    assert_refused(
        quote!(let mut x = self.a.val(); if self.c.val() { x = self.b.val(); }),
        "use `let x = if c { a } else { b };`",
    );
    assert_refused(
        quote!(let mut x = self.a.val(); match self.s.val() { _ => x.f = self.b.val() }),
        "cannot be reassigned",
    );
}

#[test]
fn reassignment_below_a_constant_condition_is_accepted() {
    let kernel: ItemFn = syn::parse_quote! {
        fn update(&mut self) {
            let mut x = self.a.val();
            for i in 0..4 { if i > WIDE { x = x + self.b[i].val(); } }
            self.y.next = x;
        }
    };
    assert!(expand_update(&kernel).is_ok());
}

#[test]
fn assignments_to_what_cannot_be_assigned() {
    assert_refused(
        quote!(let x = self.a.val(); x = self.b.val();),
        "no `let mut`",
    );
    assert_refused(quote!(self.a.val() = self.b.val();), "assign `.next`");
    assert_refused(
        quote!(self.y.next = if self.c.val() { self.z.next = true; true } else { false };),
        "cannot be driven inside",
    );
}

#[test]
fn reads_of_next_and_of_plain_fields() {
    assert_refused(
        quote!(self.y.next = self.a.next;),
        "`.next` is only written",
    );
    assert_refused(quote!(self.y.next = self.a;), "start");
}

#[test]
fn run_time_array_indices_and_ranges() {
    assert_refused(
        quote!(self.y.next = self.a[self.i.val().index()].val();),
        "known at elaboration",
    );
    assert_refused(
        quote!(for i in 0..self.n.val().index() {
            self.y[i].next = true;
        }),
        "must be constant",
    );
}

#[test]
fn untranslatable_expressions() {
    assert_refused(
        quote!(self.y.next = self.a.val() as u8;),
        "`as` works on constants only",
    );
    assert_refused(
        quote!(self.y.next = self.a.val().leading_zeros();),
        "`leading_zeros` does not translate",
    );
    assert_refused(quote!(self.y.next = self.a.val() % 3;), "no such operator");
    assert_refused(
        quote!(self.y.next = 1 + if self.c.val() { 1 } else { 2 };),
        "bind this one first",
    );
    assert_refused(
        quote!(let x = self.a.val() == bit_cast(self.b.val());),
        "width of this conversion",
    );
}

#[test]
fn untranslatable_statements() {
    assert_refused(quote!(while self.c.val() {}), "not a hardware statement");
    assert_refused(quote!(if let Some(x) = self.a.val() {}), "`if let`");
    assert_refused(quote!(let x;), "needs its value at once");
    assert_refused(
        quote!(let x = if self.c.val() { self.a.val() };),
        "needs an `else`",
    );
    assert_refused(
        quote!(match self.a.val().index() {
            0..=3 => {}
            _ => {}
        }),
        "patterns of a hardware `match`",
    );
    assert_refused(
        quote!(match self.s.val() {
            S::A if self.c.val() => {}
            _ => {}
        }),
        "match guards",
    );
    assert_refused(quote!(println!("{}", 1);), "does not translate");
}

#[test]
fn wrong_places_for_the_attributes() {
    let kernel: ItemFn = syn::parse_quote!(
        fn step(&mut self) {}
    );
    assert!(expand_update(&kernel)
        .unwrap_err()
        .to_string()
        .contains("#[hdl] belongs on"));
    let helper: ItemFn = syn::parse_quote!(
        fn f(&self) -> Bit {
            true
        }
    );
    assert!(expand_helper(&helper)
        .unwrap_err()
        .to_string()
        .contains("free function"));
}

#[track_caller]
fn assert_no_bundle(rules: proc_macro2::TokenStream, bundle: ItemStruct, message: &str) {
    let error = bundle::expand(rules, &bundle)
        .expect_err("must be refused")
        .to_string();
    assert!(error.contains(message), "said: {error}");
}

#[test]
fn bundles_of_other_names_rules_and_fields() {
    assert_no_bundle(
        quote!(keep),
        syn::parse_quote!(
            struct Stream {
                valid: Signal<Out, Bit>,
            }
        ),
        "under a name that ends in `Src`",
    );
    assert_no_bundle(
        quote!(hold),
        syn::parse_quote!(
            struct StreamSrc {
                valid: Signal<Out, Bit>,
            }
        ),
        "no rule of a bundle; there are keep, frames",
    );
    assert_no_bundle(
        quote!(),
        syn::parse_quote!(
            struct StreamSrc {
                valid: bool,
            }
        ),
        "a field of a bundle is",
    );
}

#[test]
fn connections_of_what_is_no_port() {
    assert_refused(
        quote!(join!(self, a.val() => b);),
        "name a port without `self`",
    );
    assert_refused(
        quote!(let x = { join!(self, a => b); self.c.val() };),
        "cannot be driven inside",
    );
}
