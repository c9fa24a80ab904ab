//! Every payload byte reaches its address, whatever the page size, alignment and maximum payload size.

use proptest::prelude::*;
use stellar_transport::rx::{
    write_tlps, EmttRow, MaxPayload, MrRow, Owner, PageSize, Piece, QpMode, QpRow, RxConfig,
    RxLane, WriteTlp,
};

use crate::common::{
    accepted, context, naive_memory, only, page, page_address, pattern, region, write_emtt,
    write_mr, write_qp, Memory, BASE_VA, FIRST_EMTT, MRC_QP,
};

/// A lane whose region has pages of `page_size`, enough to be crossed twice from the middle, and path MTU 8,192.
fn lane_of(page_size: PageSize) -> RxLane {
    let mut lane = RxLane::new(RxConfig::default());
    let context = QpRow {
        mtu_log2: 13,
        ..context(QpMode::Mrc, 0)
    };
    write_qp(&mut lane, MRC_QP, context);
    let length = 6 * page_size.bytes();
    write_mr(
        &mut lane,
        MrRow {
            length,
            ..region(page_size)
        },
    );
    for n in 0..7 {
        write_emtt(&mut lane, FIRST_EMTT + n as u32, page(page_size, n));
    }
    lane
}

/// Checks the rules of PCI Express for a write request.
#[track_caller]
fn check_rules(tlp: &WriteTlp, max_payload: MaxPayload) {
    let bytes = tlp.length_dw * 4;
    assert_eq!(tlp.data.len(), bytes);
    assert!(
        tlp.length_dw >= 1 && bytes <= max_payload.bytes(),
        "{tlp:?}"
    );
    assert_eq!(tlp.address % 4, 0);
    let last = tlp.address + bytes as u64 - 1;
    assert_eq!(tlp.address >> 12, last >> 12, "crosses 4 KiB");
    assert_ne!(tlp.first_be, 0);
    assert_eq!(tlp.last_be == 0, tlp.length_dw == 1);
    if tlp.length_dw > 1 {
        assert!([0b1111, 0b1110, 0b1100, 0b1000].contains(&tlp.first_be));
        assert!([0b1111, 0b0111, 0b0011, 0b0001].contains(&tlp.last_be));
    }
}

#[test]
fn payloads_cross_pages_of_every_size_at_every_offset() {
    for page_size in PageSize::ALL {
        // The write goes from the region's second page, which is completely in the region, into the third.
        let boundary = BASE_VA.next_multiple_of(page_size.bytes()) + page_size.bytes();
        let mut lane = lane_of(page_size);
        for (psn, before) in (0..300).chain([2048, 4095]).enumerate() {
            let (va, length) = (boundary - before, 300.max(before as usize));
            let frame = only(QpMode::Mrc, psn as u32, va, length);
            let outcome = accepted(&mut lane, &frame);
            let pieces = outcome.place.expect("payload").pieces;
            let crosses = before != 0 && before != length as u64;
            assert_eq!(pieces.len(), if crosses { 2 } else { 1 });
            let mut memory = Memory::default();
            memory.write(&outcome.tlps);
            assert_eq!(memory, naive_memory(page_size, va, &frame.payload));
        }
    }
}

#[test]
fn long_payloads_lie_in_up_to_three_pages() {
    let mut most = 0;
    for page_size in PageSize::ALL {
        let page = page_size.bytes();
        let boundary = BASE_VA.next_multiple_of(page) + 2 * page;
        let mut lane = lane_of(page_size);
        let spans = [1, 100, 4095, 4096, 4097, 8191, 8192]
            .into_iter()
            .flat_map(|before| [4097, 4098, 8191, 8192].map(|length| (before, length)));
        for (psn, (before, length)) in spans.enumerate() {
            let va = boundary - before;
            let frame = only(QpMode::Mrc, psn as u32, va, length);
            let outcome = accepted(&mut lane, &frame);
            let pieces = outcome.place.expect("payload").pieces;
            let touched = (va + length as u64 - 1) / page - va / page + 1;
            assert_eq!(pieces.len() as u64, touched);
            most = most.max(pieces.len());
            let mut memory = Memory::default();
            memory.write(&outcome.tlps);
            assert_eq!(memory, naive_memory(page_size, va, &frame.payload));
        }
    }
    assert_eq!(most, 3);
}

#[test]
fn the_owner_of_each_page_decides_the_address_type() {
    let boundary = BASE_VA.next_multiple_of(4096);
    let mut lane = lane_of(PageSize::Size4K);
    let pieces = accepted(&mut lane, &only(QpMode::Mrc, 0, boundary - 100, 300))
        .place
        .expect("payload")
        .pieces;
    let host = Piece {
        address: page_address(PageSize::Size4K, 0) + 4096 - 100,
        length: 100,
        translated: false,
    };
    let gpu = Piece {
        address: page_address(PageSize::Size4K, 1),
        length: 200,
        translated: true,
    };
    assert_eq!(pieces.as_slice(), [host, gpu]);
}

