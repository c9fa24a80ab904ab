//! Side information of the beats in the front end, in which nothing stalls.

use rust_hdl::prelude::*;

/// The headers before the IP header that the lane works on. It is the same in all beats of a frame.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct OuterHeaders {
    /// One 802.1Q tag.
    pub tagged: Bit,
    /// The IP header is inside an outer IPv6 header.
    pub encapsulated: Bit,
    /// The EtherType, or the next-header field of the outer header, announces IPv6; otherwise IPv4.
    pub ipv6: Bit,
    /// The destination MAC address is not the port's own.
    pub other_mac: Bit,
    /// The EtherType announces neither IPv4 nor IPv6.
    pub foreign: Bit,
    /// The frame ends before its IP header begins.
    pub runt: Bit,
    /// The outer IPv6 header carries the mark Congestion Experienced (CE).
    pub congestion: Bit,
}

/// Side information of one beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BeatInfo {
    pub first: Bit,
    pub last: Bit,
    /// The MAC reports an error of the frame. Valid in the last beat.
    pub error: Bit,
    /// Valid bytes of this beat. All beats but the last are full. It is 0 only in the single beat of a frame that ends before its IP header begins.
    pub bytes: Bits<8>,
    pub outer: OuterHeaders,
}
