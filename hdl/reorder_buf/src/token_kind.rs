//! Selects the tokens on which the trackers act.

use hdl_macros::hdl_fn;
use rust_hdl::prelude::*;
use stellar_wire::hw::core::{CoreToken, TokenKind};
use stellar_wire::hw::tables::TableSelect;
use stellar_wire::hw::{Qpn, QPN_BITS};

/// Whether the token is a frame.
#[hdl_fn]
pub fn is_packet(kind: TokenKind) -> Bit {
    kind == TokenKind::Packet
}

/// Whether the token writes the context of a queue pair that exists: an index beyond the 2^`Q` entries writes nothing.
#[hdl_fn]
pub fn writes_qp<const Q: usize>(token: CoreToken) -> Bit {
    let is_table = token.kind == TokenKind::Table;
    let selects_qp = token.table.select == TableSelect::Qp;
    is_table & selects_qp & !(token.table.index >> (Q as u64)).any()
}

/// Row of the tracker memories: the queue pair of the token.
#[hdl_fn]
pub fn row_of<const Q: usize>(token: CoreToken) -> Qpn {
    let row = match token.kind {
        TokenKind::Table => token.table.index.get_bits::<Q>(0),
        _ => token.headers.dest_qp.get_bits::<Q>(0),
    };
    bit_cast::<QPN_BITS, Q>(row)
}
