//! MRC entropy value: the name of a path, carried in fields switches hash.

use crate::{Ip, Udp};

/// Entropy value, 32 bits. On IPv6 the low half is the UDP source port, the high half the low 16 bits of the flow
/// label. On IPv4 there is only the source port and the high half reads zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Entropy(pub u32);

impl Entropy {
    /// The value a packet carries.
    pub const fn of(ip: &Ip, udp: &Udp) -> Self {
        let high = match ip {
            Ip::V4(_) => 0,
            Ip::V6(ip) => (ip.flow_label & 0xffff) << 16,
        };
        Self(high | udp.sport as u32)
    }

    /// Writes the value into a packet's headers; the top four bits of the flow label stay.
    pub fn apply(self, ip: &mut Ip, udp: &mut Udp) {
        udp.sport = self.0 as u16;
        if let Ip::V6(ip) = ip {
            ip.flow_label = ip.flow_label & 0xf_0000 | self.0 >> 16;
        }
    }
}