#[test]
fn changing_the_owner_of_a_page_changes_the_next_packet() {
    let mut lane = lane_of(PageSize::Size2M);
    for (psn, (owner, at)) in [(Owner::Host, 0), (Owner::Gpu, 2), (Owner::Host, 0)]
        .iter()
        .enumerate()
    {
        let entry = EmttRow {
            owner: *owner,
            ..page(PageSize::Size2M, 0)
        };
        write_emtt(&mut lane, FIRST_EMTT, entry);
        let outcome = accepted(&mut lane, &only(QpMode::Mrc, psn as u32, BASE_VA, 64));
        assert!(outcome.tlps.iter().all(|tlp| tlp.at == *at));
    }
}

#[test]
fn writes_split_right_at_every_alignment_and_length() {
    for mps in [128, 256, 512, 1024] {
        let max_payload = MaxPayload::new(mps).expect("a legal size");
        // Writes begin at the start of a page, and near its end.
        for start in (0..mps as u64).chain(4096 - 16..4096) {
            let lengths =
                (1..=20).chain([63, 64, 65, mps - 1, mps, mps + 1, 2 * mps + 3, 4096, 8192]);
            for length in lengths {
                check_split(0x1_2345_0000 + start, length, max_payload);
            }
        }
    }
}

/// The TLPs of one piece obey the rules, are as few as the boundaries allow, and write every byte where it belongs.
fn check_split(address: u64, length: usize, max_payload: MaxPayload) {
    let payload = pattern(length as u32, length);
    let piece = Piece {
        address,
        length,
        translated: true,
    };
    let tlps = write_tlps(&[piece], &payload, max_payload);
    let mps = max_payload.bytes() as u64;
    let blocks = (address + length as u64 - 1) / mps - address / mps + 1;
    assert_eq!(tlps.len() as u64, blocks);
    tlps.iter().for_each(|tlp| check_rules(tlp, max_payload));
    let written: Vec<_> = tlps.iter().flat_map(WriteTlp::written).collect();
    let expected: Vec<_> = (address..).zip(payload).collect();
    assert_eq!(written, expected);
}

#[test]
fn byte_enables_of_small_writes() {
    // Address, length -> double words, first and last byte enables, worked out by hand.
    for (address, length, dw, first_be, last_be) in [
        (0x100, 4, 1, 0b1111, 0),
        (0x101, 1, 1, 0b0010, 0),
        (0x101, 2, 1, 0b0110, 0),
        (0x103, 1, 1, 0b1000, 0),
        (0x103, 2, 2, 0b1000, 0b0001),
        (0x102, 4, 2, 0b1100, 0b0011),
        (0x100, 5, 2, 0b1111, 0b0001),
        (0x100, 8, 2, 0b1111, 0b1111),
        (0x103, 6, 3, 0b1000, 0b0001),
    ] {
        let piece = Piece {
            address,
            length,
            translated: false,
        };
        let tlps = write_tlps(&[piece], &vec![0xff; length], MaxPayload::default());
        let [tlp] = tlps.as_slice() else {
            panic!("{} TLPs for {length} bytes", tlps.len());
        };
        assert_eq!((tlp.address, tlp.at), (0x100, 0));
        assert_eq!(
            (tlp.length_dw, tlp.first_be, tlp.last_be),
            (dw, first_be, last_be)
        );
    }
}

#[test]
fn maximum_payload_sizes_pcie_does_not_have_are_refused() {
    for bytes in [0, 64, 127, 129, 384, 2048] {
        let error = MaxPayload::new(bytes)
            .expect_err("not a size of the lane")
            .to_string();
        assert!(error.contains(&bytes.to_string()), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_two_pieces_are_written_byte_for_byte(
        first in 0..1u64 << 40,
        second in 0..1u64 << 40,
        lengths in (0..8192usize, 0..8192usize),
        mps in prop::sample::select(vec![128, 256, 512, 1024]),
    ) {
        let max_payload = MaxPayload::new(mps).expect("a legal size");
        let payload = pattern(7, lengths.0 + lengths.1);
        // The two pieces lie far apart, so that they do not overlap.
        let second = second + (1 << 41);
        let pieces = [(first, lengths.0, false), (second, lengths.1, true)].map(
            |(address, length, translated)| Piece { address, length, translated },
        );
        let tlps = write_tlps(&pieces, &payload, max_payload);
        tlps.iter().for_each(|tlp| check_rules(tlp, max_payload));
        let written: Vec<_> = tlps
            .iter()
            .flat_map(|tlp| tlp.written().map(|(at, byte)| (tlp.at, at, byte)))
            .collect();
        let addresses = (first..first + lengths.0 as u64)
            .map(|at| (0, at))
            .chain((second..second + lengths.1 as u64).map(|at| (2, at)));
        let expected: Vec<_> = addresses.zip(&payload).map(|((kind, at), &b)| (kind, at, b)).collect();
        prop_assert_eq!(written, expected);
    }
}
