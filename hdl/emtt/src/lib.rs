//! Memory regions and extended memory translation table.
