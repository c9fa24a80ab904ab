//! Address of a port in a message.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::fields::{Malformed, Put, Take};

/// Address of a port, 23 bytes: MAC address, 4 or 6, and 16 bytes of IP address, of which IPv4 uses the first four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// MAC address.
    pub mac: [u8; 6],
    /// IP address.
    pub ip: IpAddr,
}

impl Port {
    pub(super) fn put(&self, out: &mut Put) {
        out.bytes(&self.mac);
        match self.ip {
            IpAddr::V4(ip) => out.u8(4).bytes(&ip.octets()).bytes(&[0; 12]),
            IpAddr::V6(ip) => out.u8(6).bytes(&ip.octets()),
        };
    }

    pub(super) fn take(from: &mut Take<'_>) -> Result<Self, Malformed> {
        let mac = from.bytes()?;
        let is_v4 = from.code("port.version", |version| match version {
            4 => Some(true),
            6 => Some(false),
            _ => None,
        })?;
        let octets: [u8; 16] = from.bytes()?;
        let [a, b, c, d, ..] = octets;
        let ip = if is_v4 {
            Ipv4Addr::new(a, b, c, d).into()
        } else {
            Ipv6Addr::from(octets).into()
        };
        Ok(Self { mac, ip })
    }
}
