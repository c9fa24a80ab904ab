//! Generic bundles of streams: one record, or word, per transfer.
//!
//! A transfer takes place in a cycle with `valid` and `ready`. Once `valid`, a source holds its offer and its payload until then; a source that may
//! withdraw or change an offer says so by its type ([`OfferSrc`]). A bundle without `ready` cannot be stalled: each cycle with `valid` is a transfer.

use hdl_macros::bundle;
use hdl_macros_support::Join;
use rust_hdl::core::ast::VerilogStatement;
use rust_hdl::prelude::*;

/// The driving end of a stream of records.
#[bundle(keep)]
pub struct Src<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub record: Signal<Out, T>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of records whose source may withdraw an offer or offer another record instead, as long as `ready` is low.
#[bundle]
pub struct OfferSrc<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub record: Signal<Out, T>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of records that cannot be stalled.
#[bundle]
pub struct FlowSrc<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub record: Signal<Out, T>,
}

/// The driving end of a stream of words: as [`Src`], with a port of its own name for the payload (`in_data` where [`Src`] has `in`).
#[bundle(keep)]
pub struct DataSrc<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, T>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream like [`DataSrc`], but the source may withdraw an offer or offer another word instead, as long as `ready` is low.
#[bundle]
pub struct DataOfferSrc<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, T>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of a stream of words that cannot be stalled.
#[bundle]
pub struct DataFlowSrc<T: Synth> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, T>,
}

/// Joins streams whose payload ports have different names, and sources that hold their offers with sinks that accept offers that change.
macro_rules! join_payloads {
    ($($from:ident.$sent:ident => $to:ident.$taken:ident;)*) => {$(
        impl<T: Synth> Join<$to<T>> for $from<T> {
            fn join(&mut self, to: &mut $to<T>) {
                Join::join(&mut self.valid, &mut to.valid);
                Join::join(&mut self.$sent, &mut to.$taken);
                Join::join(&mut to.ready, &mut self.ready);
            }
            fn mark_driven(&mut self, to: &mut $to<T>) {
                Join::mark_driven(&mut self.valid, &mut to.valid);
                Join::mark_driven(&mut self.$sent, &mut to.$taken);
                Join::mark_driven(&mut to.ready, &mut self.ready);
            }
            fn assign(from: &str, to: &str, statements: &mut Vec<VerilogStatement>) {
                let mut assign = |to: String, from: String| {
                    <Signal<Out, T> as Join<Signal<In, T>>>::assign(&from, &to, statements);
                };
                assign(format!("{to}$valid"), format!("{from}$valid"));
                assign(
                    format!("{to}${}", stringify!($taken)),
                    format!("{from}${}", stringify!($sent)),
                );
                assign(format!("{from}$ready"), format!("{to}$ready"));
            }
        }
    )*};
}
join_payloads! {
    DataSrc.data => Snk.record;
    DataSrc.data => Src.record;
    Snk.record => DataOfferSnk.data;
    Src.record => DataSnk.data;
    Src.record => DataOfferSnk.data;
    Snk.record => DataSnk.data;
    Src.record => OfferSnk.record;
    Snk.record => OfferSnk.record;
    Src.record => OfferSrc.record;
}
