//! The simulated host's IP stack. It answers ARP, neighbour discovery and ping.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr};

use sim_net::Time;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpCidr};
use thiserror::Error;

use crate::frame::pad;

/// Largest IP packet of the stack. Only RoCEv2 packets are longer.
const MTU: usize = 1500;
/// Prefix lengths of the host's networks.
const PREFIX_V4: u8 = 24;
const PREFIX_V6: u8 = 64;
/// Maximum number of addresses of a host in addition to its link-local address. The stack has room for three.
const MOST_ADDRESSES: usize = 2;

/// The addresses of the simulated host at the bridged port. The driver must give the card the same addresses. The host also has the link-local address
/// that follows from its MAC address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostAddresses {
    /// MAC address of the port.
    pub mac: [u8; 6],
    /// IP addresses, one or two. The prefix lengths are 24 bits (IPv4) and 64 bits (IPv6).
    pub ips: Vec<IpAddr>,
}

/// Invalid addresses of a host.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HostAddressesError {
    /// None, or too many.
    #[error("a bridged port has one or two IP addresses, not {0}")]
    Count(usize),
    /// A multicast address, or the unspecified address.
    #[error("{0} is no address of a single host")]
    NotUnicast(String),
}

impl HostAddresses {
    /// Checks the addresses.
    ///
    /// # Errors
    /// [`HostAddressesError`].
    pub fn check(&self) -> Result<(), HostAddressesError> {
        if self.ips.is_empty() || self.ips.len() > MOST_ADDRESSES {
            return Err(HostAddressesError::Count(self.ips.len()));
        }
        if !EthernetAddress(self.mac).is_unicast() {
            let text = EthernetAddress(self.mac).to_string();
            return Err(HostAddressesError::NotUnicast(text));
        }
        let bad = |ip: &&IpAddr| ip.is_multicast() || ip.is_unspecified();
        match self.ips.iter().find(bad) {
            Some(ip) => Err(HostAddressesError::NotUnicast(ip.to_string())),
            None => Ok(()),
        }
    }
}

/// The link-local address of a MAC address (RFC 4291, appendix A). Linux solicits neighbours from its own link-local address, so the host needs one to
/// answer.
fn link_local([a, b, c, d, e, f]: [u8; 6]) -> IpAddr {
    let words = [[a ^ 2, b], [c, 0xff], [0xfe, d], [e, f]].map(u16::from_be_bytes);
    let [first, second, third, fourth] = words;
    Ipv6Addr::new(0xfe80, 0, 0, 0, first, second, third, fourth).into()
}

/// Frames to and from the stack.
#[derive(Default)]
struct Queues {
    arrived: VecDeque<Vec<u8>>,
    leaving: VecDeque<Vec<u8>>,
}

struct Arrived(Vec<u8>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

struct Leaving<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut frame = vec![0; length];
        let result = fill(&mut frame);
        self.0.push_back(pad(frame));
        result
    }
}

impl Device for Queues {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let frame = self.arrived.pop_front()?;
        Some((Arrived(frame), Leaving(&mut self.leaving)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = MTU + 14;
        capabilities
    }
}

/// The IP stack of the simulated host (smoltcp).
pub struct HostStack {
    interface: Interface,
    queues: Queues,
    sockets: SocketSet<'static>,
}

impl HostStack {
    /// A host with these addresses.
    ///
    /// # Errors
    /// [`HostAddressesError`].
    pub fn new(addresses: &HostAddresses) -> Result<Self, HostAddressesError> {
        addresses.check()?;
        let mac = HardwareAddress::Ethernet(EthernetAddress(addresses.mac));
        let mut queues = Queues::default();
        let mut interface = Interface::new(Config::new(mac), &mut queues, Instant::ZERO);
        interface.update_ip_addrs(|own| {
            for ip in addresses
                .ips
                .iter()
                .copied()
                .chain([link_local(addresses.mac)])
            {
                let prefix = if ip.is_ipv4() { PREFIX_V4 } else { PREFIX_V6 };
                own.push(IpCidr::new(ip.into(), prefix))
                    .expect("the stack has room for three addresses");
            }
        });
        Ok(Self {
            interface,
            queues,
            sockets: SocketSet::new(Vec::new()),
        })
    }

    /// Processes a frame at simulated time `now`, and returns the host's responses.
    pub fn answer(&mut self, now: Time, frame: &[u8]) -> Vec<Vec<u8>> {
        self.queues.arrived.push_back(frame.to_vec());
        let now = Instant::from_micros((now / 1_000_000) as i64);
        self.interface
            .poll(now, &mut self.queues, &mut self.sockets);
        self.queues.leaving.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smoltcp::phy::ChecksumCapabilities;
    use smoltcp::wire::*;

    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const PEER: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 2]);

