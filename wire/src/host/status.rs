//! Completion status.

use crate::code_enum::code_enum;

code_enum! {
    /// Completion status: names and values of `enum ibv_wc_status` (libibverbs), `IBV_WC_` left out. The values that
    /// belong to datagrams, memory windows and end-to-end contexts cannot occur and are not here.
    pub enum WcStatus {
        /// Done: for a write, the responder has acknowledged every packet.
        Success = 0,
        /// The work request's length does not fit its kind (more inline data than the entry holds).
        LocLenErr = 1,
        /// The work request cannot be executed: undefined opcode, stale slot.
        LocQpOpErr = 2,
        /// Local key, protection domain, bounds or page of the local buffer, or the memory did not answer.
        LocProtErr = 4,
        /// Not executed, or its outcome unknown: the queue pair was in error.
        WrFlushErr = 5,
        /// The responder sent something no rule allows.
        BadRespErr = 7,
        /// The responder refused the request as malformed (NAK 0x61).
        RemInvReqErr = 9,
        /// The responder refused access (NAK 0x62).
        RemAccessErr = 10,
        /// The responder failed (NAK 0x63, MRC NACK 25).
        RemOpErr = 11,
        /// The retry budget is spent.
        RetryExcErr = 12,
        /// The responder stayed not ready.
        RnrRetryExcErr = 13,
        /// Anything else.
        GeneralErr = 21,
    }
}
