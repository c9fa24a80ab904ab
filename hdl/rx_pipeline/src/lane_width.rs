//! The lane widths that the front end supports.

/// A field of every block that depends on the width: constructing it with another width panics.
pub(crate) struct LaneWidth<const W: usize>;

impl<const W: usize> Default for LaneWidth<W> {
    fn default() -> Self {
        assert!(
            W == 512 || W == 1024,
            "a lane of {W} bits: the front end is made for 512 or 1024, as its headers must fit two beats"
        );
        Self
    }
}
