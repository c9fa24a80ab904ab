//! Bit-exact software reference of the transport.
