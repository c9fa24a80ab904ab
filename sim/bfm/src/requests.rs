//! The receiver of AMD's requester request stream: TLPs out of beats.

use arrayvec::ArrayVec;
use stellar_wire::pcie::descriptor::{
    is_ats_message, InvalidateCompletion, RequestType, RequesterRequest,
};
use stellar_wire::pcie::sideband::{dword_bits, request as sideband};
use stellar_wire::Header;

use crate::beat::append_bytes;
use crate::bits::field;
use crate::tlp_error::TlpError;
use crate::BEAT;

/// Bytes of a slot: requests begin at multiples of it.
const SLOT: usize = 32;
/// Double words of the descriptor.
const DESCRIPTOR: usize = RequesterRequest::LEN / 4;
/// Most requests that begin, or end, in the widest beat.
pub(crate) const PLACES: usize = sideband::places(8 * BEAT);

/// A request with everything that the stream says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its descriptor.
    pub descriptor: RequesterRequest,
    /// Byte enables of its first double word.
    pub first_be: u8,
    /// Byte enables of its last double word.
    pub last_be: u8,
    /// Payload, empty for a read.
    pub payload: Vec<u8>,
}

/// What a beat adds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Descriptors of the requests that begin in the beat.
    pub begun: ArrayVec<RequesterRequest, PLACES>,
    /// The requests that end in the beat.
    pub complete: ArrayVec<Request, PLACES>,
    /// Messages, each with the number of requests in `complete` that end before it.
    pub messages: Vec<(usize, InvalidateCompletion)>,
}

/// Takes TLPs out of beats with straddle, and checks the rules of the stream: TLPs follow each other at multiples of 32 bytes, beats in the middle of a
/// TLP are full, the sideband signals name every start and end in order, and a TLP is as long as its descriptor says.
pub struct RequestReader {
    /// Bits of a beat.
    width: usize,
    open: Option<Request>,
    beats: u64,
}

impl RequestReader {
    /// For beats of `width` bits, 512 or 1,024.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            open: None,
            beats: 0,
        }
    }

    /// Whether no TLP has begun that has not ended.
    pub fn between_requests(&self) -> bool {
        self.open.is_none()
    }

    /// Adds a beat: its data, and `tuser`.
    ///
    /// # Errors
    /// [`TlpError::Straddle`] if the beat breaks a rule of the stream.
    pub fn push(&mut self, data: &[u32], user: &[u32]) -> Result<Requests, TlpError> {
        self.beats += 1;
        let beat = self.beats;
        let broken = |rule| TlpError::Straddle { beat, rule };
        let width = self.width;
        let places = sideband::places(width);
        if field(user, sideband::discontinue(width), 1) != 0 {
            let open = self.open.take();
            return open
                .map(|_| Requests::default())
                .ok_or_else(|| broken("nothing can be discontinued"));
        }
        // Bit n: the n-th place has a start, or an end.
        let starts = field(user, sideband::starts(width, 0), places);
        let ends = field(user, sideband::ends(width, 0), places);
        // Whether the n-th end is before this double word.
        let ends_at = |n: usize, end: usize| {
            let dword = |n| field(user, sideband::end(width, n), dword_bits(width)) as usize;
            ends >> n & 1 != 0 && dword(n) + 1 == end
        };
        let mut requests = Requests::default();
        let (mut begun, mut ended) = (0, 0);
        // The double word behind the last TLP of the beat.
        let mut at = 0;
        loop {
            let mut request = match self.open.take() {
                Some(open) => open,
                None => {
                    if starts >> begun & 1 == 0 {
                        break;
                    }
                    let unit = sideband::start_bytes(width) / 4;
                    let start = unit * field(user, sideband::start(width, begun), 2) as usize;
                    if start < at
                        || !start.is_multiple_of(SLOT / 4)
                        || start + DESCRIPTOR > data.len()
                    {
                        return Err(broken("a TLP begins inside of another, or at no slot"));
                    }
                    let mut bytes = [0; RequesterRequest::LEN];
                    for (four, word) in bytes.chunks_exact_mut(4).zip(&data[start..]) {
                        four.copy_from_slice(&word.to_le_bytes());
                    }
                    let undefined = |_| broken("the descriptor has undefined values");
                    if is_ats_message(&bytes) {
                        let (message, _) =
                            InvalidateCompletion::parse(&bytes).map_err(undefined)?;
                        let enables = field(user, sideband::first_be(begun), 4)
                            | field(user, sideband::last_be(width, begun), 4);
                        begun += 1;
                        at = start + DESCRIPTOR;
                        if enables != 0 || !ends_at(ended, at) {
                            return Err(broken("a message has one slot and no byte enables"));
                        }
                        ended += 1;
                        requests.messages.push((requests.complete.len(), message));
                        continue;
                    }
                    let (descriptor, _) = RequesterRequest::parse(&bytes).map_err(undefined)?;
                    let request = Request {
                        descriptor,
                        first_be: field(user, sideband::first_be(begun), 4) as u8,
                        last_be: field(user, sideband::last_be(width, begun), 4) as u8,
                        payload: Vec::with_capacity(4 * payload_dwords(&descriptor)),
                    };
                    requests.begun.push(descriptor);
                    begun += 1;
                    at = start + DESCRIPTOR;
                    request
                }
            };
            let missing = payload_dwords(&request.descriptor) - request.payload.len() / 4;
            let end = at + missing;
            let here = end.min(data.len());
            append_bytes(&data[at..here], 4 * (here - at), &mut request.payload);
            if end > data.len() {
                self.open = Some(request);
                break;
            }
            if !ends_at(ended, end) {
                return Err(broken("the end of a TLP is not where its length says"));
            }
            ended += 1;
            at = end;
            requests.complete.push(request);
        }
        if starts >> begun != 0 || ends >> ended != 0 {
            return Err(broken("more starts or ends than TLPs"));
        }
        if begun + ended == 0 && self.open.is_none() {
            return Err(broken("a beat without a TLP"));
        }
        Ok(requests)
    }
}

