//! A part that only some shapes of a block have.

use std::ops::{Deref, DerefMut};

use rust_hdl::prelude::*;

/// A sub-block or a port group that is there or not, as the parameters of its block say. Where it is not, nothing is emitted. `update` may name it only where
/// these parameters say that it is there.
#[derive(Clone, Debug)]
pub struct Optional<B>(Option<B>);

impl<B: Default> Optional<B> {
    /// The part, if `is_there`.
    pub fn new(is_there: bool) -> Self {
        Self(is_there.then(B::default))
    }
}

impl<B> Deref for Optional<B> {
    type Target = B;

    fn deref(&self) -> &B {
        self.0.as_ref().expect("the part is there in this shape")
    }
}

impl<B> DerefMut for Optional<B> {
    fn deref_mut(&mut self) -> &mut B {
        self.0.as_mut().expect("the part is there in this shape")
    }
}

impl<B: Block> Block for Optional<B> {
    fn connect_all(&mut self) {
        self.0.iter_mut().for_each(B::connect_all);
    }

    fn update_all(&mut self) {
        self.0.iter_mut().for_each(B::update_all);
    }

    fn has_changed(&self) -> bool {
        self.0.as_ref().is_some_and(B::has_changed)
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        if let Some(block) = &self.0 {
            block.accept(name, probe);
        }
    }
}

impl<B: Logic> Logic for Optional<B> {
    fn update(&mut self) {}
}
