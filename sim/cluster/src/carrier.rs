//! The two forms of a packet in a cluster: the bytes of its frame, or a record.

use sim_net::{Frame, Parcel};
use stellar_transport::endpoint::Packet;
use stellar_transport::rx::Psn;
use stellar_transport::time::Ticks;
use stellar_wire::ethernet::ETHERTYPE_IPV6;
use stellar_wire::ip::PROTO_IPV6;
use stellar_wire::{Bth, Ethernet, Header, Ip, Udp};

use crate::host::{Host, CONTROL_DSCP, DATA_DSCP};
use crate::record::Route;
use crate::{Cluster, ClusterError, Progress, Record};

/// A packet between cards, as bytes ([`Frame`]) or as a record ([`Record`]). The card decides the same for both.
pub trait Carrier: Parcel + Sealed {
    /// Name in results.
    const NAME: &'static str;
}

impl Carrier for Frame {
    const NAME: &'static str = "bytes";
}

impl Carrier for Record {
    const NAME: &'static str = "records";
}

/// What only this crate does with a packet.
pub trait Sealed: Sized {
    /// Runs a cluster. It is here, and not generic, so that this crate compiles it with its own optimisation; a generic function would be compiled with
    /// that of the crate that calls it.
    #[doc(hidden)]
    fn run(
        cluster: &mut Cluster<Self>,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<(), ClusterError>
    where
        Self: Carrier;

    /// The next packet of a port of a host's card.
    #[doc(hidden)]
    fn poll(card: &mut CardOf<'_>) -> Option<Self>;

    /// Gives a packet to a host's card; returns the queue pair that it is for.
    #[doc(hidden)]
    fn receive(&self, card: &mut CardOf<'_>) -> Option<u32>;

    /// The queue pair that it is for, if that is known without reading it.
    #[doc(hidden)]
    fn dest_qp(&self) -> Option<u32> {
        None
    }

    /// The packet that it is about, if that is known without reading it.
    #[doc(hidden)]
    fn subject(&self) -> Option<Psn> {
        None
    }

    /// Whether that queue pair needs its requester for it, if that is known without reading it.
    #[doc(hidden)]
    fn is_for_requester(&self) -> bool {
        true
    }
}

/// A port of a host's card at a time.
pub struct CardOf<'a> {
    pub(crate) host: &'a mut Host,
    pub(crate) port: usize,
    pub(crate) now: Ticks,
}

impl Sealed for Frame {
    fn run(
        cluster: &mut Cluster<Self>,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<(), ClusterError> {
        cluster.run_watched(watch)
    }

    fn poll(card: &mut CardOf<'_>) -> Option<Self> {
        let bytes = card.host.endpoint.poll_transmit(card.port, card.now)?;
        Some(Self::new(bytes))
    }

    fn receive(&self, card: &mut CardOf<'_>) -> Option<u32> {
        card.host
            .endpoint
            .receive(card.port, self.bytes(), card.now);
        let (eth, rest) = Ethernet::parse(self.bytes()).ok()?;
        let (outer, rest) = Ip::parse(eth.ethertype, rest).ok()?;
        // With source routes the packet is inside.
        let rest = match outer.protocol() {
            PROTO_IPV6 => Ip::parse(ETHERTYPE_IPV6, rest).ok()?.1,
            _ => rest,
        };
        let (_, rest) = Udp::parse(rest).ok()?;
        Some(Bth::parse(rest).ok()?.0.dest_qp)
    }
}

impl Sealed for Record {
    fn run(
        cluster: &mut Cluster<Self>,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<(), ClusterError> {
        cluster.run_watched(watch)
    }

    fn dest_qp(&self) -> Option<u32> {
        Some(self.packet.dest_qp())
    }

    fn subject(&self) -> Option<Psn> {
        Some(self.packet.subject())
    }

    fn is_for_requester(&self) -> bool {
        !matches!(self.packet, Packet::Data(_))
    }

    fn poll(card: &mut CardOf<'_>) -> Option<Self> {
        let departure = card.host.endpoint.poll_packet(card.port, card.now)?;
        let peer = card.host.peer(departure.qp)?;
        let route = match departure.outer {
            None => Route::Port {
                to: peer.host,
                port: card.port.min(card.host.lines - 1) as u8,
                addresses: peer.addresses[card.port],
            },
            Some(path) => {
                let local = &card.host.addresses[card.port];
                Route::over(path, local.ip, &departure.packet)
            }
        };
        Some(Self {
            length: departure.frame_length,
            dscp: if departure.packet.is_like_data() {
                DATA_DSCP
            } else {
                CONTROL_DSCP
            },
            route,
            transit: Default::default(),
            is_damaged: false,
            packet: departure.packet,
        })
    }

    fn receive(&self, card: &mut CardOf<'_>) -> Option<u32> {
        if self.is_damaged {
            return None;
        }
        let endpoint = &mut card.host.endpoint;
        endpoint.receive_packet(card.port, &self.packet, self.transit, card.now);
        Some(self.packet.dest_qp())
    }
}
