//! Every block: its Verilog against its own rust-hdl simulation, then the Verilated model against plain Rust.
mod byte_mask;
mod byte_rotator;
mod crc32;
mod credit;
mod delay_counter;
mod fifo;
mod protocol;
mod ram;
mod round_robin;
mod round_robin_ahead;
mod stream;
mod stream_skid;
