//! One queue pair of the card.

use super::qp_counts::ReceiveCounts;
use super::timers::earlier;
use super::{Peer, QpConfig, TransportConfig};
use crate::requester::{
    CompletionQueue, Messages, MrcRequester, QpIdentity, RcRequester, Requester, SendQueue,
};
use crate::responder::Responder;
use crate::rx::{ControlPeer, QpMode};
use crate::spray::{ReversePaths, Srv6Template};
use crate::time::Ticks;

use super::ConfigError;

/// Both directions of a queue pair, and what they share.
#[derive(Clone, Debug)]
pub(super) struct QueuePair {
    pub number: u32,
    pub page: u32,
    pub peer: Peer,
    pub mode: QpMode,
    pub pkey: u16,
    pub srv6: Option<Box<Srv6Template>>,
    pub requester: Requester,
    pub responder: Responder,
    pub cq: CompletionQueue,
    pub reverse: ReversePaths,
    /// Its earliest entry among the card's timers: not after [`Self::deadline`], if it has one.
    pub timer: Option<Ticks>,
    /// When the responder's pending packets are visited.
    pub visit: Option<Ticks>,
    /// Its error has been reported.
    pub failed: bool,
    /// Counters of the receive side.
    pub received: ReceiveCounts,
}

// A cluster has millions, and a busy one may take 2 KB with what it allocates.
const _: () = assert!(
    size_of::<QueuePair>() + size_of::<MrcRequester>() <= 1248,
    "measure with `./stellar bench cluster` before this bound is raised"
);

impl QueuePair {
    /// A queue pair ready to receive and send, from a configuration that was checked, on a card with windows of `receive_window` packets.
    pub fn new(config: QpConfig, receive_window: u32, now: Ticks) -> Result<Self, ConfigError> {
        let mode = config.transport.mode();
        let identity = QpIdentity {
            local: config.number,
            peer: config.peer.qp,
            pd: config.pd,
            mtu: 1 << config.mtu_log2,
        };
        let queue = SendQueue::new(config.sq)?;
        // RC has no limit: a responder completes each message as it ends.
        let max_wimm = match mode {
            QpMode::Mrc => config.imm.max_wimm,
            QpMode::Rc => u16::MAX,
        };
        let messages = Messages::new(queue, config.number, max_wimm);
        let requester = match config.transport {
            TransportConfig::Mrc(mrc) => Requester::Mrc(Box::new(MrcRequester::new(
                identity,
                mrc,
                messages,
                config.sq_psn,
                now,
            )?)),
            TransportConfig::Rc(rc) => Requester::Rc(Box::new(RcRequester::new(
                identity,
                rc,
                messages,
                config.sq_psn,
            )?)),
        };
        Ok(Self {
            number: config.number,
            page: config.page,
            peer: config.peer,
            mode,
            pkey: config.pkey,
            srv6: config.srv6.map(Box::new),
            requester,
            responder: Responder::new(
                identity,
                config.rq_psn,
                config.imm.max_wimm,
                config.imm.completions,
                config.sack_every,
            )
            .with_window(receive_window),
            cq: CompletionQueue::new(config.cq_entries),
            reverse: ReversePaths::default(),
            timer: None,
            visit: None,
            failed: false,
            received: ReceiveCounts::default(),
        })
    }

    /// The next time at which it has something to do that nothing from outside causes.
    pub fn deadline(&self) -> Option<Ticks> {
        let both = [self.requester.deadline(), self.visit];
        both.into_iter().flatten().reduce(earlier)
    }

    /// Whether there is something to report: completions that were lost, or an error that was not reported yet.
    #[inline]
    pub fn has_news(&self) -> bool {
        self.cq.has_lost() || !self.failed && self.requester.error().is_some()
    }

    /// Its peer as control packets name it.
    pub fn control_peer(&self) -> ControlPeer {
        ControlPeer {
            mode: self.mode,
            pkey: self.pkey,
            qp: self.peer.qp,
            addresses: [self.peer.planes[0].ip, self.peer.planes[1].ip],
            probes: matches!(&self.requester, Requester::Rc(rc) if rc.has_paths()),
        }
    }
}
