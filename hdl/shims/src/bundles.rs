//! The streams of AMD's CMAC with its AXI4-stream interface (PG203). Byte `i` of a beat is `tdata[8i + 7 : 8i]`, and bit `i` of `tkeep` says that it is valid.

use hdl_macros::bundle;
use rust_hdl::prelude::*;

/// The driving end of the frames that the CMAC received. It accepts no back-pressure, and may pause inside a frame.
#[bundle]
pub struct CmacRxSrc {
    pub tvalid: Signal<Out, Bit>,
    pub tdata: Signal<Out, Bits<512>>,
    pub tkeep: Signal<Out, Bits<64>>,
    pub tlast: Signal<Out, Bit>,
    /// With `tlast`: the frame is damaged.
    pub tuser: Signal<Out, Bit>,
}

/// The driving end of the frames that the CMAC sends. Between the first and the last beat of a frame `tvalid` must not fall (PG203: an underflow).
#[bundle(keep)]
pub struct CmacTxSrc {
    pub tvalid: Signal<Out, Bit>,
    pub tdata: Signal<Out, Bits<512>>,
    pub tkeep: Signal<Out, Bits<64>>,
    pub tlast: Signal<Out, Bit>,
    /// With `tlast`: the CMAC makes the frame invalid.
    pub tuser: Signal<Out, Bit>,
    pub tready: Signal<In, Bit>,
}

/// The driving end of a segment of AMD's DCMAC (PG369): 128 bits, of which four make a cycle of a 200G port. The cycle's `tvalid` and `tready` are beside them.
#[bundle]
pub struct DcmacSegmentSrc {
    /// Byte `i` is `tdata[8i + 7 : 8i]`.
    pub tdata: Signal<Out, Bits<128>>,
    /// The segment is in use.
    pub ena: Signal<Out, Bit>,
    /// It begins a frame.
    pub sop: Signal<Out, Bit>,
    /// It ends a frame.
    pub eop: Signal<Out, Bit>,
    /// With `eop`: the frame is damaged.
    pub err: Signal<Out, Bit>,
    /// With `eop`: bytes at its end that are not valid.
    pub mty: Signal<Out, Bits<4>>,
}

/// The driving end of a stream of frames to a MAC, `W` bits per beat, as `MacTxSrc` and with an error.
#[bundle(keep, frames)]
pub struct FrameTxSrc<const W: usize> {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<W>>,
    /// Valid bytes of this beat: all unless `last`, and at least 1.
    pub bytes: Signal<Out, Bits<8>>,
    pub last: Signal<Out, Bit>,
    /// With `last`: the MAC has to make the frame invalid.
    pub error: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
}

/// The driving end of an AXI4-Lite interface of 32 bits: the master (AMBA AXI, chapter B1). AMD's DCMAC has neither `wstrb` nor `prot`.
#[bundle]
pub struct AxiLiteSrc {
    pub awaddr: Signal<Out, Bits<32>>,
    pub awvalid: Signal<Out, Bit>,
    pub awready: Signal<In, Bit>,
    pub wdata: Signal<Out, Bits<32>>,
    pub wvalid: Signal<Out, Bit>,
    pub wready: Signal<In, Bit>,
    pub bresp: Signal<In, Bits<2>>,
    pub bvalid: Signal<In, Bit>,
    pub bready: Signal<Out, Bit>,
    pub araddr: Signal<Out, Bits<32>>,
    pub arvalid: Signal<Out, Bit>,
    pub arready: Signal<In, Bit>,
    pub rdata: Signal<In, Bits<32>>,
    pub rresp: Signal<In, Bits<2>>,
    pub rvalid: Signal<In, Bit>,
    pub rready: Signal<Out, Bit>,
}
