//! The extension headers between BTH and payload, as a set.

use crate::mrc::{CcState, Meth, Neth, Peth, Seth, Tseth};
use crate::{
    Aeth, AtomicAckEth, AtomicEth, Bth, Deth, Header, Ieth, ImmDt, Opcode, Reth, WireError,
};

/// Declares the set from one list in wire order. One list is enough, because no two headers have a different order in different opcodes.
macro_rules! extension_headers {
    ($($field:ident: $kind:ident),+ $(,)?) => {
        /// Kind of an extension header.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ExtKind { $($kind),+ }

        impl ExtKind {
            /// Every kind, in wire order.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// Length on the wire in bytes.
            #[inline]
            pub const fn wire_len(self) -> usize {
                match self { $(Self::$kind => $kind::LEN),+ }
            }

            /// Name as the standard writes it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $kind::NAME),+ }
            }
        }

        /// Extension headers of one packet. [`Opcode::ext_kinds`] says which of them an opcode requires.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct ExtHeaders { $(pub $field: Option<$kind>),+ }

        impl ExtHeaders {
            /// Whether the header is in the set.
            pub const fn contains(&self, kind: ExtKind) -> bool {
                match kind { $(ExtKind::$kind => self.$field.is_some()),+ }
            }

            /// Reads one header from the front of `bytes` into the set. Returns the rest.
            fn take<'a>(&mut self, kind: ExtKind, bytes: &'a [u8]) -> Result<&'a [u8], WireError> {
                match kind {
                    $(ExtKind::$kind => {
                        let (header, rest) = $kind::parse(bytes)?;
                        self.$field = Some(header);
                        Ok(rest)
                    })+
                }
            }

            /// Appends the headers of the set in wire order.
            pub fn emit(&self, out: &mut Vec<u8>) {
                $(if let Some(header) = &self.$field {
                    header.emit(out);
                })+
            }
        }
    };
}

extension_headers! {
    deth: Deth,
    meth: Meth,
    tseth: Tseth,
    reth: Reth,
    atomic: AtomicEth,
    aeth: Aeth,
    atomic_ack: AtomicAckEth,
    imm: ImmDt,
    ieth: Ieth,
    seth: Seth,
    cc_state: CcState,
    neth: Neth,
    peth: Peth,
}

impl ExtHeaders {
    /// Reads the headers that `bth` requires from the front of `bytes`. Returns them and the rest.
    ///
    /// # Errors
    /// [`WireError::Truncated`], and [`WireError::BadField`] where a header can have one.
    pub fn parse<'a>(bth: &Bth, bytes: &'a [u8]) -> Result<(Self, &'a [u8]), WireError> {
        let mut headers = Self::default();
        let mut rest = bytes;
        for kind in Self::expected(bth.opcode, bth.tseth_present) {
            rest = headers.take(kind, rest)?;
        }
        Ok((headers, rest))
    }

    /// Length of the headers in the set in bytes.
    pub fn wire_len(&self) -> usize {
        ExtKind::ALL
            .iter()
            .filter(|&&kind| self.contains(kind))
            .map(|kind| kind.wire_len())
            .sum()
    }

    /// Checks that the set is what `opcode` calls for.
    ///
    /// # Errors
    /// [`WireError::ExtMismatch`] naming the first header missing or in excess.
    pub fn check(&self, opcode: Opcode) -> Result<(), WireError> {
        let expected: Vec<_> = Self::expected(opcode, self.tseth.is_some()).collect();
        for &kind in ExtKind::ALL {
            let problem = match (expected.contains(&kind), self.contains(kind)) {
                (true, false) => "missing",
                (false, true) => "not part of it",
                _ => continue,
            };
            return Err(WireError::ExtMismatch {
                opcode: opcode.name(),
                kind: kind.name(),
                problem,
            });
        }
        Ok(())
    }

    /// The headers of an opcode in wire order, TSETH included where MRC data packets announce one.
    fn expected(opcode: Opcode, tseth: bool) -> impl Iterator<Item = ExtKind> {
        let tseth = tseth && opcode.is_mrc_data();
        opcode.ext_kinds().iter().flat_map(move |&kind| {
            let stamp = (tseth && kind == ExtKind::Meth).then_some(ExtKind::Tseth);
            std::iter::once(kind).chain(stamp)
        })
    }
}
