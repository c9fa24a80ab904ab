//! A reset block, and the writes that leave it.

use hdl_testkit::Dut;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use stellar_wire::host::VectorEntry;
use stellar_wire::hw::completer::BarAccess;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::pack::Record;

/// The generator of a test case.
pub fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// The writes to BAR4 that set the entry of a vector.
pub fn vector_access(vector: u16, entry: VectorEntry) -> [BarAccess; 2] {
    [0, 1].map(|word| BarAccess {
        write: true,
        bar: 4u64.to_bits(),
        address: (VectorEntry::offset(vector) + 8 * word).to_bits(),
        data: entry.to_words()[word as usize].to_bits(),
        enable: 0xffu64.to_bits(),
    })
}

/// The block out of reset, its outputs settled.
pub fn reset<B: Block + Default + 'static>() -> Dut {
    let mut dut = Dut::new::<B>();
    dut.reset(2);
    dut.settle();
    dut
}

/// A memory write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostWrite {
    pub address: u64,
    pub bytes: Vec<u8>,
}

impl HostWrite {
    /// The write at `header` and `data`, which must consist of whole double words, be untranslated, and be zero behind its end.
    pub fn at(dut: &Dut, header: &str, data: &str) -> Self {
        let words = dut.words(header);
        let record = Record::<WriteTlpHeader>::new(&words);
        let dwords = record.u64("length_dw") as usize;
        assert_eq!(record.u64("at"), 0);
        assert_eq!(record.u64("first_be"), 15);
        assert_eq!(record.u64("last_be"), if dwords == 1 { 0 } else { 15 });
        let payload = dut.words(data);
        assert!(payload[dwords..].iter().all(|&word| word == 0));
        Self {
            address: record.u64("address_dw") << 2,
            bytes: payload[..dwords]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect(),
        }
    }
}
