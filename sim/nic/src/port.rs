//! What a port of the card and the PCIe endpoint beside it are plugged into.

use hdl_nic::Shape;
use sim_bfm::{MacRx, MacTx, Pacing, CLOCK_PS};

use crate::mmio::MmioAccess;
use crate::model::PortInputs;
use crate::pcie::{Endpoint, HostPcie, HostSide};

/// State of the cable at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Link {
    #[default]
    Up,
    /// The link is up, but the MAC takes no beats: the other end has paused it.
    Paused,
    /// The link is down. The MAC takes no beats, and no frames arrive.
    Down,
}

/// Bytes that a port of the shape carries in a cycle.
fn bytes_per_clock(shape: Shape) -> u64 {
    u64::from(shape.port_gbps()) * CLOCK_PS / 8_000
}

fn mac(shape: Shape) -> (MacRx, MacTx) {
    let bytes_per_clock = bytes_per_clock(shape);
    let pacing = Pacing::TokenBucket { bytes_per_clock };
    (
        MacRx::new(shape.beat(), &pacing),
        MacTx::new(bytes_per_clock),
    )
}

/// A port's MAC, and its endpoint.
pub struct Port {
    shape: Shape,
    pub link: Link,
    pub rx: MacRx,
    /// Frames that the crossing from the clock of the MAC has dropped, modulo 2^32.
    pub rx_dropped: u32,
    pub tx: MacTx,
    pub endpoint: Endpoint,
}

impl Port {
    /// The ports of a card, idle.
    pub fn all(shape: Shape) -> Vec<Self> {
        let port = |index| {
            let (rx, tx) = mac(shape);
            Self {
                shape,
                link: Link::Up,
                rx,
                rx_dropped: 0,
                tx,
                endpoint: Endpoint::new(index, shape.width()),
            }
        };
        (0..shape.ports()).map(port).collect()
    }

    /// The card has accepted an access of its host. The endpoints learn what it says about PCIe.
    pub fn accepted(ports: &mut [Self], access: &MmioAccess) {
        if let Some((offset, word)) = access.register_write() {
            for port in ports {
                port.endpoint.register_written(offset, word);
            }
        }
    }

    /// The card's reset begins or ends. The link stays as it is.
    pub fn set_reset(&mut self, on: bool) {
        (self.rx, self.tx) = mac(self.shape);
        self.endpoint.set_reset(on);
    }

    /// The pin `port_up`: bit p for each of `ports`.
    pub fn up(ports: &[Self]) -> u8 {
        let bit = |(p, port): (usize, &Self)| u8::from(port.link != Link::Down) << p;
        ports.iter().enumerate().map(bit).sum()
    }

    /// The pin `pcie_link_down`: bit e for the endpoint of each of `ports`.
    pub fn pcie_down(ports: &[Self]) -> u8 {
        let bit = |(e, port): (usize, &Self)| u8::from(port.endpoint.link_is_down()) << e;
        ports.iter().enumerate().map(bit).sum()
    }

    /// Sets what drives the pins in this cycle, which nothing drives yet. Call it once per cycle.
    pub fn drive<'a, M: HostSide>(&'a mut self, pcie: &mut HostPcie<M>, pins: &mut PortInputs<'a>) {
        // The fabric drops damaged frames. Without a beat nothing is stored: a beat is large.
        if let Some(received) = self.rx.clock() {
            pins.rx = Some(received.beat);
        }
        pins.rx_dropped = self.rx_dropped;
        pins.tx_ready = self.tx.ready() && self.link == Link::Up;
        pins.rq_ready = self.endpoint.ready(pcie);
        pins.rc = self.endpoint.completion(pcie);
    }
}