    fn host() -> HostStack {
        HostStack::new(&HostAddresses {
            mac: MAC,
            ips: vec!["10.0.0.1".parse().unwrap(), "fd00::1".parse().unwrap()],
        })
        .unwrap()
    }

    fn frame(to: EthernetAddress, kind: EthernetProtocol, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 14 + payload.len()];
        let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
        EthernetRepr {
            src_addr: PEER,
            dst_addr: to,
            ethertype: kind,
        }
        .emit(&mut frame);
        frame.payload_mut().copy_from_slice(payload);
        bytes
    }

    fn who_has(target: [u8; 4]) -> Vec<u8> {
        let request = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Request,
            source_hardware_addr: PEER,
            source_protocol_addr: Ipv4Address::new(10, 0, 0, 2),
            target_hardware_addr: EthernetAddress([0; 6]),
            target_protocol_addr: target.into(),
        };
        let mut bytes = vec![0; request.buffer_len()];
        request.emit(&mut ArpPacket::new_unchecked(&mut bytes[..]));
        frame(EthernetAddress::BROADCAST, EthernetProtocol::Arp, &bytes)
    }

    #[test]
    fn arp_is_answered_for_its_own_address_alone() {
        let mut host = host();
        let answers = host.answer(0, &who_has([10, 0, 0, 1]));
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0].len(), 60, "a MAC pads what is shorter");
        let answer = EthernetFrame::new_checked(&answers[0][..]).unwrap();
        assert_eq!(answer.dst_addr(), PEER);
        let arp = ArpPacket::new_checked(answer.payload()).unwrap();
        assert_eq!(arp.operation(), ArpOperation::Reply);
        assert_eq!(arp.source_hardware_addr(), MAC);
        assert_eq!(arp.source_protocol_addr(), [10, 0, 0, 1]);
        assert!(host.answer(1, &who_has([10, 0, 0, 9])).is_empty());
    }

    #[test]
    fn neighbour_solicitations_are_answered() {
        // Linux solicits from its link-local address.
        for peer in ["fd00::2", "fe80::ff:fe00:2"] {
            solicit(peer.parse().unwrap());
        }
    }

    fn solicit(peer: Ipv6Address) {
        let own: Ipv6Address = "fd00::1".parse().unwrap();
        let solicited: Ipv6Address = "ff02::1:ff00:1".parse().unwrap();
        let solicit = Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit {
            target_addr: own,
            lladdr: Some(PEER.into()),
        });
        let ip = Ipv6Repr {
            src_addr: peer,
            dst_addr: solicited,
            next_header: IpProtocol::Icmpv6,
            payload_len: solicit.buffer_len(),
            hop_limit: 255,
        };
        let mut bytes = vec![0; 40 + solicit.buffer_len()];
        ip.emit(&mut Ipv6Packet::new_unchecked(&mut bytes[..]));
        solicit.emit(
            &peer,
            &solicited,
            &mut Icmpv6Packet::new_unchecked(&mut bytes[40..]),
            &ChecksumCapabilities::default(),
        );
        let group = EthernetAddress([0x33, 0x33, 0xff, 0, 0, 1]);
        let answers = host().answer(0, &frame(group, EthernetProtocol::Ipv6, &bytes));
        assert_eq!(answers.len(), 1);
        let answer = EthernetFrame::new_checked(&answers[0][..]).unwrap();
        let ip = Ipv6Packet::new_checked(answer.payload()).unwrap();
        let icmp = Icmpv6Packet::new_checked(ip.payload()).unwrap();
        assert_eq!(icmp.msg_type(), Icmpv6Message::NeighborAdvert);
        assert_eq!(icmp.target_addr(), own);
    }

    #[test]
    fn nonsense_is_not_answered() {
        let mut host = host();
        for length in 0..80 {
            assert!(host.answer(length as u64, &vec![0xff; length]).is_empty());
        }
    }

    #[test]
    fn addresses_that_no_host_has_are_refused() {
        let addresses = |mac, ips: &[&str]| {
            let ips = ips.iter().map(|ip| ip.parse().unwrap()).collect();
            HostAddresses { mac, ips }.check()
        };
        assert_eq!(addresses(MAC, &[]), Err(HostAddressesError::Count(0)));
        for (mac, ip) in [
            ([1, 0, 0, 0, 0, 1], "10.0.0.1"),
            (MAC, "224.0.0.1"),
            (MAC, "::"),
        ] {
            let refused = addresses(mac, &[ip]);
            assert!(matches!(refused, Err(HostAddressesError::NotUnicast(_))));
        }
    }
}
