//! Transport ACKs of MRC, which another card may send: a NAK says why it refuses a request.

use stellar_wire::host::WcStatus;
use stellar_wire::{NakCode, Syndrome};

use WcStatus::{RemAccessErr, RemInvReqErr, RemOpErr, Success, WrFlushErr};

use crate::endpoint::network::{Fate, Refusal};
use crate::endpoint::pair::{statuses, write, Pair};

const QP: u32 = 5;
/// Packet of the second message.
const SECOND: u32 = 0x1001;

/// Three messages of one packet. The first transmission of the second one is answered with a Transport ACK with this syndrome.
fn answered(syndrome: Syndrome) -> Pair {
    let mut told = false;
    let mut pair = Pair::mrc(move |seen| {
        let is_second = seen.is_data() && seen.psn() == SECOND && !told;
        told |= is_second;
        Fate {
            refused: is_second.then_some(Refusal::Nak(syndrome)),
            ..Fate::default()
        }
    });
    for wr_id in 1..=3 {
        pair.post(QP, write(100 * wr_id, 100 * wr_id, 50, wr_id));
        if wr_id == 1 {
            pair.run();
        }
    }
    pair
}

#[test]
fn a_nak_fails_its_message_with_its_reason() {
    for (code, status) in [
        (NakCode::InvalidRequest, RemInvReqErr),
        (NakCode::RemoteAccessError, RemAccessErr),
        (NakCode::RemoteOperationalError, RemOpErr),
    ] {
        let mut pair = answered(Syndrome::Nak(code));
        pair.run();
        assert_eq!(
            statuses(&pair.completions(0, QP)),
            [(1, Success), (2, status), (3, WrFlushErr)],
            "{code:?}"
        );
        let counters = pair.cards[0].qp_counters(QP).expect("counters");
        assert_eq!((counters.nacks_fatal, counters.timeouts), (1, 0));
    }
}

#[test]
fn other_contents_change_nothing() {
    for syndrome in [
        Syndrome::Ack { credits: 31 },
        Syndrome::RnrNak { timer: 3 },
        Syndrome::Nak(NakCode::PsnSequenceError),
        Syndrome::Reserved(0xe1),
    ] {
        let mut pair = answered(syndrome);
        pair.finish(QP, 1..=3);
        let counters = pair.cards[0].qp_counters(QP).expect("counters");
        assert_eq!((counters.nacks_fatal, counters.nacks_ignored), (0, 1));
    }
}
