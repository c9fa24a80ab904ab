//! Send queues in hardware: WQE fetch, messages under way, completion in order (`docs/transmit.md`).
