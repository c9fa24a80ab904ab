//! Asks for the memory that hosts need next ([`stellar_fetch`]). Nothing here changes a run.

use arrayvec::ArrayVec;
use sim_net::{Coming, Fabric, AHEAD};
use stellar_fetch::fetch;
use stellar_transport::endpoint::Endpoint;

use crate::host::Host;
use crate::Carrier;

/// Asks for what the next deliveries and transmissions need. A step reads what the step before asked for, so each goes through all hosts.
#[inline(never)]
pub(crate) fn look_ahead<C: Carrier>(fabric: &Fabric<C>, hosts: &[Host]) {
    let cards: ArrayVec<_, AHEAD> = fabric
        .coming()
        .map(|coming| {
            let (id, parcel) = match coming {
                Coming::Delivery(id, parcel) => (id, Some(parcel)),
                Coming::PortFree(id, _) => (id, None),
            };
            let host = &hosts[id.0 as usize];
            fetch(host);
            (&host.endpoint, parcel)
        })
        .collect();
    for step in [Endpoint::fetch_queues, Endpoint::fetch_senders] {
        for (card, _) in &cards {
            step(card);
        }
    }
    let queue_pairs = cards.iter().filter_map(|&(card, parcel)| {
        let qp = match parcel {
            Some(parcel) => parcel.dest_qp(),
            None => card.next_sender(0).or_else(|| card.next_sender(1)),
        };
        Some((card, qp?, parcel.is_none_or(C::is_for_requester)))
    });
    let queue_pairs: ArrayVec<_, AHEAD> = queue_pairs.collect();
    for step in [Endpoint::fetch_entries, Endpoint::fetch_qp] {
        for &(card, qp, _) in &queue_pairs {
            step(card, qp);
        }
    }
    // Data that arrives is the responder's, and the requester's many lines would only be in the way.
    for step in [Endpoint::fetch_requester, Endpoint::fetch_window] {
        for &(card, qp, needs_requester) in &queue_pairs {
            if needs_requester {
                step(card, qp);
            }
        }
    }
}
