//! The project's blocks by name, for users that need the Verilog of one: Python's benches, and tools with a name as argument.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod profile;

use hdl_congestion::NsccEngine;
use hdl_crossings::{BlockAsyncFifo, LutAsyncFifo, PulseHandshake, ResetSynchroniser};
use hdl_emtt::LocalTranslate;
use hdl_host_if::{AdminQueue, BarDecoder, Doorbells, HostQueues, Registers};
use hdl_nic::{Nic, Nic16k, Nic512, Nic64k, RxLane1024, RxLane512, Top, RESET_CLOCKS, RESET_HOLD};
use hdl_pcie::bars::{Completer1024, Completer512};
use hdl_pcie::read::{DmaRead1024, DmaRead512};
use hdl_pcie::requester::{
    CompletionStream1024, CompletionStream512, RequestStream1024, RequestStream512,
};
use hdl_pcie::share::WriteArbiter;
use hdl_pcie::{DmaWrite1024, DmaWrite512};
use hdl_reorder_buf::{PsnTrack, RcTrack};
use hdl_requester::{RequesterEngine1024, RequesterEngine16};
use hdl_responder::Responder;
use hdl_rx_pipeline::Parse;
use hdl_send_queue::MessageTable;
use hdl_shims::{CmacShim, DcmacShim, DcmacStart100, EndpointCrossing, FunctionReset};
use hdl_spray_engine::SprayEngine;
use hdl_tx_pipeline::{TxFrameBuilder1024, TxFrameBuilder512, TxLane1024, TxLane512};
use hdl_tx_window::TxWindow;
use hdl_verilog::{Design, EmitError, Emitter};
use rust_hdl::prelude::{Bits, Block};
use thiserror::Error;

pub use hdl_nic::{Board, BoardFacts, MacKind, PcieKind, PcieLink, Shape, UnknownBoard};
pub use profile::{Profile, ProfileError};

/// rust-hdl stores `Bits<N>` as `[bool; N]`, so the value of a card is too large for the stack of an ordinary thread.
const STACK: usize = 512 << 20;

