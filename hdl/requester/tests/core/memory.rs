//! Host memory with send queue entries and nothing else.

use std::collections::BTreeMap;

use stellar_transport::endpoint::{Memory, MemoryFault};
use stellar_transport::rx::WriteTlp;
use stellar_wire::host::Wqe;

/// Lines of entries by bus address.
#[derive(Clone, Default)]
pub struct Entries(pub BTreeMap<u64, [u8; Wqe::LEN]>);

impl Memory for Entries {
    fn read(&mut self, address: u64, _: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        let length = into.len();
        for (line, address) in into.chunks_mut(Wqe::LEN).zip((address..).step_by(Wqe::LEN)) {
            let found = self.0.get(&address);
            line.copy_from_slice(found.ok_or(MemoryFault { address, length })?);
        }
        Ok(())
    }

    fn write(&mut self, tlp: &WriteTlp) {
        panic!("a requester writes nothing: {tlp:?}");
    }
}
