//! What SACKs say of paths, until the spray engine has time for it.

use hdl_macros::hdl;
use hdl_primitives::SyncFifo;
use rust_hdl::prelude::*;
use stellar_wire::hw::spray::{SprayRequest, SprayResponse};

/// SACKs that are taken while a burst of 32 draws its paths (41 clocks, and a SACK takes 14 at least) have 3 messages, or 6 that answer probes.
const NEWS_BITS: usize = 2;

/// One message for the spray engine.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct News {
    pub request: SprayRequest,
    /// It reflects the entropy value of a SACK without mark: if it is one of the queue pair's, the responder hears of it.
    pub good: Bit,
}

/// Keeps messages in order, and gives each to the spray engine as soon as that is free. Levels: 2 behind the call.
#[derive(LogicBlock, Default)]
pub struct PathNews {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // A message moves when valid and ready.
    pub in_valid: Signal<In, Bit>,
    pub in_news: Signal<In, News>,
    pub in_ready: Signal<Out, Bit>,
    /// Messages wait: who asks the spray engine next waits for them.
    pub waits: Signal<Out, Bit>,

    // The call.
    pub spray_start: Signal<Out, Bit>,
    pub spray_request: Signal<Out, SprayRequest>,
    pub spray_busy: Signal<In, Bit>,
    pub spray: Signal<In, SprayResponse>,

    // To the responder, one clock: the newest entropy value that is known to be good.
    pub good_valid: Signal<Out, Bit>,
    pub good_qp: Signal<Out, Bits<10>>,
    pub good_plane: Signal<Out, Bit>,
    pub good_entropy: Signal<Out, Bits<32>>,

    news: SyncFifo<News, NEWS_BITS, { NEWS_BITS + 1 }>,
    /// The spray engine looks up the entropy value of a SACK without mark.
    reflecting: DFF<Bit>,
    reflected_qp: DFF<Bits<10>>,
    reflected: DFF<Bits<32>>,
}

impl Logic for PathNews {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, reflecting, reflected_qp, reflected);
        clock!(self, clock, news);
        self.news.reset.next = self.reset.val();
        self.news.in_valid.next = self.in_valid.val();
        self.news.in_data.next = self.in_news.val();
        self.in_ready.next = self.news.in_ready.val();
        self.waits.next = self.news.out_valid.val();

        // note_good
        let free = !self.spray_busy.val();
        let spray = self.spray.val();
        self.good_valid.next = self.reflecting.q.val() & free & spray.found;
        self.good_qp.next = self.reflected_qp.q.val();
        self.good_plane.next = spray.index.get_bit(0);
        self.good_entropy.next = self.reflected.q.val();
        if free {
            self.reflecting.d.next = false;
        }

        // tell
        let oldest = self.news.out_data.val();
        let tells = self.news.out_valid.val() & free;
        self.news.out_ready.next = tells;
        self.spray_start.next = tells;
        self.spray_request.next = oldest.request;
        if tells {
            self.reflecting.d.next = oldest.good;
            self.reflected_qp.d.next = oldest.request.qp;
            self.reflected.d.next = oldest.request.entropy;
        }
        if self.reset.val() {
            self.reflecting.d.next = false;
        }
    }
}
