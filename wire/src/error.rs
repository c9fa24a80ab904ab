//! Why bytes were refused.

use thiserror::Error;

/// Reason a header or frame could not be parsed. One variant per reason, so that drops can be counted by reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The bytes end inside a header.
    #[error("{header}: needs {need} bytes, only {have} left; the packet is cut off")]
    Truncated {
        header: &'static str,
        need: usize,
        have: usize,
    },
    /// A layer's length field claims more bytes than arrived.
    #[error(
        "{layer}: length field says {claimed} bytes but only {actual} arrived; the frame is short"
    )]
    LengthShort {
        layer: &'static str,
        claimed: usize,
        actual: usize,
    },
    /// A layer's length field claims fewer bytes than arrived.
    #[error("{layer}: length field says {claimed} bytes but {actual} arrived; the frame is long")]
    LengthLong {
        layer: &'static str,
        claimed: usize,
        actual: usize,
    },
    /// EtherType is neither IPv4 nor IPv6 (after at most one VLAN tag).
    #[error("Ethernet: EtherType {0:#06x} is neither IPv4 (0x0800) nor IPv6 (0x86dd)")]
    EtherType(u16),
    /// The version nibble of the IP header differs from the version that the layer below names.
    #[error("IP: version is {found}, the layer below announced {expected}")]
    IpVersion { expected: u8, found: u8 },
    /// IPv4 header with options (or an impossible header length); RoCE packets carry none.
    #[error("IPv4: header length is {ihl} words, only 5 (no options) is supported")]
    Ipv4Options { ihl: u8 },
    /// IPv4 header checksum is wrong.
    #[error("IPv4: header checksum is {found:#06x}, should be {computed:#06x}")]
    Ipv4Checksum { found: u16, computed: u16 },
    /// A fragment: RoCE packets are never fragmented.
    #[error("IPv4: packet is a fragment; RoCE traffic must not be fragmented, check the path MTU")]
    Ipv4Fragment,
    /// IP carries something other than UDP (or, outermost, IP in IP).
    #[error("IP: protocol {0} is not UDP (17)")]
    IpProtocol(u8),
    /// UDP destination port is not the RoCE port in use.
    #[error("UDP: destination port {found} is not the RoCE port {expected}")]
    UdpPort { expected: u16, found: u16 },
    /// Invariant CRC is wrong.
    #[error("iCRC: packet carries {found:#010x}, its bytes give {computed:#010x}")]
    Icrc { found: u32, computed: u32 },
    /// BTH transport header version other than 0.
    #[error("BTH: transport version {0} is not 0")]
    TransportVersion(u8),
    /// The opcode in the BTH is not defined.
    #[error("BTH: opcode {0:#04x} is unknown")]
    UnknownOpcode(u8),
    /// The pad count exceeds the bytes after the headers, or does not complete a multiple of four bytes.
    #[error("BTH: pad count {pad} does not fit {after_headers} bytes of payload and pad")]
    BadPad { pad: u8, after_headers: usize },
    /// Extension headers of a frame to be sent are not those its opcode calls for.
    #[error(
        "{opcode}: extension header {kind} is {problem}; set exactly those the opcode calls for"
    )]
    ExtMismatch {
        opcode: &'static str,
        kind: &'static str,
        problem: &'static str,
    },
    /// A frame to be sent is larger than IP can carry.
    #[error("{layer}: {length} bytes do not fit a 16-bit length; shorten the payload")]
    TooLong { layer: &'static str, length: usize },
    /// A field holds a value its specification does not define or allow.
    #[error("{field}: value {value:#x} is not allowed")]
    BadField { field: &'static str, value: u64 },
    /// PCIe request that may not be sent as one TLP.
    #[error("PCIe request of {length} bytes at {address:#x} {problem}; split it")]
    TlpSpan {
        address: u64,
        length: usize,
        problem: &'static str,
    },
}
