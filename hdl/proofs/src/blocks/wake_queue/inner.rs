//! What the properties see of the queue.

use hdl_macros::bundle;
use rust_hdl::prelude::*;

/// Registers and memories of a queue of 4 queue pairs.
#[bundle]
pub struct QueueInsideSrc {
    pub taken: Signal<Out, Bit>,
    pub named: Signal<Out, Bit>,
    pub read_qp: Signal<Out, Bits<2>>,
    pub clearing: Signal<Out, Bit>,
    pub planes: Signal<Out, Bits<2>>,
    pub sweep: Signal<Out, Bits<3>>,
    pub raised_memory: [Signal<Out, Bit>; 4],
    pub lowered_memory: [Signal<Out, Bit>; 4],
    pub raised_read_data: Signal<Out, Bit>,
    pub lowered_read_data: Signal<Out, Bit>,

    pub queue_memory_memory: [Signal<Out, Bits<3>>; 4],
    pub queue_memory_read_data: Signal<Out, Bits<3>>,
    pub queue_write_pointer: Signal<Out, Bits<2>>,
    pub queue_read_pointer: Signal<Out, Bits<2>>,
    pub queue_held: Signal<Out, Bits<3>>,
    pub queue_head_read: Signal<Out, Bit>,
}
