//! What travels beside the data of a beat in the front end, where nothing stalls.

use rust_hdl::prelude::*;

/// What stands before the IP header the lane works on. The same in all beats of a frame.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct OuterHeaders {
    /// One 802.1Q tag.
    pub tagged: Bit,
    /// The IP header is inside an outer IPv6 header.
    pub encapsulated: Bit,
    /// The layer below announces IPv6, else IPv4.
    pub ipv6: Bit,
    /// The EtherType announces neither.
    pub foreign: Bit,
    /// The frame ends before its IP header begins.
    pub runt: Bit,
    /// The outer IPv6 header says that a switch saw congestion.
    pub congestion: Bit,
}

/// Side information of one beat.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
pub struct BeatInfo {
    pub first: Bit,
    pub last: Bit,
    /// The MAC found the frame faulty; said with the last beat.
    pub error: Bit,
    /// Valid bytes of this beat. Full except in the last; zero only in the one beat of a frame that ends before its IP header begins.
    pub bytes: Bits<8>,
    pub outer: OuterHeaders,
}
