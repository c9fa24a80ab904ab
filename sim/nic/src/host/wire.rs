//! The wires at the ports of the cards.

use hdl_nic::Shape;
use sim_net::{Fabric, Frame, HostId, Time, Topology};
use sim_world::{Recorder, WorldError};

use super::card::Card;
use super::watch::Watch;
use crate::pcie::HostSide;

/// A cable of 100 ns, about 20 m, for each port of the card, at its rate.
fn cables(shape: Shape) -> String {
    format!(
        "[defaults]\nrate_gbps = {}\ndelay_ns = 100\n[back_to_back]\nplanes = {}",
        shape.port_gbps(),
        shape.ports()
    )
}

/// A frame that has left a card, from destination address to iCRC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentFrame {
    /// Time at which its last beat left the card, in picoseconds since power-up.
    pub time: u64,
    /// Port by which it left.
    pub port: usize,
    /// The frame's bytes.
    pub bytes: Vec<u8>,
}

/// A line of the caller's at the ports of the only card: a bridge to another process, for example.
pub trait Line: Send {
    /// Delivers the frames that begin to arrive at the card by `now`, each with its port (0 or 1) and its bytes from destination address to iCRC. It
    /// is called once per cycle, before the cycle of the card.
    fn arrivals(&mut self, now: Time, receive: &mut dyn FnMut(usize, Vec<u8>));

    /// Accepts a frame that has left the card.
    fn sent(&mut self, frame: SentFrame);
}

/// What the ports of the cards are connected to.
pub enum Wire {
    /// A fabric; the cards are at hosts of its topology.
    Fabric(Box<Plugged>),
    /// The ports of the only card, whose frames the caller collects.
    Loose(Vec<SentFrame>),
    /// The ports of the only card, at a line of the caller's.
    Line(Box<dyn Line>),
}

/// Cards at the hosts of a fabric.
pub struct Plugged {
    pub fabric: Fabric,
    /// Host of the topology for each card.
    hosts: Vec<HostId>,
    recorder: Option<Recorder>,
    /// A record from some moment on, for a report.
    pub watch: Option<Watch>,
}

impl Wire {
    /// Cables between two cards of this shape, with a capture of every frame on them if `captures` is set.
    pub fn cables(shape: Shape, captures: bool) -> Self {
        let topology =
            Topology::from_toml("cables", &cables(shape)).expect("the text is a topology");
        let fabric = Fabric::new(topology, 0);
        Self::fabric(fabric, vec![HostId(0), HostId(1)], captures)
            .expect("the cables have both hosts' ports")
    }

    /// A fabric with card n at the nth of `hosts`, with a capture of every frame at their ports if `captures` is set.
    ///
    /// # Errors
    /// [`WorldError`] if a port has no channel to capture.
    pub fn fabric(
        mut fabric: Fabric,
        hosts: Vec<HostId>,
        captures: bool,
    ) -> Result<Self, WorldError> {
        let recorder = if captures {
            Some(Recorder::attach(&mut fabric, &hosts)?)
        } else {
            None
        };
        Ok(Self::Fabric(Box::new(Plugged {
            fabric,
            hosts,
            recorder,
            watch: None,
        })))
    }

    /// Delivers the frames that have arrived by `now` to the cards.
    pub fn deliver<M: HostSide>(&mut self, now: Time, cards: &mut [Box<Card<M>>]) {
        let plugged = match self {
            Self::Fabric(plugged) => plugged,
            Self::Loose(_) => return,
            Self::Line(line) => {
                return line.arrivals(now, &mut |port, frame| cards[0].receive(port, frame));
            }
        };
        let Plugged {
            fabric,
            hosts,
            watch,
            ..
        } = &mut **plugged;
        if let Some(watch) = watch {
            watch.sample(now, fabric, cards);
        }
        fabric.advance_to(now, |delivery| {
            let Some(card) = hosts.iter().position(|&host| host == delivery.host) else {
                return;
            };
            let frame = delivery.frame.bytes();
            if let Some(watch) = watch {
                watch.arrived(card, frame);
            }
            cards[card].receive(delivery.port, frame.to_vec());
        });
    }

    /// Accepts a frame that has left a port of card `card`.
    pub fn take(&mut self, card: usize, port: usize, now: Time, frame: Vec<u8>) {
        match self {
            Self::Fabric(plugged) => {
                if let Some(watch) = &mut plugged.watch {
                    watch.left(card, &frame);
                }
                plugged
                    .fabric
                    .send(plugged.hosts[card], port, now, Frame::new(frame))
                    .expect("the fabric has these ports, and time does not run back");
            }
            Self::Loose(sent) => sent.push(SentFrame {
                time: now,
                port,
                bytes: frame,
            }),
            Self::Line(line) => line.sent(SentFrame {
                time: now,
                port,
                bytes: frame,
            }),
        }
    }

    /// The fabric, if the cards are on one.
    pub fn plugged(&mut self) -> Option<&mut Plugged> {
        match self {
            Self::Fabric(plugged) => Some(plugged),
            Self::Loose(_) | Self::Line(_) => None,
        }
    }

    /// The capture of every frame, if there is one.
    pub fn recorder(&self) -> Option<&Recorder> {
        match self {
            Self::Fabric(plugged) => plugged.recorder.as_ref(),
            Self::Loose(_) | Self::Line(_) => None,
        }
    }

    /// The frames that have left the only card since the last call.
    pub fn take_sent(&mut self) -> Vec<SentFrame> {
        match self {
            Self::Fabric(_) | Self::Line(_) => Vec::new(),
            Self::Loose(sent) => std::mem::take(sent),
        }
    }
}
