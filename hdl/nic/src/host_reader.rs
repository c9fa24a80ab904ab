//! Reads of host memory through one PCIe endpoint: payload of a port, and entries of queues.

use hdl_macros::{clock_reset, hdl, join};
use hdl_pcie::read::DmaRead1024;
use hdl_pcie::share::ReadArbiter;
use hdl_primitives::{CompletionSnk, OfferSnk, ReadDataSrc, Snk, Src};
use rust_hdl::prelude::*;
use stellar_wire::hw::messages::{WqeFetch, WqeFetched};
use stellar_wire::hw::read::{ReadCommand, ReadTlpHeader};

/// A read engine of 1,024 bits behind an arbiter between the payload of one port and queue entries: see [`ReadArbiter`].
#[derive(LogicBlock, Default)]
pub struct HostReader {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Configuration: see `DmaRead`.
    pub mrrs_code: Signal<In, Bits<3>>,
    pub timeout: Signal<In, Bits<31>>,

    // Queue entries.
    pub fetch: OfferSnk<WqeFetch>,
    pub fetched: Src<WqeFetched>,
    // Payload.
    pub read: Snk<ReadCommand>,
    pub payload: ReadDataSrc<1024>,

    // PCIe.
    pub request: Src<ReadTlpHeader>,
    pub completion: CompletionSnk<1024>,

    arbiter: ReadArbiter<1024>,
    engine: DmaRead1024,
}

impl Logic for HostReader {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, arbiter, engine);
        join!(
            self,
            fetch => arbiter.fetch,
            arbiter.fetched => fetched,
            read => arbiter.read[0],
            arbiter.payload[0] => payload,
            mrrs_code => engine.mrrs_code,
            timeout => engine.timeout,
            arbiter.command => engine.command,
            engine.out => arbiter.in_,
            engine.request => request,
            completion => engine.completion,
        );

        // An endpoint has one port.
        self.arbiter.read[1].valid.next = false;
        self.arbiter.read[1].record.next = ReadCommand::default();
        self.arbiter.payload[1].ready.next = true;
    }
}
