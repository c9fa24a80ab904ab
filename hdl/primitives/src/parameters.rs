//! Checks of a block's parameters when the block is constructed.

use std::marker::PhantomData;

/// A block whose parameters have rules. The field `_parameters: Checked<Self>` checks them when the block is constructed by its derived `Default`. It
/// must be the first field, so that a wrong parameter is reported before it causes an error in a sub-block.
pub trait Parameters {
    /// Checks the parameters.
    ///
    /// # Panics
    /// For a wrong one, with a message that says what to change.
    fn check();
}

/// A field that exists only if the parameters of `B` are right.
#[derive(Clone, Debug)]
pub struct Checked<B>(PhantomData<fn() -> B>);

impl<B: Parameters> Default for Checked<B> {
    fn default() -> Self {
        B::check();
        Self(PhantomData)
    }
}
