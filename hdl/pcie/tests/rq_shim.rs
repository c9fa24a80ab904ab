//! The requester request shim and the descriptor record, both compared with the descriptor codec.

use hdl_pcie::{RqShim1024, RqShim512};
use hdl_testkit::library;
use proptest::prelude::*;
use rust_hdl::prelude::*;
use sim_verilated::Model;
use stellar_transport::rx::{write_tlps, MaxPayload, Piece, WriteTlp};
use stellar_wire::hw::pack::to_words;
use stellar_wire::hw::rq::RqDescriptor;
use stellar_wire::pcie::descriptor::{RequestType, RequesterRequest};
use stellar_wire::pcie::{AddressType, Attributes};
use stellar_wire::Header;

fn shim(wide: bool) -> Model {
    if wide {
        library::<RqShim1024>().instantiate()
    } else {
        library::<RqShim512>().instantiate()
    }
}

/// The TLPs that a PCIe block without straddle reads from the stream.
struct Request {
    descriptor: RequesterRequest,
    payload: Vec<u8>,
    first_be: u64,
    last_be: u64,
    beats: usize,
}

/// Sends the TLPs through the shim. `pause` says per cycle and side (0 = TLPs, 1 = PCIe) whether it pauses.
fn transfer(
    wide: bool,
    tlps: &[WriteTlp],
    mut pause: impl FnMut(usize) -> bool,
) -> (Vec<Request>, usize) {
    let mut shim = shim(wide);
    let (bytes, last_be_at) = if wide { (128, 16) } else { (64, 8) };
    let port = |name: &str| shim.port(name).expect("a port of rq_shim");
    let [clock, reset, valid, ready, data, header, first, last] = [
        "clock",
        "reset",
        "tlp_valid",
        "tlp_ready",
        "tlp_data",
        "tlp_header",
        "tlp_first",
        "tlp_last",
    ]
    .map(port);
    let [tvalid, tready, tdata, tkeep, tlast, tuser, empty] = [
        "rq_tvalid",
        "rq_tready",
        "rq_tdata",
        "rq_tkeep",
        "rq_tlast",
        "rq_tuser",
        "empty",
    ]
    .map(port);
    shim.set_u64(reset, 1);
    shim.clock(clock);
    shim.set_u64(reset, 0);

    let mut beats = tlps.iter().flat_map(|tlp| {
        let count = tlp.data.len().div_ceil(bytes);
        tlp.data
            .chunks(bytes)
            .enumerate()
            .map(move |(i, c)| (tlp, c, i == 0, i + 1 == count))
    });
    let mut next = beats.next();
    let (mut requests, mut stream, mut taken) = (vec![], vec![], 0);
    let mut clocks = 0;
    while requests.len() < tlps.len() {
        clocks += 1;
        assert!(
            clocks < 100_000,
            "hung after {} of {} TLPs",
            requests.len(),
            tlps.len()
        );
        let pciepause = pause(1);
        shim.set_u64(tready, (!pciepause).into());
        let offered = next.filter(|_| !pause(0));
        shim.set_u64(valid, offered.is_some().into());
        if let Some((tlp, chunk, is_first, is_last)) = offered {
            let mut lane = chunk.to_vec();
            lane.resize(bytes, 0);
            let words: Vec<u32> = lane
                .chunks(4)
                .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
                .collect();
            shim.set(data, &words);
            shim.set(header, &to_words(tlp.to_hw()));
            shim.set_u64(first, is_first.into());
            shim.set_u64(last, is_last.into());
        }
        shim.eval();
        if offered.is_some() && shim.get_u64(ready) == 1 {
            next = beats.next();
        }
        if shim.get_u64(tvalid) == 1 && !pciepause {
            assert_eq!(shim.get_u64(empty), 0);
            let keep = shim.get_u64(tkeep);
            let count = keep.count_ones() as usize;
            assert_eq!(keep, u64::MAX >> (64 - count), "gaps in tkeep");
            let words = shim.get_words(tdata).to_vec();
            stream.extend(words[..count].iter().flat_map(|w| w.to_le_bytes()));
            assert!(words[count..].iter().all(|w| *w == 0));
            taken += 1;
            if shim.get_u64(tlast) == 1 {
                let user = shim.get_u64(tuser);
                let (descriptor, payload) = RequesterRequest::parse(&stream).expect("a descriptor");
                requests.push(Request {
                    descriptor,
                    payload: payload.to_vec(),
                    first_be: user & 15,
                    last_be: user >> last_be_at & 15,
                    beats: std::mem::take(&mut taken),
                });
                stream.clear();
            } else {
                assert_eq!(count * 4, bytes, "a partial beat in the middle");
            }
        }
        shim.clock(clock);
    }
    assert_eq!((shim.get_u64(tvalid), shim.get_u64(empty)), (0, 1));
    (requests, clocks)
}

