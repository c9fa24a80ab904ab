//! Two-sided messages, requests and responses.

use stellar_wire::transfer::{MessageImmediate, MessageKind};

use super::{Engine, Pending, UnderWay};
use crate::error::{ProtocolError, SubmitError};
use crate::event::{Event, Notify};
use crate::ids::{CallId, PeerId, RequestId, TransferId};
use crate::messages::Letter;
use crate::nic::Nic;

impl<N: Nic> Engine<N> {
    /// Sends a message. The peer gets an [`Event::Message`], and this engine gets an [`Event::Done`] when the message is in the peer's memory.
    /// Messages may overtake each other and all other writes.
    ///
    /// # Errors
    /// [`SubmitError`].
    pub fn send(&mut self, peer: PeerId, bytes: &[u8]) -> Result<TransferId, SubmitError> {
        self.post(peer, MessageKind::Message, 0, bytes, Notify::Event)
    }

    /// Sends a request. The peer gets an [`Event::Request`], and this engine gets an [`Event::Response`] when the peer has replied.
    ///
    /// # Errors
    /// [`SubmitError`].
    pub fn call(&mut self, peer: PeerId, bytes: &[u8]) -> Result<CallId, SubmitError> {
        let tag = self.free_tag(peer);
        self.post(peer, MessageKind::Request, tag, bytes, Notify::Nobody)?;
        let call = CallId { peer, tag };
        self.calls.insert(call);
        self.next_tag = (tag + 1) % MessageImmediate::TAGS;
        Ok(call)
    }

    /// Replies to a request. An [`Event::Done`] follows when the reply is in the peer's memory.
    ///
    /// # Errors
    /// [`SubmitError`]; then the request is still open.
    pub fn reply(&mut self, request: RequestId, bytes: &[u8]) -> Result<TransferId, SubmitError> {
        let RequestId { peer, tag } = request;
        if !self.requests.contains(&request) {
            self.check_peer(peer)?;
            return Err(SubmitError::NoRequest(peer));
        }
        let id = self.post(peer, MessageKind::Response, tag, bytes, Notify::Event)?;
        self.requests.remove(&request);
        Ok(id)
    }

    /// A tag that no open call to the peer uses. There are more tags than calls.
    fn free_tag(&self, peer: PeerId) -> u32 {
        let is_free = |tag: &u32| !self.calls.contains(&CallId { peer, tag: *tag });
        let all = 0..MessageImmediate::TAGS;
        let mut tags = all.map(|n| (self.next_tag + n) % MessageImmediate::TAGS);
        tags.find(is_free).unwrap_or(self.next_tag)
    }

    fn post(
        &mut self,
        peer: PeerId,
        kind: MessageKind,
        tag: u32,
        bytes: &[u8],
        notify: Notify,
    ) -> Result<TransferId, SubmitError> {
        self.check_room()?;
        let most = self.check_peer(peer)?.slot_bytes();
        let length = bytes.len();
        if length > most as usize {
            return Err(SubmitError::MessageTooLong { peer, length, most });
        }
        let id = self.new_id();
        let under_way = UnderWay {
            left: 1,
            lost: None,
            peers: [peer].into(),
            notify,
        };
        self.transfers.insert(id, under_way);
        if let Some(link) = self.links.get_mut(&peer) {
            let bytes = bytes.to_vec();
            link.enqueue_letter(Letter {
                kind,
                tag,
                bytes,
                id,
            });
        }
        Ok(id)
    }

    /// Processes a message that has arrived.
    pub(super) fn received(
        &mut self,
        peer: PeerId,
        what: MessageImmediate,
        number: u64,
        bytes: Vec<u8>,
    ) -> Result<(), ProtocolError> {
        let tag = what.tag;
        let event = match what.kind {
            MessageKind::Message => Event::Message { peer, bytes },
            MessageKind::Request => {
                let request = RequestId { peer, tag };
                if !self.requests.insert(request) {
                    return Err(ProtocolError::Tag(tag));
                }
                Event::Request { request, bytes }
            }
            MessageKind::Response => {
                let call = CallId { peer, tag };
                if !self.calls.remove(&call) {
                    return Err(ProtocolError::Tag(tag));
                }
                let result = Ok(bytes);
                Event::Response { call, result }
            }
        };
        let message = Some((peer, number));
        self.events.push_back(Pending { event, message });
        Ok(())
    }
}
