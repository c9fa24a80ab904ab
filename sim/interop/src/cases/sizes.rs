//! WRITE and WRITE with immediate of every size at odd addresses.

use super::{Case, IpVersion};
use crate::bed::{PairOptions, Writer};
use crate::message::Layout;

/// Message sizes: empty, smaller and larger than a word, and just below and above each path MTU.
const SIZES: [u32; 13] = [
    0,
    1,
    2,
    3,
    5,
    255,
    256,
    1024,
    1025,
    4096,
    4097,
    65_536,
    1 << 20,
];

fn case(writer: Writer, version: IpVersion, mtu: u32) -> Case {
    let ip = match version {
        IpVersion::V4 => "ipv4",
        IpVersion::V6 => "ipv6",
    };
    let run = move |bed: &mut crate::bed::Bed| {
        let pair = bed.pair(PairOptions {
            mtu,
            ..PairOptions::default()
        })?;
        let mut layout = Layout::new(1);
        let mut messages = layout.writes(&SIZES);
        messages.extend(layout.writes_with_immediate(&SIZES));
        bed.exchange(writer, &pair, &messages)?;
        Ok(())
    };
    Case::new(format!("sizes-{writer}-{ip}-mtu-{mtu}"), run).over(version)
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for version in [IpVersion::V4, IpVersion::V6] {
        for mtu in [1024, 4096] {
            for writer in Writer::BOTH {
                let case = case(writer, version, mtu);
                // The short form covers every size, direction, version and path MTU at least once.
                let is_short = (version == IpVersion::V4) == (mtu == 1024);
                cases.push(if is_short { case.short() } else { case });
            }
        }
    }
    cases
}