/// Why the Verilog could not be made.
#[derive(Debug, Error)]
pub enum DesignError {
    /// No block of this name.
    #[error("there is no design {name:?}; closest: {closest}")]
    Unknown {
        /// The given name.
        name: String,
        /// Similar names.
        closest: String,
    },
    /// The block cannot be translated.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// No thread could be started.
    #[error("cannot start a thread to elaborate in: {0}")]
    Thread(#[from] std::io::Error),
}

/// A block with a name.
pub struct Known {
    /// The design's name.
    pub name: &'static str,
    /// The design's description.
    pub what: &'static str,
    emit: fn() -> Result<Design, EmitError>,
    bitstream: fn() -> Result<Design, EmitError>,
    add: fn(&mut Emitter) -> Result<String, EmitError>,
}

fn connected<B: Block + Default>() -> Box<B> {
    let mut block = Box::<B>::default();
    block.connect_all();
    block
}

const fn known<B: Block + Default>(name: &'static str, what: &'static str) -> Known {
    Known {
        name,
        what,
        emit: || hdl_verilog::emit(connected::<B>().as_ref()),
        bitstream: || hdl_verilog::emit(connected::<B>().as_ref()),
        add: |emitter| emitter.add(connected::<B>().as_ref()),
    }
}

/// Every block that has a name. The functional units of the requester are here with few queue pairs, as in the tests of their crates: the logic is
/// the same.
pub const ALL: &[Known] = &[
    known::<RxLane512>("rx_lane_512", "receive lane of a 100G port"),
    known::<RxLane1024>("rx_lane_1024", "receive lane of a 200G port"),
    known::<Parse>("parse", "headers of a received packet"),
    known::<TxFrameBuilder512>(
        "tx_frame_builder_512",
        "records and payload to frames, 512 bits",
    ),
    known::<TxFrameBuilder1024>(
        "tx_frame_builder_1024",
        "records and payload to frames, 1,024 bits",
    ),
    known::<TxLane512>("tx_lane_512", "transmit lane of a 100G port"),
    known::<TxLane1024>("tx_lane_1024", "transmit lane of a 200G port"),
    known::<DmaWrite512>("dma_write_512", "DMA write engine, 512 bits"),
    known::<DmaWrite1024>("dma_write_1024", "DMA write engine, 1,024 bits"),
    known::<DmaRead512>("dma_read_512", "DMA read engine, 512 bits"),
    known::<DmaRead1024>("dma_read_1024", "DMA read engine, 1,024 bits"),
    known::<WriteArbiter<512, 3, 2>>(
        "write_arbiter_512",
        "streams of write TLPs to one, 512 bits",
    ),
    known::<RequestStream512>(
        "request_stream_512",
        "writes and reads as AMD's requester requests with straddle, 512 bits",
    ),
    known::<RequestStream1024>(
        "request_stream_1024",
        "writes and reads as AMD's requester requests with straddle, 1,024 bits",
    ),
    known::<CompletionStream512>(
        "completion_stream_512",
        "completions from AMD's requester completions with straddle, 512 bits",
    ),
    known::<CompletionStream1024>(
        "completion_stream_1024",
        "completions from AMD's requester completions with straddle, 1,024 bits",
    ),
    known::<Completer512>(
        "completer_512",
        "the host's accesses to BARs by AMD's completer streams, 512 bits",
    ),
    known::<Completer1024>(
        "completer_1024",
        "the host's accesses to BARs by AMD's completer streams, 1,024 bits",
    ),
    known::<BarDecoder>("bar_decoder", "accesses to BARs to the BAR they are for"),
    known::<HostQueues<2, 512>>(
        "host_queues_512",
        "completion queues, event queues, MSI-X; 4 queue pairs",
    ),
    known::<Registers<10, 12, 19>>("registers", "registers of BAR0"),
    known::<AdminQueue<10, 12, 19>>("admin_queue", "table rows out of a ring in host memory"),
    known::<Doorbells<2, 4>>(
        "doorbells",
        "doorbell pages of BAR2; 4 queue pairs, 16 pages that push",
    ),
    known::<LocalTranslate<6, 7>>(
        "local_translate",
        "regions and eMTT of the transmit side; 64 regions, 512 pages",
    ),
    known::<SprayEngine<2>>("spray_engine", "path choice; 4 queue pairs"),
    known::<NsccEngine<3>>("nscc_engine", "congestion windows; 8 queue pairs"),
    known::<TxWindow<2, 4, 7>>(
        "tx_window",
        "transmit windows; 4 queue pairs that share 16 blocks",
    ),
    known::<MessageTable<2, 4, 7>>("message_table", "send queues; 4 queue pairs"),
    known::<PsnTrack>(
        "psn_track",
        "windows of the receive core; 1,024 queue pairs",
    ),
    known::<RcTrack>(
        "rc_track",
        "reliable connections of the receive core; 1,024 queue pairs",
    ),
    known::<Responder<2, 8, 9, 9>>("responder", "answers and immediates; 4 queue pairs"),
    known::<RequesterEngine1024>("requester_engine", "requester; 1,024 queue pairs"),
    known::<RequesterEngine16>("requester_engine_16", "requester; 16 queue pairs"),
    known::<LutAsyncFifo<Bits<521>, 5, 6>>(
        "async_fifo_lut",
        "a stream from one clock to another in LUT RAM; 32 beats of a 512-bit MAC",
    ),
    known::<BlockAsyncFifo<Bits<521>, 9, 10>>(
        "async_fifo_block",
        "a stream from one clock to another in block RAM; 512 beats of a 512-bit MAC",
    ),
    known::<PulseHandshake<3>>("pulse_handshake", "a pulse from one clock to another"),
    known::<ResetSynchroniser<3>>("reset_synchroniser", "a reset from any clock"),
    known::<CmacShim>("cmac_shim", "a 512-bit port of the card at AMD's CMAC"),
    known::<DcmacShim>(
        "dcmac_shim",
        "a 1,024-bit port of the card at a 200G port of AMD's DCMAC",
    ),
    known::<DcmacStart100>(
        "dcmac_start",
        "starts AMD's DCMAC and both of its 200G ports by its registers",
    ),
    known::<EndpointCrossing>(
        "endpoint_crossing",
        "endpoint 1 of the card at a PCIe block with a clock of its own",
    ),
    known::<FunctionReset<RESET_HOLD, RESET_CLOCKS, 11, 1>>(
        "function_reset",
        "the card's reset, from those of AMD's PCIe block",
    ),
    known::<FunctionReset<RESET_HOLD, RESET_CLOCKS, 11, 2>>(
        "function_reset_2",
        "the card's reset, from those of two functions",
    ),
    Known {
        name: Shape::TwoPorts1024.design(),
        what: "the card of a V80: two lanes of 1,024 bits",
        emit: || Top::Nic(Shape::TwoPorts1024).elaborate(),
        bitstream: || Top::Bitstream(Shape::TwoPorts1024).elaborate(),
        add: |emitter| emitter.add_as(connected::<Nic>().as_ref(), "nic"),
    },
    Known {
        name: Shape::TwoPorts1024Qp16k.design(),
        what: "the card of a V80 with 16,384 queue pairs",
        emit: || Top::Nic(Shape::TwoPorts1024Qp16k).elaborate(),
        bitstream: || Top::Bitstream(Shape::TwoPorts1024Qp16k).elaborate(),
        add: |emitter| emitter.add_as(connected::<Nic16k>().as_ref(), "nic_16k"),
    },
    Known {
        name: Shape::TwoPorts1024Qp64k.design(),
        what: "the card of a V80 with 65,536 queue pairs",
        emit: || Top::Nic(Shape::TwoPorts1024Qp64k).elaborate(),
        bitstream: || Top::Bitstream(Shape::TwoPorts1024Qp64k).elaborate(),
        add: |emitter| emitter.add_as(connected::<Nic64k>().as_ref(), "nic_64k"),
    },
    Known {
        name: Shape::OnePort512.design(),
        what: "the card of a U250, U280 or U55C: one lane of 512 bits",
        emit: || Top::Nic(Shape::OnePort512).elaborate(),
        bitstream: || Top::Bitstream(Shape::OnePort512).elaborate(),
        add: |emitter| emitter.add_as(connected::<Nic512>().as_ref(), "nic_512"),
    },
];

/// The block `name`.
///
/// # Errors
/// [`DesignError::Unknown`].
pub fn find(name: &str) -> Result<&'static Known, DesignError> {
    ALL.iter()
        .find(|known| known.name == name)
        .ok_or_else(|| DesignError::Unknown {
            name: name.into(),
            closest: closest(name),
        })
}

