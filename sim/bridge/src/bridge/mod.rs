//! The line between a port of a card and a peer in another process.

mod config;
mod crossing;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sim_net::Time;
use sim_nic::{Line, SentFrame};
use sim_world::PortCapture;

use crate::flip::BitFlip;
use crate::frame::pad;
use crate::host_stack::HostStack;
use crate::impairment::{Impairer, Impairment};
use crate::link::{Link, LinkError};
use crate::pace::Pace;

pub use config::{BridgeConfig, BridgeCounts, Crossing};

/// A callback for every frame at the bridge.
type Observer = Box<dyn FnMut(&Crossing<'_>) + Send>;
type Capture = PortCapture<BufWriter<File>>;

struct Inner {
    link: Link,
    port: usize,
    host: HostStack,
    to_card: Impairer,
    to_peer: Impairer,
    flip: Option<BitFlip>,
    capture: Option<Capture>,
    pace: Option<Pace>,
    observer: Option<Observer>,
    counts: BridgeCounts,
    /// End of the last frame on the wire to the card.
    busy_until: Time,
    clocks: u32,
}

/// A bridge. Clones are handles of the same bridge: one is the card's [`Line`], the others control and observe it.
#[derive(Clone)]
pub struct Bridge(Arc<Mutex<Inner>>);

fn capture(path: &Path, port: usize) -> Result<Capture, LinkError> {
    let failed = |reason: String| LinkError::Capture {
        path: path.to_owned(),
        reason,
    };
    let file = File::create(path).map_err(|error| failed(error.to_string()))?;
    let interface = format!("card.p{port}");
    PortCapture::new(BufWriter::new(file), &interface).map_err(|error| failed(error.to_string()))
}

impl Bridge {
    /// Creates the socket. The peer may connect later.
    ///
    /// # Errors
    /// [`LinkError`].
    pub fn open(config: &BridgeConfig) -> Result<Self, LinkError> {
        if config.port > 1 {
            return Err(LinkError::Port(config.port));
        }
        let host = HostStack::new(&config.host)?;
        let impairer = |impairment: Impairment, stream| {
            let impairment = impairment.check()?;
            Ok::<_, LinkError>(Impairer::new(impairment, config.seed, stream))
        };
        let (to_card, to_peer) = (impairer(config.to_card, 0)?, impairer(config.to_peer, 1)?);
        // If the link cannot be opened, an existing capture file stays as it is.
        let link = Link::open(&config.address)?;
        let capture = match &config.capture {
            Some(path) => Some(capture(path, config.port)?),
            None => None,
        };
        Ok(Self(Arc::new(Mutex::new(Inner {
            link,
            port: config.port,
            host,
            to_card,
            to_peer,
            flip: config.flip,
            capture,
            pace: (config.pace > 0).then(|| Pace::new(config.pace)),
            observer: None,
            counts: BridgeCounts::default(),
            busy_until: 0,
            clocks: 0,
        }))))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the impairments of both directions.
    ///
    /// # Errors
    /// [`LinkError::Impairment`].
    pub fn set_impairments(
        &self,
        to_card: Impairment,
        to_peer: Impairment,
    ) -> Result<(), LinkError> {
        let (to_card, to_peer) = (to_card.check()?, to_peer.check()?);
        let mut inner = self.inner();
        inner.to_card.set(to_card);
        inner.to_peer.set(to_peer);
        Ok(())
    }

    /// Changes the header bit that is inverted in the card's frames; `None` for none.
    pub fn set_flip(&self, flip: Option<BitFlip>) {
        self.inner().flip = flip;
    }

    /// Completes the present capture and starts another one.
    ///
    /// # Errors
    /// [`LinkError::Capture`].
    pub fn set_capture(&self, path: &Path) -> Result<(), LinkError> {
        let mut inner = self.inner();
        let next = capture(path, inner.port)?;
        if let Some(mut last) = inner.capture.replace(next) {
            last.flush().map_err(|error| LinkError::Capture {
                path: path.to_owned(),
                reason: format!("the capture before it: {error}"),
            })?;
        }
        Ok(())
    }

    /// Calls `observer` for every frame from now on.
    pub fn observe(&self, observer: impl FnMut(&Crossing<'_>) + Send + 'static) {
        self.inner().observer = Some(Box::new(observer));
    }

    /// Calls `wake`, from another thread, whenever a frame of the peer has been queued for the card.
    pub fn on_arrival(&self, wake: impl Fn() + Send + 'static) {
        self.inner().link.on_arrival(Box::new(wake));
    }

    /// Whether the card's clock must run: a frame is queued for the card, or held back.
    pub fn needs_clock(&self) -> bool {
        let inner = self.inner();
        inner.link.has_waiting() || inner.to_card.is_holding() || inner.to_peer.is_holding()
    }

    /// Frames counted so far.
    pub fn counts(&self) -> BridgeCounts {
        let inner = self.inner();
        BridgeCounts {
            lost: inner.link.lost(),
            ..inner.counts
        }
    }

    /// Writes buffered frames of the capture to its file.
    ///
    /// # Errors
    /// [`std::io::Error`].
    pub fn flush(&self) -> std::io::Result<()> {
        match &mut self.inner().capture {
            Some(capture) => capture.flush(),
            None => Ok(()),
        }
    }

    /// Closes the bridge: removes its socket and completes its capture. No frame crosses it any more.
    ///
    /// # Errors
    /// [`std::io::Error`] if the rest of the capture cannot be written.
    pub fn close(&self) -> std::io::Result<()> {
        let mut inner = self.inner();
        inner.link.close();
        inner
            .capture
            .take()
            .map_or(Ok(()), |mut capture| capture.flush())
    }
}

impl Line for Bridge {
    fn arrivals(&mut self, now: Time, receive: &mut dyn FnMut(usize, Vec<u8>)) {
        let mut inner = self.inner();
        inner.hold_pace(now);
        while inner.busy_until <= now {
            let Some(frame) = inner.link.receive() else {
                break;
            };
            inner.take_from_peer(now, frame, receive);
        }
        if inner.to_card.is_holding() || inner.to_peer.is_holding() {
            inner.expire(now, receive);
        }
    }

    fn sent(&mut self, frame: SentFrame) {
        let mut inner = self.inner();
        if frame.port != inner.port {
            inner.counts.unplugged += 1;
            return;
        }
        let mut bytes = pad(frame.bytes);
        if let Some(flip) = inner.flip {
            flip.apply(&mut bytes);
        }
        inner.send_to_peer(frame.time, bytes);
    }
}
