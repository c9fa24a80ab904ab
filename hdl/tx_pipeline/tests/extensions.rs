//! Random extension headers, as the records of the lane hold them.

use hdl_testkit::equivalence::{Random, TestRng};
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_wire::hw::tx::{TxAeth, TxCcState, TxNeth, TxSeth};

/// A random AETH.
pub fn aeth(rng: &mut TestRng) -> TxAeth {
    TxAeth {
        syndrome: Bits::random(rng),
        msn: Bits::random(rng),
    }
}

/// A random SETH.
pub fn seth(rng: &mut TestRng) -> TxSeth {
    TxSeth {
        path_hint: u64::from(rng.random_range(0..3u8)).to_bits(),
        probe_response: rng.random(),
        ack_psn_offset: Bits::random(rng),
        cack_psn: Bits::random(rng),
        mpr: Bits::random(rng),
        sack_offset: Bits::random(rng),
        bitmap: Bits::random(rng),
    }
}

/// A random congestion control state.
pub fn cc_state(rng: &mut TestRng) -> TxCcState {
    TxCcState {
        timestamp: Bits::random(rng),
        ooo_count: Bits::random(rng),
        restore_cwnd: rng.random(),
        rcv_cwnd_pen: Bits::random(rng),
        rcvd_bytes: Bits::random(rng),
    }
}

/// A random NETH.
pub fn neth(rng: &mut TestRng) -> TxNeth {
    TxNeth {
        reason: Bits::random(rng),
        vendor_info: Bits::random(rng),
        nack_psn: Bits::random(rng),
        timestamp: Bits::random(rng),
    }
}
