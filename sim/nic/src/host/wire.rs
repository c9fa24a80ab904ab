//! What the ports of the cards are plugged into.

use sim_net::{Fabric, Frame, HostId, Time, Topology};
use sim_world::{Recorder, WorldError};
use stellar_transport::endpoint::Memory;

use super::card::Card;

/// Two cables of 100 ns, about 20 m, at the rate of the card's ports.
const CABLES: &str = r#"
    [defaults]
    rate_gbps = 200
    delay_ns = 100
    [back_to_back]
    planes = 2
"#;

/// A frame that has left a card, destination address to iCRC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFrame {
    /// When its last beat left the card, in picoseconds since power-up.
    pub time: u64,
    /// Port it left by.
    pub port: usize,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The wires.
pub enum Wire {
    /// From each port of a card to the same port of the other.
    Cables {
        fabric: Box<Fabric>,
        recorder: Recorder,
    },
    /// From the ports of the only card to whoever asks for what has left it.
    Loose(Vec<SentFrame>),
}

impl Wire {
    /// Cables between two cards, and a record of every frame on them if `captures` says so.
    pub fn cables(captures: bool) -> Self {
        let topology = Topology::from_toml("cables", CABLES).expect("the text is a topology");
        let mut fabric = Box::new(Fabric::new(topology, 0));
        let hosts: &[HostId] = if captures {
            &[HostId(0), HostId(1)]
        } else {
            &[]
        };
        let recorder =
            Recorder::attach(&mut fabric, hosts).expect("the cables have both hosts' ports");
        Self::Cables { fabric, recorder }
    }

    /// Hands the cards what has arrived by `now`.
    pub fn deliver<M: Memory>(&mut self, now: Time, cards: &mut [Card<M>]) {
        if let Self::Cables { fabric, .. } = self {
            fabric.advance_to(now, |delivery| {
                let frame = delivery.frame.bytes().to_vec();
                cards[delivery.host.0 as usize].receive(delivery.port, frame);
            });
        }
    }

    /// Takes a frame that has left a port of card `card`.
    pub fn take(&mut self, card: usize, port: usize, now: Time, frame: Vec<u8>) {
        match self {
            Self::Cables { fabric, .. } => fabric
                .send(HostId(card as u32), port, now, Frame::new(frame))
                .expect("the cables have these ports, and time does not run back"),
            Self::Loose(sent) => sent.push(SentFrame {
                time: now,
                port,
                bytes: frame,
            }),
        }
    }

    /// Captures of the cables: a pcapng file per port.
    ///
    /// # Errors
    /// [`WorldError::Output`].
    pub fn captures(&self) -> Result<Vec<(String, Vec<u8>)>, WorldError> {
        match self {
            Self::Cables { recorder, .. } => recorder.files(),
            Self::Loose(_) => Ok(Vec::new()),
        }
    }

    /// What has left the only card since the last call.
    pub fn take_sent(&mut self) -> Vec<SentFrame> {
        match self {
            Self::Cables { .. } => Vec::new(),
            Self::Loose(sent) => std::mem::take(sent),
        }
    }
}
