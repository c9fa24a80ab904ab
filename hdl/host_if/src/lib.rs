//! Host interface in hardware: doorbells, registers, completion and event queues.
