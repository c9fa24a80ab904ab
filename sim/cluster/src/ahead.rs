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
            (host, parcel)
        })
        .collect();
    for step in [Endpoint::fetch_queues, Endpoint::fetch_senders] {
        for (host, _) in &cards {
            step(&host.endpoint);
        }
    }
    let queue_pairs = cards.iter().filter_map(|&(host, parcel)| {
        let card = &host.endpoint;
        let qp = match parcel {
            Some(parcel) => parcel.dest_qp()?,
            None => card.next_sender(0).or_else(|| card.next_sender(1))?,
        };
        // What leaves next goes there: a packet, or an answer.
        host.fetch_peer(qp);
        let psn = parcel.and_then(C::subject);
        Some((card, qp, psn, parcel.is_none_or(C::is_for_requester)))
    });
    let queue_pairs: ArrayVec<_, AHEAD> = queue_pairs.collect();
    for step in [Endpoint::fetch_entries, Endpoint::fetch_qp] {
        for &(card, qp, ..) in &queue_pairs {
            step(card, qp);
        }
    }
    // Data that arrives is the responder's, and the requester's many lines would only be in the way.
    for &(card, qp, psn, needs_requester) in &queue_pairs {
        match psn {
            _ if needs_requester => card.fetch_requester(qp),
            Some(psn) => card.fetch_arrival(qp, psn),
            None => {}
        }
    }
    for &(card, qp, psn, needs_requester) in &queue_pairs {
        if needs_requester {
            card.fetch_window(qp, psn);
        }
    }
}