fn payload_dwords(descriptor: &RequesterRequest) -> usize {
    match descriptor.request_type {
        RequestType::MemRead | RequestType::IoRead => 0,
        _ => usize::from(descriptor.dword_count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::set_field;
    use stellar_wire::pcie::{AddressType, Attributes};

    fn descriptor(request_type: RequestType, dword_count: u16) -> RequesterRequest {
        RequesterRequest {
            address_type: AddressType::Untranslated,
            address: 0x1000,
            dword_count,
            request_type,
            poisoned: false,
            requester: 0,
            tag: 3,
            completer: 0,
            requester_id_enable: false,
            traffic_class: 0,
            attributes: Attributes::default(),
            force_ecrc: false,
        }
    }

    /// A beat of 512 bits: a write of 12 double words, which fills it, or two reads.
    fn beat(descriptors: &[RequesterRequest]) -> ([u32; 16], [u32; 5]) {
        let (mut data, mut user) = ([0xdd; 16], [0; 5]);
        for (n, descriptor) in descriptors.iter().enumerate() {
            let bytes = descriptor.to_bytes();
            for (word, four) in data[8 * n..].iter_mut().zip(bytes.chunks(4)) {
                *word = u32::from_le_bytes(four.try_into().unwrap());
            }
            let end = 8 * n + 3 + payload_count(descriptor);
            set_field(&mut user, sideband::starts(512, n), 1, 1);
            set_field(&mut user, sideband::start(512, n), 2, 2 * n as u64);
            set_field(&mut user, sideband::ends(512, n), 1, 1);
            set_field(&mut user, sideband::end(512, n), 4, end as u64);
        }
        (data, user)
    }

    fn payload_count(descriptor: &RequesterRequest) -> usize {
        match descriptor.request_type {
            RequestType::MemRead => 0,
            _ => descriptor.dword_count.into(),
        }
    }

    fn rule(data: &[u32], user: &[u32]) -> &'static str {
        match RequestReader::new(512).push(data, user) {
            Err(TlpError::Straddle { beat: 1, rule }) => rule,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn two_reads_share_a_beat_and_a_write_fills_one() {
        let reads = [descriptor(RequestType::MemRead, 64); 2];
        let (data, user) = beat(&reads);
        let requests = RequestReader::new(512).push(&data, &user).unwrap();
        assert_eq!(requests.begun[..], reads);
        assert_eq!(requests.complete.len(), 2);
        let (data, user) = beat(&[descriptor(RequestType::MemWrite, 12)]);
        let requests = RequestReader::new(512).push(&data, &user).unwrap();
        assert_eq!(requests.complete[0].payload, [0xdd, 0, 0, 0].repeat(12));
    }

    #[test]
    fn a_message_has_one_slot_and_no_byte_enables() {
        let message = InvalidateCompletion {
            target: 0x1234,
            tags: 0x8000_0001,
            count: 1,
        };
        let read = descriptor(RequestType::MemRead, 64);
        let (mut data, user) = beat(&[read, read]);
        for (word, four) in data[8..].iter_mut().zip(message.to_bytes().chunks(4)) {
            *word = u32::from_le_bytes(four.try_into().unwrap());
        }
        let requests = RequestReader::new(512).push(&data, &user).unwrap();
        assert_eq!(
            (&requests.begun[..], requests.complete.len()),
            (&[read][..], 1)
        );
        assert_eq!(requests.messages, [(1, message)]);
        let wrong = "a message has one slot and no byte enables";
        for (at, bits, value) in [
            (sideband::first_be(1), 4, 1),
            (sideband::end(512, 1), 4, 12),
        ] {
            let mut user = user;
            set_field(&mut user, at, bits, value);
            assert_eq!(rule(&data, &user), wrong);
        }
    }

    #[test]
    fn a_discontinued_request_is_dropped() {
        let (mut data, mut user) = beat(&[descriptor(RequestType::MemWrite, 12)]);
        let mut reader = RequestReader::new(512);
        set_field(&mut user, sideband::discontinue(512), 1, 1);
        assert_eq!(rule(&data, &user), "nothing can be discontinued");
        data[2] += 1;
        let (mut start, mut end) = ([0; 5], [0; 5]);
        set_field(&mut start, sideband::starts(512, 0), 1, 1);
        set_field(&mut end, sideband::ends(512, 0), 1, 1);
        set_field(&mut end, sideband::discontinue(512), 1, 1);
        assert_eq!(reader.push(&data, &start).unwrap().begun.len(), 1);
        assert!(!reader.between_requests());
        assert_eq!(reader.push(&[0; 16], &end), Ok(Requests::default()));
        assert!(reader.between_requests());
    }

    #[test]
    fn what_the_block_would_not_accept_is_named() {
        let read = descriptor(RequestType::MemRead, 64);
        let (data, user) = beat(&[read, read]);
        assert_eq!(rule(&data, &[0; 5]), "a beat without a TLP");
        let with = |at: usize, bits, value| {
            let mut user = user;
            set_field(&mut user, at, bits, value);
            user
        };
        let early = with(sideband::start(512, 0), 2, 1);
        assert_eq!(
            rule(&data, &early),
            "a TLP begins inside of another, or at no slot"
        );
        let late = with(sideband::end(512, 0), 4, 4);
        assert_eq!(
            rule(&data, &late),
            "the end of a TLP is not where its length says"
        );
        let (data, mut user) = beat(&[descriptor(RequestType::MemWrite, 2)]);
        set_field(&mut user, sideband::ends(512, 1), 1, 1);
        assert_eq!(rule(&data, &user), "more starts or ends than TLPs");
        // A write of 13 double words goes on in the next beat.
        let (data, user) = beat(&[descriptor(RequestType::MemWrite, 12)]);
        let mut longer = data;
        longer[2] += 1;
        let mut reader = RequestReader::new(512);
        assert_eq!(rule(&longer, &user), "more starts or ends than TLPs");
        assert!(reader.push(&data, &user).is_ok() && reader.between_requests());
        let mut undefined = data;
        undefined[2] |= 0xf << 11;
        assert_eq!(
            rule(&undefined, &user),
            "the descriptor has undefined values"
        );
    }
}
