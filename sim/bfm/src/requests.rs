//! The receiver of AMD's requester request stream: TLPs out of beats.

use stellar_wire::pcie::descriptor::{RequestType, RequesterRequest};
use stellar_wire::pcie::sideband::request as sideband;
use stellar_wire::Header;

use crate::bits::field;
use crate::tlp_error::TlpError;

/// Bytes of a slot: requests begin at multiples of it.
const SLOT: usize = 32;
/// Double words of the descriptor.
const DESCRIPTOR: usize = RequesterRequest::LEN / 4;

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
    pub begun: Vec<RequesterRequest>,
    /// The requests that end in the beat.
    pub complete: Vec<Request>,
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
        let mut requests = Requests::default();
        let (mut begun, mut ended) = (0, 0);
        // The double word behind the last TLP of the beat.
        let mut at = 0;
        loop {
            let mut request = match self.open.take() {
                Some(open) => open,
                None => {
                    if begun == places || field(user, sideband::starts(width, begun), 1) == 0 {
                        break;
                    }
                    let unit = sideband::start_bytes(width) / 4;
                    let start = unit * field(user, sideband::start(width, begun), 2) as usize;
                    if start < at || start % (SLOT / 4) != 0 || start + DESCRIPTOR > data.len() {
                        return Err(broken("a TLP begins inside of another, or at no slot"));
                    }
                    let mut bytes = [0; RequesterRequest::LEN];
                    for (four, word) in bytes.chunks_exact_mut(4).zip(&data[start..]) {
                        four.copy_from_slice(&word.to_le_bytes());
                    }
                    let (descriptor, _) = RequesterRequest::parse(&bytes)
                        .map_err(|_| broken("the descriptor has undefined values"))?;
                    let request = Request {
                        descriptor,
                        first_be: field(user, sideband::first_be(begun), 4) as u8,
                        last_be: field(user, sideband::last_be(width, begun), 4) as u8,
                        payload: Vec::with_capacity(4 * usize::from(descriptor.dword_count)),
                    };
                    requests.begun.push(descriptor);
                    begun += 1;
                    at = start + DESCRIPTOR;
                    request
                }
            };
            let missing = payload_dwords(&request) - request.payload.len() / 4;
            let end = at + missing;
            let here = end.min(data.len());
            for word in &data[at..here] {
                request.payload.extend_from_slice(&word.to_le_bytes());
            }
            if end > data.len() {
                self.open = Some(request);
                break;
            }
            let dword = field(
                user,
                sideband::end(width, ended),
                sideband::dword_bits(width),
            );
            if ended == places
                || field(user, sideband::ends(width, ended), 1) == 0
                || dword as usize + 1 != end
            {
                return Err(broken("the end of a TLP is not where its length says"));
            }
            ended += 1;
            at = end;
            requests.complete.push(request);
        }
        let more = |count, bit: fn(usize, usize) -> usize| {
            (count..places).any(|n| field(user, bit(width, n), 1) != 0)
        };
        if more(begun, sideband::starts) || more(ended, sideband::ends) {
            return Err(broken("more starts or ends than TLPs"));
        }
        if begun + ended == 0 && self.open.is_none() {
            return Err(broken("a beat without a TLP"));
        }
        Ok(requests)
    }
}

fn payload_dwords(request: &Request) -> usize {
    match request.descriptor.request_type {
        RequestType::MemRead | RequestType::IoRead => 0,
        _ => usize::from(request.descriptor.dword_count),
    }
}
