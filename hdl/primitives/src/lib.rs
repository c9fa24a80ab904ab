//! Streams, FIFOs, RAMs, arbiters, CRC and other building blocks.
