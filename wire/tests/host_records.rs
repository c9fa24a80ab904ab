//! WQE, CQE, EQE and doorbell: round trips of random values, fields at their documented places, refusals.

use proptest::prelude::*;
use stellar_wire::host::{
    Cqe, CqeOpcode, Doorbell, Eqe, EventKind, WcStatus, Wqe, WqeOpcode, WqeSize,
};
use stellar_wire::WireError;

fn wqe() -> impl Strategy<Value = Wqe> {
    let flags = any::<(bool, bool, bool)>();
    let words = any::<(u16, u32, u64, u32, u32, u64, u64, u32)>();
    (
        prop::sample::select(WqeOpcode::ALL),
        flags,
        words,
        any::<[[u8; 32]; 2]>(),
    )
        .prop_map(|(opcode, (signaled, inline, fence), w, data)| Wqe {
            opcode,
            signaled,
            inline,
            fence,
            slot: w.0,
            length: w.1,
            remote_va: w.2,
            rkey: w.3,
            immediate: w.4,
            wr_id: w.5,
            local_va: if inline { 0 } else { w.6 },
            lkey: if inline { 0 } else { w.7 },
            inline_data: std::array::from_fn(|i| if inline { data[i / 32][i % 32] } else { 0 }),
        })
}

proptest! {
    #[test]
    fn a_wqe_comes_back(wqe in wqe()) {
        prop_assert_eq!(Wqe::from_long_bytes(&wqe.to_long_bytes()), Ok(wqe));
        let mut short = wqe;
        short.inline_data[32..].fill(0);
        prop_assert_eq!(Wqe::from_bytes(&wqe.to_bytes()), Ok(short));
    }

    #[test]
    fn a_cqe_comes_back(
        status in prop::sample::select(WcStatus::ALL), opcode in prop::sample::select(CqeOpcode::ALL), phase: bool,
        qp in 0..1u32 << 24, msn in 0..1u32 << 24, wr_id: u64, byte_len: u32, immediate: u32, sq_head: u16,
    ) {
        let cqe = Cqe { status, opcode, phase, qp, wr_id, byte_len, immediate, msn, sq_head };
        prop_assert_eq!(Cqe::from_bytes(&cqe.to_bytes()), Ok(cqe));
    }

    #[test]
    fn an_eqe_comes_back(kind in prop::sample::select(EventKind::ALL), phase: bool, source in 0..1u32 << 24, data: u64) {
        let eqe = Eqe { kind, phase, source, data };
        prop_assert_eq!(Eqe::from_bytes(&eqe.to_bytes()), Ok(eqe));
    }

    #[test]
    fn a_doorbell_comes_back(qp in 0..1u32 << 24, producer: u16) {
        let doorbell = Doorbell { qp, producer };
        prop_assert_eq!(Doorbell::from_bytes(&doorbell.to_bytes()), doorbell);
    }

    /// Random bytes either are refused, or mean something that is written back alike but for reserved bits.
    #[test]
    fn a_wqe_of_random_bytes_keeps_its_meaning(bytes: [u8; 32], more: [u8; 32]) {
        let mut all = [0; Wqe::LEN];
        all[..32].copy_from_slice(&bytes);
        all[32..].copy_from_slice(&more);
        all[0] %= 6;
        match Wqe::from_bytes(&all) {
            Ok(wqe) => prop_assert_eq!(Wqe::from_bytes(&wqe.to_bytes()), Ok(wqe)),
            Err(error) => {
                prop_assert!(all[0] > 2);
                prop_assert_eq!(error, WireError::BadField { field: "WQE.opcode", value: all[0].into() });
            }
        }
    }
}

