//! Asks for the memory that hosts need next ([`stellar_fetch`]). Nothing here changes a run.

use sim_net::{Coming, Fabric};
use stellar_fetch::fetch;
use stellar_transport::endpoint::Endpoint;

use crate::host::Host;
use crate::Carrier;

/// Asks for what the next deliveries and transmissions need. A step reads what the step before asked for, so each goes through all hosts.
#[inline(never)]
pub(crate) fn look_ahead<C: Carrier>(fabric: &Fabric<C>, hosts: &[Host]) {
    let host_of = |coming: &Coming<'_, C>| {
        let (Coming::Delivery(id, _) | Coming::PortFree(id, _)) = *coming;
        &hosts[id.0 as usize]
    };
    for coming in fabric.coming() {
        fetch(host_of(&coming));
        if let Coming::Delivery(_, parcel) = coming {
            fetch(parcel);
        }
    }
    for step in [Endpoint::fetch_queues, Endpoint::fetch_senders] {
        for coming in fabric.coming() {
            step(&host_of(&coming).endpoint);
        }
    }
    for step in [
        Endpoint::fetch_entries,
        Endpoint::fetch_qp,
        Endpoint::fetch_requester,
        Endpoint::fetch_window,
    ] {
        for coming in fabric.coming() {
            let card = &host_of(&coming).endpoint;
            let qp = match coming {
                Coming::Delivery(_, parcel) => parcel.dest_qp(),
                Coming::PortFree(..) => card.next_sender(0).or_else(|| card.next_sender(1)),
            };
            if let Some(qp) = qp {
                step(card, qp);
            }
        }
    }
}
