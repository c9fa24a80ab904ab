//! Checks of a block's parameters when the block is constructed.

use std::marker::PhantomData;

/// A block whose parameters have rules. A field `_parameters: Checked<Self>` applies them when the block is constructed by its derived
/// `Default`; it stands first, so that a wrong parameter is reported before it upsets a sub-block.
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