#[test]
fn wqe_fields_are_where_the_table_says() {
    let entry = Wqe {
        opcode: WqeOpcode::WriteImm,
        signaled: true,
        inline: false,
        fence: true,
        slot: 0x0201,
        length: 0x0807_0605,
        remote_va: 0x1817_1615_1413_1211,
        rkey: 0x2423_2221,
        immediate: 0x2827_2625,
        wr_id: 0x3837_3635_3433_3231,
        local_va: 0x4847_4645_4443_4241,
        lkey: 0x5453_5251,
        inline_data: [0x60; Wqe::INLINE],
    };
    let inline = Wqe {
        inline: true,
        inline_data: std::array::from_fn(|i| 0x60 + i as u8),
        ..entry
    };
    let bytes = entry.to_bytes();
    assert_eq!(bytes[..8], [2, 0b101, 1, 2, 5, 6, 7, 8]);
    assert_eq!(
        (bytes[8], bytes[15], bytes[16], bytes[20]),
        (0x11, 0x18, 0x21, 0x25)
    );
    assert_eq!((bytes[24], bytes[32], bytes[40]), (0x31, 0x41, 0x51));
    assert_eq!(bytes[44..], [0; 20]);
    let bytes = inline.to_long_bytes();
    assert_eq!((bytes[1], bytes[24]), (0b111, 0x31));
    assert_eq!((bytes[32], bytes[63], bytes[95]), (0x60, 0x7f, 0x9f));
    assert_eq!(bytes[96..], [0; 32]);
}

#[test]
fn an_entry_is_as_long_as_its_inline_data_need() {
    let sizes = [0, 32, 33, 64, 65].map(WqeSize::for_inline);
    let (short, long) = (Some(WqeSize::Bytes64), Some(WqeSize::Bytes128));
    assert_eq!(sizes, [short, short, long, long, None]);
    assert_eq!(
        (WqeSize::Bytes64.bytes(), WqeSize::Bytes128.bytes()),
        (64, 128)
    );
}

#[test]
fn cqe_eqe_and_doorbell_fields_are_where_the_tables_say() {
    let cqe = Cqe {
        status: WcStatus::RetryExcErr,
        opcode: CqeOpcode::RecvRdmaWithImm,
        phase: true,
        qp: 0x03_0201,
        wr_id: 0x11,
        byte_len: 0x21,
        immediate: 0x31,
        msn: 0x41,
        sq_head: 0x5152,
    }
    .to_bytes();
    assert_eq!(cqe[..8], [12, 0x81, 1, 0, 1, 2, 3, 0]);
    assert_eq!(
        (cqe[8], cqe[16], cqe[20], cqe[24]),
        (0x11, 0x21, 0x31, 0x41)
    );
    assert_eq!(cqe[28..], [0x52, 0x51, 0, 0]);
    let eqe = Eqe {
        kind: EventKind::ImmThreshold,
        phase: true,
        source: 0x03_0201,
        data: 0x77,
    }
    .to_bytes();
    assert_eq!(eqe[..9], [3, 1, 0, 0, 1, 2, 3, 0, 0x77]);
    let doorbell = Doorbell {
        qp: 0x03_0201,
        producer: 0x0504,
    };
    assert_eq!(doorbell.to_bytes(), [1, 2, 3, 0, 4, 5, 0, 0]);
}

#[test]
fn undefined_codes_are_refused_by_name() {
    let bad = |field, value| WireError::BadField { field, value };
    assert_eq!(Cqe::from_bytes(&[3; 32]), Err(bad("CQE.status", 3)));
    let mut cqe = [0; 32];
    cqe[1] = 9;
    assert_eq!(Cqe::from_bytes(&cqe), Err(bad("CQE.opcode", 9)));
    assert_eq!(Eqe::from_bytes(&[0; 16]), Err(bad("EQE.kind", 0)));
}

#[test]
fn a_refused_wqe_still_tells_whose_it_was() {
    let mut bytes = Wqe {
        wr_id: 0xfeed,
        ..Wqe::default()
    }
    .to_bytes();
    bytes[0] = 0xee;
    assert!(Wqe::from_bytes(&bytes).is_err());
    assert_eq!(Wqe::wr_id_of(&bytes), 0xfeed);
}

#[test]
#[should_panic(expected = "doorbell.qp")]
fn a_wide_queue_pair_number_is_not_cut() {
    let _ = Doorbell {
        qp: 1 << 24,
        producer: 0,
    }
    .to_bytes();
}
