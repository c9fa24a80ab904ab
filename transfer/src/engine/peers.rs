//! Peers: offers, connections, and their end.

use stellar_wire::transfer::ControlBlock;

use super::Engine;
use crate::error::{ConnectError, LinkError, PeerLost, SetupError, SubmitError};
use crate::ids::{EngineId, PeerId};
use crate::link::Link;
use crate::nic::{Access, Nic, QueueDepth};
use crate::offer::{LinkOffer, Offered};

const fn of_nic(rail: usize) -> impl Fn(crate::NicError) -> SetupError {
    move |error| SetupError::Nic { rail, error }
}

impl<N: Nic> Engine<N> {
    /// Makes queue pairs and memory for a peer. Each of two engines makes an offer, sends it to the other one out of band, and connects to the
    /// other's offer. [`crate::join`] does all of this over a stream.
    ///
    /// # Errors
    /// [`SetupError::Nic`].
    pub fn offer(&self) -> Result<Offered<N>, SetupError> {
        let config = &self.config;
        let rails = self.nics.len();
        // The engine itself needs these in addition to its user's writes: a credit for each queue pair, and a notification when the link is
        // disconnected.
        let writes = config.depth + rails as u32 + 2;
        let mut qps = Vec::new();
        for rail in (0..rails).chain([0]) {
            let immediates = if qps.len() == rails {
                config.slots.into()
            } else {
                config.immediates
            };
            let depth = QueueDepth { writes, immediates };
            qps.push(self.nics[rail].create(depth).map_err(of_nic(rail))?);
        }
        let block = ControlBlock {
            channels: qps.len() as u32,
            slots: config.slots,
            slot_bytes: config.slot_bytes,
        };
        let first = &self.nics[0];
        let memory = self.allocate(block.bytes())?;
        let region = first.register(&memory, Access::RemoteWrite);
        let region = region.map_err(of_nic(0))?;
        let address = |(index, qp): (usize, &N::QueuePair)| self.nics[index % rails].address(qp);
        Ok(Offered {
            offer: LinkOffer {
                engine: self.id(),
                channels: qps.iter().enumerate().map(address).collect(),
                immediates: config.immediates,
                slots: config.slots,
                slot_bytes: config.slot_bytes,
                control: first.remote(&region),
            },
            qps,
            memory,
            region,
        })
    }

    /// Connects to the peer that made `theirs` and got `offered`. Send nothing before the peer has connected, too.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect(
        &mut self,
        offered: Offered<N>,
        theirs: &LinkOffer<N::Address>,
    ) -> Result<PeerId, ConnectError> {
        let engine = theirs.engine();
        if engine == self.id() {
            return Err(ConnectError::Itself(engine));
        }
        let old = self.by_engine.get(&engine);
        if old.is_some_and(|peer| self.check_peer(*peer).is_ok()) {
            return Err(ConnectError::Connected(engine));
        }
        theirs.check(offered.qps.len())?;
        let rails = self.nics.len();
        let staging = Link::stage(&self.nics[0], theirs).map_err(of_nic(0))?;
        let ends = offered.qps.iter().zip(&theirs.channels);
        for (index, (qp, address)) in ends.enumerate() {
            let rail = index % rails;
            let connected = self.nics[rail].connect(qp, address);
            connected.map_err(of_nic(rail))?;
        }
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        let depth = self.config.depth as usize;
        let link = Link::new(offered, theirs, staging, depth);
        for (index, channel) in link.channels.iter().enumerate() {
            let number = self.nics[channel.rail].number(&channel.qp);
            self.by_qp.insert((channel.rail, number), (peer, index));
        }
        self.links.insert(peer, link);
        self.by_engine.insert(engine, peer);
        Ok(peer)
    }

    /// Disconnects a link. Everything that depends on it ends with [`LinkError::Disconnected`], and the peer is notified. No effect if the link is
    /// down.
    pub fn disconnect(&mut self, peer: PeerId) {
        let mut effects = Vec::new();
        if let Some(link) = self.links.get_mut(&peer) {
            link.fail(&self.nics, LinkError::Disconnected, &mut effects);
        }
        self.apply(peer, effects);
    }

    /// The peer with this engine, if it is connected.
    ///
    /// # Errors
    /// [`SubmitError::UnknownEngine`], [`SubmitError::Lost`].
    pub fn peer(&self, engine: EngineId) -> Result<PeerId, SubmitError> {
        let peer = self.by_engine.get(&engine);
        let peer = *peer.ok_or(SubmitError::UnknownEngine(engine))?;
        self.check_peer(peer)?;
        Ok(peer)
    }

    pub(super) fn check_peer(&self, peer: PeerId) -> Result<&Link<N>, SubmitError> {
        let link = self.links.get(&peer);
        let link = link.ok_or(SubmitError::UnknownPeer(peer))?;
        match link.lost() {
            None => Ok(link),
            Some(reason) => Err(PeerLost {
                peer,
                reason: reason.clone(),
            }
            .into()),
        }
    }

    /// Frees links that are down, have no outstanding writes, and were reported to the application.
    pub(super) fn reap(&mut self) {
        let Self { links, seen, .. } = self;
        let is_over = |peer: &PeerId| links.get(peer).is_none_or(Link::is_idle);
        let over: Vec<PeerId> = seen.iter().copied().filter(is_over).collect();
        for peer in over {
            seen.remove(&peer);
            links.remove(&peer);
            self.by_qp.retain(|_, (owner, _)| *owner != peer);
            self.by_engine.retain(|_, known| *known != peer);
        }
    }
}
