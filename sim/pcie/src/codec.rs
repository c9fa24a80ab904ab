//! TLPs as bytes, with the header codecs of `stellar-wire`.

use stellar_wire::pcie::{self, Attributes, DwSpan, MemOp, MemRequest, TlpType, MAX_LENGTH_DW};
use stellar_wire::WireError;
use thiserror::Error;

use crate::bdf::Bdf;
use crate::tlp::{Completion, MemRead, MemWrite, Tlp};

/// A TLP that cannot be read from bytes or written as bytes.
#[derive(Debug, PartialEq, Error)]
pub enum CodecError {
    /// The header is wrong.
    #[error("TLP header: {0}")]
    Header(#[from] WireError),
    /// The length of the payload differs from the length in the header.
    #[error("TLP header says {expected} payload bytes, {have} follow; pass exactly one TLP")]
    PayloadLength {
        /// Length in the header.
        expected: usize,
        /// Bytes after the header.
        have: usize,
    },
    /// A kind of TLP the fabric does not model.
    #[error("{0} are not modelled by this fabric; send memory reads, memory writes or completions without digest")]
    NotModelled(&'static str),
    /// A value that does not fit its header field.
    #[error("{field} = {value:#x} cannot be written in a TLP header; {rule}")]
    Unrepresentable {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The permitted values.
        rule: &'static str,
    },
}

fn representable(
    ok: bool,
    field: &'static str,
    value: impl Into<u64>,
    rule: &'static str,
) -> Result<(), CodecError> {
    let value = value.into();
    ok.then_some(())
        .ok_or(CodecError::Unrepresentable { field, value, rule })
}

fn length_dw(bytes: usize, field: &'static str) -> Result<u16, CodecError> {
    let fits = bytes.is_multiple_of(4) && bytes / 4 <= usize::from(MAX_LENGTH_DW);
    representable(
        fits,
        field,
        bytes as u64,
        "use whole double words, at most 4096 bytes",
    )?;
    Ok((bytes / 4) as u16)
}

fn check_tag(tag: u16) -> Result<(), CodecError> {
    representable(tag < 1 << 10, "tag", tag, "tags have 10 bits")
}

fn emit_request(request: &MemRequest, data: &[u8]) -> Result<Vec<u8>, CodecError> {
    let length = request.length_dw;
    let length_ok = (1..=MAX_LENGTH_DW).contains(&length);
    representable(length_ok, "length", length, "use 1 to 1024 double words")?;
    let address = request.address;
    let aligned = address.is_multiple_of(4);
    representable(aligned, "address", address, "use a multiple of 4")?;
    let (first, last) = (request.first_be, request.last_be);
    representable(first < 16, "first BE", first, "byte enables have 4 bits")?;
    representable(last < 16, "last BE", last, "byte enables have 4 bits")?;
    check_tag(request.tag)?;
    let mut bytes = Vec::with_capacity(request.header_len() + data.len());
    request.emit(&mut bytes);
    bytes.extend_from_slice(data);
    Ok(bytes)
}

impl Tlp {
    /// Header and payload in wire order, without framing, LCRC and digest. Fails if a value does not fit its header field. The receiver checks rules
    /// about combinations (4 KiB, byte enables).
    pub fn to_bytes(&self) -> Result<Vec<u8>, CodecError> {
        match self {
            Self::Write(w) => {
                let span = DwSpan {
                    address: w.address,
                    length_dw: length_dw(w.data.len(), "write payload length")?,
                    first_be: w.first_be,
                    last_be: w.last_be,
                };
                let mut request = MemRequest::new(MemOp::Write, span, w.at, w.requester.id());
                request.tag = w.tag;
                emit_request(&request, &w.data)
            }
            Self::Read(r) => {
                let span = DwSpan {
                    address: r.address,
                    length_dw: r.dwords,
                    first_be: r.first_be,
                    last_be: r.last_be,
                };
                let mut request = MemRequest::new(MemOp::Read, span, r.at, r.requester.id());
                request.tag = r.tag;
                emit_request(&request, &[])
            }
            Self::Completion(c) => {
                let count = c.byte_count;
                let count_ok = (1..=4096).contains(&count);
                representable(count_ok, "byte count", count, "use 1 to 4096")?;
                let lower = c.lower_address;
                representable(lower < 128, "lower address", lower, "use 7 bits")?;
                check_tag(c.tag)?;
                let header = pcie::Completion {
                    length_dw: length_dw(c.data.len(), "completion payload length")?,
                    completer: c.completer.id(),
                    status: c.status,
                    byte_count_modified: false,
                    byte_count: count,
                    requester: c.requester.id(),
                    tag: c.tag,
                    lower_address: lower,
                    traffic_class: 0,
                    attributes: Attributes::default(),
                    digest: false,
                    poisoned: c.poisoned,
                };
                let mut bytes = Vec::with_capacity(pcie::Completion::LEN + c.data.len());
                header.emit(&mut bytes);
                bytes.extend_from_slice(&c.data);
                Ok(bytes)
            }
        }
    }

    /// Parses `bytes`, all of which must be one TLP. Traffic class, attributes and processing hints are ignored: they do not change where this fabric
    /// sends a TLP.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        match TlpType::of(bytes)? {
            TlpType::MemRequest { op, .. } => {
                let (header, payload) = MemRequest::parse(bytes)?;
                check_modelled(header.digest, header.poisoned)?;
                let requester = Bdf::from_id(header.requester);
                match op {
                    MemOp::Write => Ok(Self::Write(MemWrite {
                        requester,
                        tag: header.tag,
                        address: header.address,
                        at: header.address_type,
                        first_be: header.first_be,
                        last_be: header.last_be,
                        data: exact_payload(payload, header.length_dw)?,
                    })),
                    MemOp::Read => {
                        exact_payload(payload, 0)?;
                        Ok(Self::Read(MemRead {
                            requester,
                            tag: header.tag,
                            address: header.address,
                            at: header.address_type,
                            first_be: header.first_be,
                            last_be: header.last_be,
                            dwords: header.length_dw,
                        }))
                    }
                    _ => Err(CodecError::NotModelled("atomic operations")),
                }
            }
            TlpType::Completion { .. } => {
                let (header, payload) = pcie::Completion::parse(bytes)?;
                check_modelled(header.digest, false)?;
                Ok(Self::Completion(Completion {
                    completer: Bdf::from_id(header.completer),
                    requester: Bdf::from_id(header.requester),
                    tag: header.tag,
                    status: header.status,
                    byte_count: header.byte_count,
                    lower_address: header.lower_address,
                    data: exact_payload(payload, header.length_dw)?,
                    poisoned: header.poisoned,
                    damaged: false,
                }))
            }
        }
    }
}

