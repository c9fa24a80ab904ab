//! Connections of signals, bundles and arrays of them.
use rust_hdl_core::ast::{VerilogExpression, VerilogStatement};
use rust_hdl_core::direction::{In, Local, Out};
use rust_hdl_core::logic::Logic;
use rust_hdl_core::signal::Signal;
use rust_hdl_core::synth::Synth;

/// An end that drives the end `To`, which in turn drives the signals of the other direction (`ready`).
///
/// The types of the ends tell the kinds of connection apart: an output of a sub-block drives an input of another or an output of the block, and
/// an input of the block drives an input of a sub-block or an output of the block.
pub trait Join<To> {
    /// Passes values on, in a native simulation.
    fn join(&mut self, to: &mut To);
    /// Marks the signals that this connection drives as driven.
    fn mark_driven(&mut self, to: &mut To);
    /// Appends the assignments between the ends with the flat names `from` and `to`.
    fn assign(from: &str, to: &str, statements: &mut Vec<VerilogStatement>);
}

macro_rules! join_signals {
    ($from:ident, $to:ident) => {
        impl<T: Synth> Join<Signal<$to, T>> for Signal<$from, T> {
            fn join(&mut self, to: &mut Signal<$to, T>) {
                to.next = self.val();
            }
            fn mark_driven(&mut self, to: &mut Signal<$to, T>) {
                to.connect();
            }
            fn assign(from: &str, to: &str, statements: &mut Vec<VerilogStatement>) {
                statements.push(VerilogStatement::Assignment(
                    VerilogExpression::Signal(to.into()),
                    VerilogExpression::Signal(from.into()),
                ));
            }
        }
    };
}
join_signals!(Out, In);
join_signals!(In, In);
join_signals!(Out, Out);
join_signals!(In, Out);
join_signals!(Local, In);

impl<From: Join<To>, To, const N: usize> Join<[To; N]> for [From; N] {
    fn join(&mut self, to: &mut [To; N]) {
        self.iter_mut().zip(to).for_each(|(from, to)| from.join(to));
    }
    fn mark_driven(&mut self, to: &mut [To; N]) {
        let ends = self.iter_mut().zip(to);
        ends.for_each(|(from, to)| from.mark_driven(to));
    }
    fn assign(from: &str, to: &str, statements: &mut Vec<VerilogStatement>) {
        for i in 0..N {
            From::assign(&format!("{from}${i}"), &format!("{to}${i}"), statements);
        }
    }
}

/// Appends the assignments that connect two ends of the types `From` and `To`.
pub fn assign_join<From: Join<To>, To>(
    _from: &From,
    _to: &To,
    names: (&str, &str),
    statements: &mut Vec<VerilogStatement>,
) {
    From::assign(names.0, names.1, statements);
}