fn tlps(lengths: &[(u64, u16, bool)], mps: usize) -> Vec<WriteTlp> {
    let mps = MaxPayload::new(mps).unwrap();
    let one = |&(address, length, translated): &(u64, u16, bool)| {
        let payload: Vec<u8> = (0..length)
            .map(|i| (i as u8) ^ (address as u8) | 1)
            .collect();
        let segment = Piece {
            address: address >> 1,
            length: length.into(),
            translated,
        };
        write_tlps(&[segment], &payload, mps)
    };
    lengths.iter().flat_map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_are_the_tlps_that_went_in(
        wide: bool,
        writes in prop::collection::vec((any::<u64>(), 1u16..=1500, any::<bool>()), 1..12),
        mps_code in 0u32..4,
        pauses in prop::collection::vec(any::<(bool, bool)>(), 1..64),
    ) {
        let tlps = tlps(&writes, 128 << mps_code);
        let mut turn = 0;
        // Every pattern lets both sides be active at times.
        let (requests, _) = transfer(wide, &tlps, |side| {
            turn += 1;
            let (a, b) = pauses[turn / 2 % pauses.len()];
            turn % 7 != 0 && turn % 5 != 0 && if side == 0 { a } else { b }
        });
        for (request, tlp) in requests.iter().zip(&tlps) {
            prop_assert_eq!(&request.payload, &tlp.data);
            prop_assert_eq!(request.first_be, u64::from(tlp.first_be));
            prop_assert_eq!(request.last_be, u64::from(tlp.last_be));
            let bytes = if wide { 128 } else { 64 };
            prop_assert_eq!(request.beats, (16 + tlp.data.len()).div_ceil(bytes));
            prop_assert_eq!(&request.descriptor, &RequesterRequest {
                address_type: AddressType::from_bits(tlp.at),
                address: tlp.address,
                dword_count: tlp.length_dw as u16,
                request_type: RequestType::MemWrite,
                poisoned: false,
                requester: 0,
                tag: 0,
                completer: 0,
                requester_id_enable: false,
                traffic_class: 0,
                attributes: Attributes::default(),
                force_ecrc: false,
            });
        }
    }

    #[test]
    fn the_descriptor_record_has_the_codecs_layout(
        at in 0u8..4, address_dw in 0u64..1 << 62, dword_count in 0u16..=1024, request_type in 0u64..=6, flags in 0u8..8,
        requester: u16, tag: u8, completer: u16, traffic_class in 0u8..8, attributes in 0u8..8,
    ) {
        let record = RqDescriptor {
            at: u64::from(at).to_bits(),
            address_dw: address_dw.to_bits(),
            dword_count: u64::from(dword_count).to_bits(),
            request_type: request_type.to_bits(),
            poisoned: flags & 1 != 0,
            requester: u64::from(requester).to_bits(),
            tag: u64::from(tag).to_bits(),
            completer: u64::from(completer).to_bits(),
            requester_id_enable: flags & 2 != 0,
            traffic_class: u64::from(traffic_class).to_bits(),
            attributes: u64::from(attributes).to_bits(),
            force_ecrc: flags & 4 != 0,
        };
        let bytes: Vec<u8> = to_words(record).iter().flat_map(|w| w.to_le_bytes()).collect();
        let (parsed, rest) = RequesterRequest::parse(&bytes).unwrap();
        prop_assert!(rest.is_empty());
        prop_assert_eq!(parsed, RequesterRequest {
            address_type: AddressType::from_bits(at),
            address: address_dw << 2,
            dword_count,
            request_type: RequestType::from_code(request_type as u8).unwrap(),
            poisoned: flags & 1 != 0,
            requester,
            tag,
            completer,
            requester_id_enable: flags & 2 != 0,
            traffic_class,
            attributes: Attributes::from_bits(attributes),
            force_ecrc: flags & 4 != 0,
        });
    }
}

/// 256 bytes at 1,024 bits: 272 bytes, 3 beats; at 512 bits 5. No cycle is lost between TLPs.
#[test]
fn back_to_back_requests_take_the_documented_beats() {
    for (wide, beats) in [(true, 3), (false, 5)] {
        let tlps = tlps(&[(0x2000, 4096, true)], 256);
        let (requests, clocks) = transfer(wide, &tlps, |_| false);
        assert!(requests.iter().all(|r| r.beats == beats));
        assert_eq!(clocks, 16 * beats + 1);
    }
}
