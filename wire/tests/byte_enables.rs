//! Byte enables against a byte-by-byte model.

use stellar_wire::pcie::DwSpan;

/// Byte addresses a span enables, one by one.
fn enabled(span: &DwSpan) -> Vec<u64> {
    let last = u64::from(span.length_dw) - 1;
    let bytes = (0..=last).flat_map(|dw| (0..4u64).map(move |lane| (dw, lane)));
    bytes
        .filter(|&(dw, lane)| match dw {
            0 => span.first_be >> lane & 1 != 0,
            dw if dw == last => span.last_be >> lane & 1 != 0,
            _ => true,
        })
        .map(|(dw, lane)| span.address + 4 * dw + lane)
        .collect()
}

#[test]
fn byte_enables_name_exactly_the_bytes_asked_for() {
    for base in [0u64, 0x1000, 0xffff_ffff_ffff_f000] {
        for offset in (0..16).chain(4080..4096) {
            for length in 0..=40usize {
                let address = base + offset;
                let span = match DwSpan::new(address, length) {
                    Ok(span) => span,
                    Err(_) => {
                        assert!(offset as usize + length > 4096);
                        continue;
                    }
                };
                assert!(offset as usize + length <= 4096);
                let expected: Vec<u64> = (0..length as u64).map(|i| address + i).collect();
                assert_eq!(enabled(&span), expected, "{length} bytes at {address:#x}");
                if length > 0 {
                    assert_eq!(span.byte_range(), Some((address, length)));
                } else {
                    assert_eq!(span.byte_range(), Some((address & !3, 0)));
                }
            }
        }
    }
    assert_eq!(DwSpan::new(0, 4096).map(|span| span.length_dw), Ok(1024));
}

#[test]
fn byte_range_exists_exactly_for_contiguous_enables() {
    for length_dw in 1..=4u16 {
        for enables in 0..=u8::MAX {
            let (first_be, last_be) = (enables & 0xf, enables >> 4);
            let span = DwSpan {
                address: 0x100,
                length_dw,
                first_be,
                last_be,
            };
            let bytes = enabled(&span);
            let one_dw = length_dw == 1;
            let contradiction = if one_dw {
                last_be != 0
            } else {
                first_be == 0 || last_be == 0
            };
            let run = bytes.windows(2).all(|pair| pair[1] == pair[0] + 1);
            let expected = match (contradiction || !run, bytes.first()) {
                (true, _) => None,
                (false, Some(&first)) => Some((first, bytes.len())),
                (false, None) => Some((0x100, 0)),
            };
            assert_eq!(span.byte_range(), expected, "{span:?}");
        }
    }
}
