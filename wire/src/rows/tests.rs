//! The plain packing of every row against the hardware's record of the same layout.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use rust_hdl::prelude::Synth;

use super::*;
use crate::hw::pack::{to_words, Record};
use crate::WireError;

/// Maximum number of words of a row.
const WORDS: usize = 32;

/// Bits behind the row cleared.
fn cut(words: &[u32], bits: usize) -> Vec<u32> {
    let kept = |n: usize| match bits.saturating_sub(32 * n) {
        left @ 0..32 => (1 << left) - 1,
        _ => u32::MAX,
    };
    let words = words.iter().enumerate();
    words
        .map(|(n, word)| word & kept(n))
        .take(bits.div_ceil(32))
        .collect()
}

/// Random bits make a row; it packs to the same bits, and so does its record.
fn agree<R: Row + std::fmt::Debug + PartialEq, H: Synth>(to_hw: fn(&R) -> H) {
    assert_eq!(R::BITS, H::BITS, "{}", H::descriptor().name);
    let mut runner = TestRunner::default();
    let words = prop::collection::vec(any::<u32>(), WORDS);
    let run = runner.run(&words, |words| {
        let row = match R::unpack(&words) {
            Err(WireError::BadField { .. }) => {
                return Err(TestCaseError::reject("a code that no policy has"))
            }
            row => row.expect("a row"),
        };
        let bits = cut(&words, R::BITS);
        prop_assert_eq!(&row.pack(), &bits);
        prop_assert_eq!(&to_words(to_hw(&row)), &bits);
        Ok(())
    });
    run.unwrap_or_else(|failure| panic!("{}: {failure}", H::descriptor().name));
}

#[test]
fn every_row_packs_as_its_record() {
    for table in ConfigSelect::ALL {
        match table {
            ConfigSelect::Qp => agree(QpRow::to_hw),
            ConfigSelect::Mr => agree(MrRow::to_hw),
            ConfigSelect::Emtt => agree(EmttRow::to_hw),
            ConfigSelect::Requester => agree(RequesterRow::to_hw),
            ConfigSelect::SendQueue => agree(SendQueueRow::to_hw),
            ConfigSelect::Spray => agree(SprayRow::to_hw),
            ConfigSelect::Profile => agree(ProfileRow::to_hw),
            ConfigSelect::Nscc => agree(NsccRegisters::to_hw),
            ConfigSelect::Address0 | ConfigSelect::Address1 => agree(AddressRow::to_hw),
            ConfigSelect::Port => agree(PortRow::to_hw),
            ConfigSelect::Peer => agree(PeerRow::to_hw),
            ConfigSelect::Responder => agree(ResponderRow::to_hw),
            ConfigSelect::CompletionQueue | ConfigSelect::EventQueue => agree(RingRow::to_hw),
            ConfigSelect::Tenant => agree(TenantRow::to_hw),
            ConfigSelect::PathUse => agree(PathUseRow::to_hw),
            ConfigSelect::Explicit => agree(ExplicitRow::to_hw),
        }
    }
}

#[test]
fn fields_of_a_row_are_where_the_record_has_them() {
    let row = MrRow {
        valid: true,
        key: 0xa5,
        pd: 0xabcde,
        page_size: PageSize::Size2M,
        base_va: 0x0123_4567_89ab_cdef,
        on_demand: true,
        ..MrRow::default()
    };
    let words = row.pack();
    let record = Record::<crate::hw::tables::MrEntry>::new(&words);
    assert!(record.bool("valid") && record.bool("on_demand") && !record.bool("remote_write"));
    assert_eq!((record.u64("key"), record.u64("pd")), (0xa5, 0xabcde));
    assert_eq!(record.variant("page_size"), "PageSize::Size2M");
    assert_eq!(record.u64("base_va"), 0x0123_4567_89ab_cdef);
}

#[test]
fn every_table_stands_at_its_number() {
    for (number, table) in ConfigSelect::ALL.into_iter().enumerate() {
        assert_eq!(usize::from(table.index()), number);
    }
    const { assert!(ConfigSelect::COUNT <= 1 << <ConfigSelect as Field>::BITS) };
}

#[test]
fn software_and_hardware_encode_enums_alike() {
    fn check<T: Field + Synth>(variants: &[T], index: fn(T) -> u8) {
        assert_eq!(<T as Field>::BITS, <T as Synth>::BITS);
        for &variant in variants {
            assert_eq!(to_words(variant), [u32::from(index(variant))]);
        }
    }
    check(&ConfigSelect::ALL, ConfigSelect::index);
    check(&QpMode::ALL, QpMode::index);
    check(&QpState::ALL, QpState::index);
    check(&PageSize::ALL, PageSize::index);
    check(&Owner::ALL, Owner::index);
    check(&SprayPolicy::ALL, SprayPolicy::index);
    check(&SprayFeedback::ALL, SprayFeedback::index);
    check(&crate::Position::ALL, crate::Position::index);
    check(&crate::receive::DropReason::ALL, |reason| reason.index());
    check(&crate::receive::RcClass::ALL, |class| class.index());
    check(&crate::receive::AckKind::ALL, |kind| kind.index());
}

#[test]
#[should_panic(expected = "pd: value 0x100000 does not fit 20 bits")]
fn a_value_that_does_not_fit_is_named() {
    let row = QpRow {
        pd: 1 << 20,
        ..QpRow::default()
    };
    row.pack();
}

#[test]
fn an_undefined_code_is_refused() {
    let bits = [u32::MAX];
    let found = crate::receive::RcClass::get("class", &FieldBits::from_slice(&bits)[..3]);
    let expected = crate::WireError::BadField {
        field: "class",
        value: 7,
    };
    assert_eq!(found, Err(expected));
}
