//! Host memory with send queue entries and nothing else.

use std::collections::BTreeMap;

use stellar_transport::endpoint::{Memory, MemoryFault};
use stellar_transport::rx::WriteTlp;
use stellar_wire::host::Wqe;

/// Entries by bus address.
#[derive(Clone, Default)]
pub struct Entries(pub BTreeMap<u64, [u8; Wqe::LEN]>);

impl Memory for Entries {
    fn read(&mut self, address: u64, _: bool, into: &mut [u8]) -> Result<(), MemoryFault> {
        let length = into.len();
        let entry = self
            .0
            .get(&address)
            .ok_or(MemoryFault { address, length })?;
        into.copy_from_slice(entry);
        Ok(())
    }

    fn write(&mut self, tlp: &WriteTlp) {
        panic!("a requester writes nothing: {tlp:?}");
    }
}
