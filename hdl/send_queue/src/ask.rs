//! What the message table asks the prefetch.

use hdl_macros::hdl_fn;
use stellar_wire::hw::messages::{MessageRequest, SendQueueConfig};

use crate::message_step::Effect;
use crate::records::{Ask, QueueRow};

/// Returns the request to the prefetch that a step makes, if it does. `row`: the row before the step. No logic.
#[hdl_fn]
pub fn ask_of(
    effect: Effect,
    asked: MessageRequest,
    settings: SendQueueConfig,
    row: QueueRow,
) -> Ask {
    Ask {
        kind: effect.ask_kind,
        qp: asked.qp,
        base: settings.base,
        log2_entries: settings.log2_entries,
        long_entries: settings.long_entries,
        mtu_log2: settings.mtu_log2,
        slot: effect.ask_slot,
        producer: asked.slot,
        block: row.first_block,
        chain: row.chain,
    }
}