/// The three most similar names (Jaro-Winkler similarity), best first.
fn closest(name: &str) -> String {
    let mut names: Vec<&str> = ALL.iter().map(|known| known.name).collect();
    let likeness = |known: &str| strsim::jaro_winkler(known, name);
    names.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    names.truncate(3);
    names.join(", ")
}

/// The block `name` as Verilog, with all of its ports.
///
/// # Errors
/// [`DesignError`].
pub fn elaborate(name: &str) -> Result<Design, DesignError> {
    let known = find(name)?;
    on_large_stack(known.emit)
}

/// The block `name` as Verilog for a bitstream: without the outputs that only simulation reads.
///
/// # Errors
/// [`DesignError`].
pub fn for_bitstream(name: &str) -> Result<Design, DesignError> {
    let known = find(name)?;
    on_large_stack(known.bitstream)
}

/// The blocks `names` as one source text, which contains shared modules once, and the names of their top modules.
///
/// # Errors
/// [`DesignError`].
pub fn together(names: &[String]) -> Result<(Vec<String>, String), DesignError> {
    let blocks = names.iter().map(|name| find(name));
    let blocks: Vec<&Known> = blocks.collect::<Result<_, _>>()?;
    on_large_stack(move || {
        let mut emitter = Emitter::default();
        let tops = blocks.iter().map(|known| (known.add)(&mut emitter));
        let tops = tops.collect::<Result<Vec<String>, EmitError>>()?;
        Ok((tops, emitter.text()))
    })
}

fn on_large_stack<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, EmitError> + Send + 'static,
) -> Result<T, DesignError> {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work)?;
    match thread.join() {
        Ok(result) => Ok(result?),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