fn check_modelled(digest: bool, poisoned: bool) -> Result<(), CodecError> {
    match (digest, poisoned) {
        (true, _) => Err(CodecError::NotModelled("TLPs with a digest")),
        (_, true) => Err(CodecError::NotModelled("poisoned requests")),
        _ => Ok(()),
    }
}

fn exact_payload(payload: &[u8], length_dw: u16) -> Result<Vec<u8>, CodecError> {
    let expected = usize::from(length_dw) * 4;
    if payload.len() == expected {
        Ok(payload.to_vec())
    } else {
        Err(CodecError::PayloadLength {
            expected,
            have: payload.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stellar_wire::pcie::AddressType;

    const NIC: Bdf = Bdf::from_id(0x1700);

    proptest! {
        #[test]
        fn writes_and_reads_round_trip(
            page in 0u64..1 << 40, offset in 0u64..4096, len in 1usize..512, tag in 0u16..1024, at in 0u8..4,
        ) {
            let len = len.min(4096 - offset as usize);
            let (address, at) = (page << 12 | offset, AddressType::from_bits(at));
            let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let mut write = MemWrite::of_bytes(NIC, address, at, &bytes).unwrap();
            write.tag = tag;
            let read = MemRead::of_bytes(NIC, tag, address, at, len).unwrap();
            for tlp in [Tlp::Write(write), Tlp::Read(read)] {
                let wire = tlp.to_bytes().unwrap();
                prop_assert_eq!(tlp.wire_len(), wire.len() + 8);
                prop_assert_eq!(Tlp::from_bytes(&wire).unwrap(), tlp);
                prop_assert!(Tlp::from_bytes(&wire[..wire.len() - 1]).is_err());
            }
        }
    }

    #[test]
    fn a_translated_write_has_the_reference_first_dword() {
        let write = MemWrite::of_bytes(NIC, 1 << 40, AddressType::Translated, &[0; 256]).unwrap();
        let bytes = Tlp::Write(write).to_bytes().unwrap();
        assert_eq!(bytes[..4], 0x6000_0840u32.to_be_bytes());
    }

    #[test]
    fn fields_that_do_not_fit_and_kinds_not_modelled_are_named() {
        let mut read = MemRead::of_bytes(NIC, 0, 0x1000, AddressType::Untranslated, 8).unwrap();
        read.tag = 1024;
        let error = Tlp::Read(read).to_bytes().unwrap_err();
        assert!(matches!(
            error,
            CodecError::Unrepresentable { field: "tag", .. }
        ));
        let mut fetch_add = vec![0x4c, 0, 0, 1];
        fetch_add.resize(16, 0);
        assert_eq!(
            Tlp::from_bytes(&fetch_add),
            Err(CodecError::NotModelled("atomic operations"))
        );
        let mut write = MemWrite::of_bytes(NIC, 0, AddressType::Untranslated, &[0; 4])
            .map(Tlp::Write)
            .unwrap()
            .to_bytes()
            .unwrap();
        write.push(0);
        assert_eq!(
            Tlp::from_bytes(&write),
            Err(CodecError::PayloadLength {
                expected: 4,
                have: 5
            })
        );
    }
}
