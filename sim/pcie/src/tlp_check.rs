//! Checks of a TLP at the receiver of a link (PCIe base specification, sections 2.2.2, 2.2.5 and 2.2.7).

use thiserror::Error;

use crate::tlp::{MemWrite, Tlp};

/// Why a TLP is malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum Malformed {
    /// Payload larger than the receiver's maximum payload size.
    #[error("payload exceeds the receiver's maximum payload size")]
    PayloadTooLarge,
    /// Write without payload, payload of no whole DWs, or read of 0 or more than 1,024 DWs.
    #[error("length is not 1 to 1024 whole DWs")]
    Length,
    /// The request's address is no multiple of 4.
    #[error("address is not DW aligned")]
    Alignment,
    /// The request crosses a 4 KiB boundary.
    #[error("request crosses a 4 KiB boundary")]
    Crosses4KiB,
    /// Byte enables that the rules do not permit for this length and address.
    #[error("byte enables are not permitted for this length")]
    ByteEnables,
}

/// Checks `tlp` as the receiver of a link whose maximum payload size is `max_payload` bytes.
pub(crate) fn check(tlp: &Tlp, max_payload: usize) -> Result<(), Malformed> {
    match tlp {
        Tlp::Write(w) => w.check(max_payload),
        Tlp::Completion(c) if c.data.len() > max_payload => Err(Malformed::PayloadTooLarge),
        Tlp::Read(r) => check_request(r.address, r.dwords.into(), r.first_be, r.last_be),
        Tlp::Completion(c) if c.data.len() % 4 != 0 => Err(Malformed::Length),
        Tlp::Completion(_) => Ok(()),
    }
}

impl MemWrite {
    /// Checks it as the receiver of a link whose maximum payload size is `max_payload` bytes.
    ///
    /// # Errors
    /// [`Malformed`] names the first rule that it breaks.
    pub fn check(&self, max_payload: usize) -> Result<(), Malformed> {
        if self.data.len() > max_payload {
            return Err(Malformed::PayloadTooLarge);
        }
        if !self.data.len().is_multiple_of(4) {
            return Err(Malformed::Length);
        }
        let dwords = self.data.len() / 4;
        check_request(self.address, dwords, self.first_be, self.last_be)
    }
}

fn check_request(address: u64, dwords: usize, first_be: u8, last_be: u8) -> Result<(), Malformed> {
    if !(1..=1024).contains(&dwords) {
        return Err(Malformed::Length);
    }
    if !address.is_multiple_of(4) {
        return Err(Malformed::Alignment);
    }
    if address % 4096 + dwords as u64 * 4 > 4096 {
        return Err(Malformed::Crosses4KiB);
    }
    if !byte_enables_permitted(address, dwords, first_be, last_be) {
        return Err(Malformed::ByteEnables);
    }
    Ok(())
}

/// Section 2.2.5: one DW takes any first BE and no last BE; more DWs need both; holes are permitted only in one
/// DW and in quadword-aligned requests of two DWs.
fn byte_enables_permitted(address: u64, dwords: usize, first_be: u8, last_be: u8) -> bool {
    if first_be > 0xf || last_be > 0xf {
        return false;
    }
    match dwords {
        1 => last_be == 0,
        2 if address.is_multiple_of(8) => first_be != 0 && last_be != 0,
        _ => {
            matches!(first_be, 0b1111 | 0b1110 | 0b1100 | 0b1000)
                && matches!(last_be, 0b1111 | 0b0111 | 0b0011 | 0b0001)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlp::MemRead;
    use crate::Bdf;
    use stellar_wire::pcie::AddressType;

    const REQUESTER: Bdf = Bdf::from_id(0x1700);

    fn write(address: u64, dwords: usize, first_be: u8, last_be: u8) -> Tlp {
        Tlp::Write(MemWrite {
            requester: REQUESTER,
            tag: 0,
            address,
            at: AddressType::Untranslated,
            first_be,
            last_be,
            data: vec![0; dwords * 4],
        })
    }

    #[test]
    fn payload_limit_is_exact() {
        assert_eq!(check(&write(0, 64, 0xf, 0xf), 256), Ok(()));
        assert_eq!(
            check(&write(0, 65, 0xf, 0xf), 256),
            Err(Malformed::PayloadTooLarge)
        );
    }

    #[test]
    fn four_kib_boundary_may_be_touched_but_not_crossed() {
        assert_eq!(check(&write(4096 - 256, 64, 0xf, 0xf), 256), Ok(()));
        assert_eq!(
            check(&write(4096 - 252, 64, 0xf, 0xf), 256),
            Err(Malformed::Crosses4KiB)
        );
    }

    #[test]
    fn byte_enable_rules() {
        let ok =
            |address, dwords, first, last| check(&write(address, dwords, first, last), 256).is_ok();
        assert!(ok(0, 1, 0b1010, 0), "one DW takes holes");
        assert!(ok(0, 1, 0, 0), "zero-length write");
        assert!(!ok(0, 1, 0xf, 1), "last BE of one DW must be 0");
        assert!(ok(8, 2, 0b0101, 0b1010), "aligned two DWs take holes");
        assert!(!ok(4, 2, 0b0101, 0b1010), "unaligned two DWs do not");
        assert!(!ok(8, 2, 0, 0xf), "first DW must have a byte");
        assert!(!ok(0, 3, 0b0111, 0xf), "first DW must run into the second");
        assert!(
            !ok(0, 3, 0xf, 0b1110),
            "last DW must start at its first byte"
        );
        assert!(!ok(0, 3, 0xf, 0), "last DW must have a byte");
        assert!(!ok(0, 1, 0x1f, 0), "enables are four bits");
    }

    #[test]
    fn lengths_and_alignment() {
        assert_eq!(check(&write(0, 0, 0, 0), 256), Err(Malformed::Length));
        assert_eq!(check(&write(2, 1, 1, 0), 256), Err(Malformed::Alignment));
        let read = |dwords| {
            Tlp::Read(MemRead {
                requester: REQUESTER,
                tag: 0,
                address: 0,
                at: AddressType::Untranslated,
                first_be: 0xf,
                last_be: 0xf,
                dwords,
            })
        };
        assert_eq!(check(&read(1024), 128), Ok(()));
        assert_eq!(check(&read(1025), 128), Err(Malformed::Length));
        assert_eq!(check(&read(0), 128), Err(Malformed::Length));
    }
}
