//! What SACKs say of paths that changes their state, until the spray engine has time for it.

use hdl_macros::hdl;
use hdl_primitives::SyncFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::SprayRequest;

/// SACKs that are taken while a burst of 32 draws its paths (41 clocks, and a SACK takes 14 at least) have 3 messages.
const NEWS_BITS: usize = 2;

/// Keeps messages in order, and gives each to the spray engine as soon as that is free. Levels: 2 behind the call.
#[derive(LogicBlock, Default)]
pub struct PathNews {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // A message moves when valid and ready.
    pub in_valid: Signal<In, Bit>,
    pub in_news: Signal<In, SprayRequest>,
    pub in_ready: Signal<Out, Bit>,
    /// Messages wait: who asks the spray engine next waits for them.
    pub waits: Signal<Out, Bit>,

    // The call.
    pub spray_start: Signal<Out, Bit>,
    pub spray_request: Signal<Out, SprayRequest>,
    pub spray_busy: Signal<In, Bit>,

    news: SyncFifo<SprayRequest, NEWS_BITS, { NEWS_BITS + 1 }>,
}

impl Logic for PathNews {
    #[hdl]
    fn update(&mut self) {
        clock!(self, clock, news);
        self.news.reset.next = self.reset.val();
        self.news.in_valid.next = self.in_valid.val();
        self.news.in_data.next = self.in_news.val();
        self.in_ready.next = self.news.in_ready.val();
        self.waits.next = self.news.out_valid.val();

        // tell
        let tells = self.news.out_valid.val() & !self.spray_busy.val();
        self.news.out_ready.next = tells;
        self.spray_start.next = tells;
        self.spray_request.next = self.news.out_data.val();
    }
}
