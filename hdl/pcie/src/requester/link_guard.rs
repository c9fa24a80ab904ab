//! Ends the requests of a PCIe link that is down.

use hdl_macros::hdl;
use hdl_primitives::{CompletionSnk, CompletionSrc, OfferSnk, OfferSrc, TlpSnk, TlpSrc};
use rust_hdl::prelude::*;
use stellar_wire::hw::read::{CompletionHeader, ReadTlpHeader, STATUS_UNSUPPORTED};

/// Stands between the card and the streams of one endpoint, `W` bits per beat. While the link is down, writes are dropped, and each read is answered with
/// Unsupported Request.
///
/// PCIe has both ends of a link that goes down discard what they hold (base specification, section 2.9.1), so nothing of before leaves when the link is there
/// again, and nobody has to wait for it: a fence ends, and the memory may be freed. Of a write that had begun, the rest is dropped too, also if the link is
/// up again before its end. Reads that had left have no completion, and end with their timeout. Levels: 3.
#[derive(LogicBlock, Default)]
pub struct LinkGuard<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The link is down (AMD's `cfg_phy_link_down`).
    pub link_down: Signal<In, Bit>,

    // From the card, and completions to it.
    pub write: TlpSnk<W>,
    pub read: OfferSnk<ReadTlpHeader>,
    pub completion: CompletionSrc<W>,

    // To the request stream, and from the completion stream.
    pub tlp: TlpSrc<W>,
    pub request: OfferSrc<ReadTlpHeader>,
    pub arrived: CompletionSnk<W>,
    /// Both streams are to discard what they hold and what comes.
    pub discards: Signal<Out, Bit>,

    /// Counter: one cycle per write that was dropped.
    pub write_dropped: Signal<Out, Bit>,

    down: DFF<Bit>,
    /// A write has begun and not ended; its rest is to be dropped.
    inside: DFF<Bit>,
    cuts: DFF<Bit>,
    /// A completion has begun and not ended.
    open: DFF<Bit>,
    /// A read with this tag was taken, and is to be refused.
    refuses: DFF<Bit>,
    tag: DFF<Bits<8>>,
    counts_dropped: DFF<Bit>,
}

impl<const W: usize> Logic for LinkGuard<W> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            down,
            inside,
            cuts,
            open,
            refuses,
            tag,
            counts_dropped
        );
        let down = self.down.q.val();
        self.down.d.next = self.link_down.val();
        self.discards.next = down;

        // drop_writes: the stream takes and discards what comes while the link is down, so an offer is never withdrawn.
        let cuts = self.cuts.q.val();
        let offered = self.write.valid.val();
        let moves = offered & (cuts | self.tlp.ready.val());
        let drops = down | cuts;
        let ends = moves & self.write.last.val();
        let inside = !ends & (moves | self.inside.q.val());
        self.inside.d.next = inside;
        self.cuts.d.next = inside & drops;
        self.write.ready.next = cuts | self.tlp.ready.val();
        self.tlp.valid.next = offered & !cuts;
        self.tlp.data.next = self.write.data.val();
        self.tlp.header.next = self.write.header.val();
        self.tlp.first.next = self.write.first.val();
        self.tlp.last.next = self.write.last.val();
        self.counts_dropped.d.next = ends & drops;
        self.write_dropped.next = self.counts_dropped.q.val();

        // refuse_reads: between completions. One that has begun ends damaged, because its rest does not come.
        let refuses = self.refuses.q.val();
        let open = self.open.q.val();
        let comes = self.arrived.valid.val();
        let breaks = down & open & !comes;
        let refused = refuses & !open & !comes;
        let takes = down & (!refuses | refused);
        if comes {
            self.open.d.next = !self.arrived.last.val();
        } else if breaks {
            self.open.d.next = false;
        }
        if takes {
            self.refuses.d.next = self.read.valid.val();
            self.tag.d.next = self.read.record.val().tag;
        } else if refused {
            self.refuses.d.next = false;
        }
        self.request.valid.next = self.read.valid.val() & !down;
        self.request.record.next = self.read.record.val();
        self.read.ready.next = if down {
            takes
        } else {
            self.request.ready.val()
        };
        self.completion.valid.next = comes | breaks | refused;
        self.completion.record.next = if comes {
            self.arrived.record.val()
        } else {
            CompletionHeader {
                tag: self.tag.q.val(),
                byte_count: bits(0),
                lower_address: bits(0),
                length_dw: bits(0),
                status: bits(STATUS_UNSUPPORTED),
                poisoned: false,
            }
        };
        self.completion.data.next = self.arrived.data.val();
        self.completion.last.next = !comes | self.arrived.last.val();
        self.completion.error.next = breaks | (comes & self.arrived.error.val());

        if self.reset.val() {
            self.inside.d.next = false;
            self.cuts.d.next = false;
            self.open.d.next = false;
            self.refuses.d.next = false;
            self.counts_dropped.d.next = false;
        }
    }
}
