//! What a port of the card and the PCIe endpoint beside it are plugged into.

use sim_bfm::{MacRx, MacTx, Pacing, BEAT, PORT_BYTES_PER_CLOCK};

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

fn mac() -> (MacRx, MacTx) {
    let pacing = Pacing::TokenBucket {
        bytes_per_clock: PORT_BYTES_PER_CLOCK,
    };
    (MacRx::new(BEAT, &pacing), MacTx::new(PORT_BYTES_PER_CLOCK))
}

/// A port's MAC, and its endpoint.
pub struct Port {
    pub link: Link,
    pub rx: MacRx,
    pub tx: MacTx,
    pub endpoint: Endpoint,
}

impl Port {
    /// Both ports of a card, idle.
    pub fn both() -> [Self; 2] {
        [0, 1].map(|index| {
            let (rx, tx) = mac();
            Self {
                link: Link::Up,
                rx,
                tx,
                endpoint: Endpoint::new(index),
            }
        })
    }

    /// The card has accepted an access of its host. Both endpoints learn what it says about PCIe.
    pub fn accepted(ports: &mut [Self; 2], access: &MmioAccess) {
        if let Some((offset, word)) = access.register_write() {
            for port in ports {
                port.endpoint.register_written(offset, word);
            }
        }
    }

    /// The card's reset begins or ends. The link stays as it is.
    pub fn set_reset(&mut self, on: bool) {
        (self.rx, self.tx) = mac();
        self.endpoint.set_reset(on);
    }

    /// The pin `port_up`: bit p for each of `ports`.
    pub fn up(ports: &[Self; 2]) -> u8 {
        let bit = |port: &Self| u8::from(port.link != Link::Down);
        bit(&ports[0]) | bit(&ports[1]) << 1
    }

    /// The pin `pcie_link_down`: bit e for the endpoint of each of `ports`.
    pub fn pcie_down(ports: &[Self; 2]) -> u8 {
        let bit = |port: &Self| u8::from(port.endpoint.link_is_down());
        bit(&ports[0]) | bit(&ports[1]) << 1
    }

    /// Returns what drives the pins in this cycle. Call it once per cycle.
    pub fn drive<M: HostSide>(&mut self, pcie: &mut HostPcie<M>) -> PortInputs {
        PortInputs {
            // The fabric drops damaged frames.
            rx: self.rx.clock().map(|received| received.beat),
            tx_ready: self.tx.ready() && self.link == Link::Up,
            rq_ready: self.endpoint.ready(pcie),
            rc: self.endpoint.completion(pcie),
        }
    }
}
