//! A bridge as the line of a card, with sockets of the standard library as its peer.

mod capture;
mod card;
mod datagram;
mod flow;
mod frames;
mod impairments;
mod neighbour;
mod refused;
mod stream;
