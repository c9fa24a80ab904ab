//! Invalidations of ATS: from the root complex to the card, and back.

use std::collections::VecDeque;

use sim_bfm::Beat;
use sim_pcie::ats::{InvalidateRequest, InvalidationDone, Message};
use sim_pcie::platform::FUNCTIONS;
use sim_pcie::{FabricError, PortId};
use stellar_wire::host::config_space::Function;
use stellar_wire::pcie::descriptor;
use stellar_wire::Header;

use super::{HostPcie, HostSide};
use crate::model::CqBeat;

/// Messages for a function of the card.
#[derive(Default)]
pub struct Messages {
    waiting: VecDeque<CqBeat>,
    /// Sender of the last one: the translation agent.
    agent: Option<u16>,
}

impl Messages {
    /// Forgets what the card has not taken.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// The message that is on offer in this cycle. It stays until it is taken.
    pub fn offer<M: HostSide>(&mut self, port: PortId, pcie: &mut HostPcie<M>) -> Option<CqBeat> {
        while let Some(request) = pcie.take_invalidation(port) {
            let message = descriptor::InvalidateRequest {
                requester: request.requester.id(),
                device: request.device.id(),
                tag: request.tag,
                address: request.iova,
                len: request.len,
            };
            self.agent = Some(message.requester);
            self.waiting.push_back(CqBeat {
                beat: Beat::new(&message.to_bytes(), true),
                first_be: 0,
                last_be: 0,
            });
        }
        self.waiting.front().cloned()
    }

    /// The card has taken it.
    pub fn taken(&mut self) {
        self.waiting.pop_front();
    }

    /// Checks a completion of the card.
    ///
    /// # Panics
    /// If it does not go to the translation agent, or is one of several.
    pub fn check(&self, completion: &descriptor::InvalidateCompletion) {
        assert_eq!(
            (Some(completion.target), completion.count),
            (self.agent, 1),
            "the card completes invalidations: {completion:?}"
        );
    }
}

impl<M: HostSide> HostPcie<M> {
    /// Has the root complex tell a function that translations are invalid, and returns the ITag ([`sim_pcie::Fabric::invalidate_device`]).
    ///
    /// # Errors
    /// As of [`sim_pcie::Fabric::invalidate_device`].
    pub fn invalidate(
        &mut self,
        function: Function,
        iova: u64,
        len: u64,
    ) -> Result<u8, FabricError> {
        let now = self.fabric.now();
        let function = FUNCTIONS[function.endpoint()];
        self.fabric.invalidate_device(now, function, iova, len)
    }

    /// The invalidations that functions have completed since the last call, in order.
    pub fn take_invalidations_done(&mut self) -> Vec<(Function, InvalidationDone)> {
        let done = self.fabric.take_invalidations_done();
        let function = |done: &InvalidationDone| {
            let at = |function: &Function| FUNCTIONS[function.endpoint()] == done.function;
            Function::ALL.into_iter().find(at)
        };
        done.into_iter()
            .filter_map(|done| Some((function(&done)?, done)))
            .collect()
    }

    /// The next Invalidate Request that has arrived at a port.
    pub(super) fn take_invalidation(&mut self, port: PortId) -> Option<InvalidateRequest> {
        match self.fabric.take_message(port).expect("both ports exist")? {
            Message::InvalidateRequest(request) => Some(request),
            // The root complex gets these.
            Message::InvalidateCompletion(_) => unreachable!("a completion at a card's endpoint"),
        }
    }

    /// Whether a port can take a message.
    pub(super) fn message_ready(&mut self, port: PortId) -> bool {
        let now = self.fabric.now();
        self.fabric
            .ready_for_message(now, port)
            .expect("both ports exist")
    }

    pub(super) fn complete_invalidations(&mut self, port: PortId, tags: u32) {
        let now = self.fabric.now();
        self.fabric
            .complete_invalidations(now, port, tags)
            .unwrap_or_else(|error| panic!("the card at its PCIe port: {error}"));
    }
}
