use rust_hdl::prelude::ToBits;
use sim_pcie::Malformed;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::pack::to_words;

use super::*;

const REQUESTER: Bdf = Bdf::from_id(0x1700);
const MAX_PAYLOAD: usize = 256;
/// Bytes of a beat.
const WIDTH: usize = 64;
const TRANSLATED: u64 = 0b10;

/// A header of whole double words at `address`.
fn header(address: u64, dwords: usize) -> WriteTlpHeader {
    WriteTlpHeader {
        address_dw: (address / 4).to_bits(),
        at: TRANSLATED.to_bits(),
        length_dw: (dwords as u64).to_bits(),
        first_be: 0xfu64.to_bits(),
        last_be: if dwords == 1 { 0u64 } else { 0xf }.to_bits(),
        ..WriteTlpHeader::default()
    }
}

/// Payload of `bytes` bytes.
fn payload(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * 7 + 1) as u8).collect()
}

/// The beats of a write of `dwords` double words, with noise behind them.
fn beats(header: WriteTlpHeader, dwords: usize) -> Vec<WriteBeat> {
    let data = payload(4 * dwords);
    let chunks = data.chunks(WIDTH).enumerate();
    chunks
        .map(|(i, chunk)| {
            let mut bytes = [0xee; WIDTH];
            bytes[..chunk.len()].copy_from_slice(chunk);
            WriteBeat {
                beat: Beat::new(&bytes, (i + 1) * WIDTH >= data.len()),
                header: (i == 0).then(|| to_words(header)),
            }
        })
        .collect()
}

fn assembler() -> WriteAssembler {
    WriteAssembler::new(REQUESTER, MAX_PAYLOAD)
}

/// The outcome of the last of `beats`; those before it are accepted.
fn outcome(assembler: &mut WriteAssembler, beats: &[WriteBeat]) -> Result<Accepted, TlpError> {
    let (last, before) = beats.split_last().expect("there is a beat");
    for beat in before {
        let accepted = assembler.push(beat).expect("the last beat is the bad one");
        assert_eq!(accepted.complete, None);
    }
    assembler.push(last)
}

/// The rule that a write of a header and as many bytes breaks.
fn refusal(header: WriteTlpHeader, dwords: usize) -> Malformed {
    match outcome(&mut assembler(), &beats(header, dwords)) {
        Err(TlpError::Malformed { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn writes_of_every_length_are_assembled_one_after_another() {
    let mut assembler = assembler();
    for dwords in 1..=MAX_PAYLOAD / 4 {
        let beats = beats(header(0x1_2345_6000, dwords), dwords);
        assert!(assembler.between_writes());
        let accepted = outcome(&mut assembler, &beats).expect("a good write");
        assert_eq!(accepted.bytes, (4 * dwords - 1) % WIDTH + 1);
        let expected = MemWrite {
            requester: REQUESTER,
            tag: 0,
            address: 0x1_2345_6000,
            at: AddressType::Translated,
            first_be: 0xf,
            last_be: if dwords == 1 { 0 } else { 0xf },
            data: payload(4 * dwords),
        };
        assert_eq!(accepted.complete, Some(expected));
    }
}

#[test]
fn the_mark_of_the_first_beat_must_be_on_the_first_beat() {
    let good = beats(header(0, 32), 32);
    let missing = outcome(&mut assembler(), &good[1..]).unwrap_err();
    let framing = |beat, first| TlpError::Framing { beat, first };
    assert_eq!(missing, framing(1, false));
    let twice = [good[0].clone(), good[0].clone()];
    let twice = outcome(&mut assembler(), &twice).unwrap_err();
    assert_eq!(twice, framing(2, true));
    assert_eq!(
        twice.to_string(),
        "beat 2 of the TLP stream: first = true inside of a TLP"
    );
}

#[test]
fn a_write_ends_with_the_beat_that_its_length_says() {
    let length = |dwords, actual| match outcome(&mut assembler(), &beats(header(0, dwords), actual))
    {
        Err(TlpError::Length {
            beat, last, bytes, ..
        }) => (beat, last, bytes),
        other => panic!("{other:?}"),
    };
    assert_eq!(length(32, 16), (1, true, 64), "it ends early");
    assert_eq!(length(17, 16), (1, true, 64), "it ends early");
    assert_eq!(length(0, 1), (1, true, 0), "it has no payload");
    let mut late = beats(header(0, 32), 32);
    late[1].beat.last = false;
    let late = outcome(&mut assembler(), &late);
    assert!(
        matches!(late, Err(TlpError::Length { beat: 2, .. })),
        "{late:?}"
    );
}

#[test]
fn a_write_has_a_translated_or_an_untranslated_address() {
    for (code, at) in [
        (0b01u64, AddressType::TranslationRequest),
        (0b11, AddressType::Reserved),
    ] {
        let header = WriteTlpHeader {
            at: code.to_bits(),
            ..header(0x5000, 1)
        };
        let refused = outcome(&mut assembler(), &beats(header, 1));
        let address = 0x5000;
        assert_eq!(refused, Err(TlpError::AddressType { address, at }));
    }
}

#[test]
fn the_rules_of_pcie_are_checked() {
    let large = MAX_PAYLOAD / 4 + 1;
    assert_eq!(refusal(header(0, large), large), Malformed::PayloadTooLarge);
    assert_eq!(refusal(header(0xffc, 2), 2), Malformed::Crosses4KiB);
    let holes = WriteTlpHeader {
        first_be: 0b0101u64.to_bits(),
        ..header(0, 3)
    };
    assert_eq!(refusal(holes, 3), Malformed::ByteEnables);
    let mut wide = assembler();
    wide.set_max_payload(2 * MAX_PAYLOAD);
    let accepted = outcome(&mut wide, &beats(header(0, large), large));
    assert!(accepted.is_ok_and(|accepted| accepted.complete.is_some()));
}
