//! Compares the codecs with tshark for every header that tshark dissects.

use std::ffi::OsStr;

use stellar_wire::{Header, Ip, Opcode, RoceFrame};

use crate::peers::{run, sample, transmitted_icrc, FRAMES};

/// Name and value of every field a peer must agree on, each value as the peer prints it.
type Fields = Vec<(&'static str, String)>;

fn decimal(value: impl Into<u64>) -> String {
    value.into().to_string()
}

fn hex(value: impl Into<u64>, digits: usize) -> String {
    format!("0x{:0digits$x}", value.into())
}

fn flag(value: bool) -> String {
    u8::from(value).to_string()
}

/// Returns the fields that tshark should print for a frame. For a field of several layers (inner and outer IPv6), the outermost comes first.
fn tshark_fields(frame: &RoceFrame, bytes: &[u8]) -> Fields {
    let (eth, bth, ext) = (&frame.eth, &frame.bth, &frame.ext);
    let mut flow_labels: Vec<String> = frame
        .srv6
        .iter()
        .map(|outer| hex(outer.flow_label, 6))
        .collect();
    let mut v6_destinations: Vec<String> = frame
        .srv6
        .iter()
        .map(|outer| std::net::Ipv6Addr::from(outer.path).to_string())
        .collect();
    if let Ip::V6(ip) = frame.ip {
        flow_labels.push(hex(ip.flow_label, 6));
        v6_destinations.push(ip.dst.to_string());
    }
    let v4 = match frame.ip {
        Ip::V4(ip) => Some(ip),
        Ip::V6(_) => None,
    };
    let mut fields = vec![
        ("eth.dst", eth.dst.to_string()),
        ("eth.src", eth.src.to_string()),
        (
            "vlan.id",
            frame.vlan.map_or(String::new(), |tag| decimal(tag.vid)),
        ),
        (
            "vlan.priority",
            frame.vlan.map_or(String::new(), |tag| decimal(tag.pcp)),
        ),
        ("ipv6.flow", flow_labels.join(",")),
        ("ipv6.dst", v6_destinations.join(",")),
        ("ip.dst", v4.map_or(String::new(), |ip| ip.dst.to_string())),
        ("ip.ttl", v4.map_or(String::new(), |ip| decimal(ip.ttl))),
        (
            "ip.len",
            v4.map_or(String::new(), |ip| decimal(ip.total_len)),
        ),
        (
            "ip.dsfield.ecn",
            v4.map_or(String::new(), |ip| decimal(ip.ecn.bits())),
        ),
        // 1 = good: tshark verified the header checksum.
        (
            "ip.checksum.status",
            v4.map_or(String::new(), |_| "1".to_owned()),
        ),
        ("udp.srcport", decimal(frame.udp.sport)),
        ("udp.dstport", decimal(frame.udp.dport)),
        ("udp.length", decimal(frame.udp.length)),
        ("infiniband.bth.opcode", decimal(bth.opcode.code())),
        ("infiniband.bth.se", flag(bth.solicited)),
        ("infiniband.bth.m", flag(bth.mig_req)),
        ("infiniband.bth.padcnt", decimal(bth.pad_count)),
        ("infiniband.bth.tver", decimal(bth.tver)),
        ("infiniband.bth.p_key", decimal(bth.pkey)),
        ("infiniband.bth.destqp", hex(bth.dest_qp, 6)),
        ("infiniband.bth.a", flag(bth.ack_req)),
        ("infiniband.bth.psn", decimal(bth.psn)),
    ];
    if bth.opcode.is_mrc() || bth.opcode == Opcode::Cnp {
        return fields; // tshark stops at the BTH of opcodes it does not know
    }
    let of = |present: Option<String>| present.unwrap_or_default();
    // AtomicETH begins like RETH, and tshark uses the same names for both. It prints ImmDt and IETH both as a header and as a value.
    let address = ext
        .reth
        .map(|reth| (reth.va, reth.rkey))
        .or(ext.atomic.map(|atomic| (atomic.va, atomic.rkey)));
    let twice = |header: Vec<u8>| format!("{0},{0}", ::hex::encode(header));
    fields.extend([
        ("infiniband.reth.va", of(address.map(|(va, _)| hex(va, 16)))),
        (
            "infiniband.reth.r_key",
            of(address.map(|(_, rkey)| hex(rkey, 8))),
        ),
        (
            "infiniband.reth.dmalen",
            of(ext.reth.map(|reth| decimal(reth.dma_len))),
        ),
        (
            "infiniband.aeth.syndrome",
            of(ext.aeth.map(|aeth| decimal(aeth.syndrome.to_byte()))),
        ),
        (
            "infiniband.aeth.msn",
            of(ext.aeth.map(|aeth| decimal(aeth.msn))),
        ),
        (
            "infiniband.atomiceth.swapdt",
            of(ext.atomic.map(|atomic| decimal(atomic.swap_add))),
        ),
        (
            "infiniband.atomiceth.cmpdt",
            of(ext.atomic.map(|atomic| decimal(atomic.compare))),
        ),
        (
            "infiniband.atomicacketh.origremdt",
            of(ext.atomic_ack.map(|ack| decimal(ack.original))),
        ),
        (
            "infiniband.immdt",
            of(ext.imm.map(|imm| twice(imm.to_bytes()))),
        ),
        (
            "infiniband.ieth",
            of(ext.ieth.map(|ieth| twice(ieth.to_bytes()))),
        ),
        (
            "infiniband.deth.q_key",
            of(ext.deth.map(|deth| hex(deth.qkey, 16))),
        ),
        (
            "infiniband.deth.srcqp",
            of(ext.deth.map(|deth| hex(deth.src_qp, 8))),
        ),
        ("infiniband.invariant.crc", hex(transmitted_icrc(bytes), 8)),
    ]);
    fields
}

#[test]
fn tshark_reads_every_field_as_we_wrote_it() {
    let sample = sample();
    let expected: Vec<Fields> = sample
        .frames
        .iter()
        .zip(&sample.bytes)
        .map(|(frame, bytes)| tshark_fields(frame, bytes))
        .collect();
    let names: Vec<&str> = expected
        .iter()
        .max_by_key(|fields| fields.len())
        .expect("frames")
        .iter()
        .map(|(name, _)| *name)
        .collect();
    let mut arguments: Vec<&OsStr> =
        ["-r".as_ref(), sample.capture.as_os_str(), "-n".as_ref()].to_vec();
    arguments.extend(["-o", "ip.check_checksum:TRUE", "-T", "fields"].map(OsStr::new));
    // tshark's heuristics take some short random payloads for upper layers, and it then does not dissect the iCRC.
    arguments.extend(["--disable-heuristic", "eth_over_ib"].map(OsStr::new));
    for upper in [
        "rpcordma",
        "smb_direct",
        "smc",
        "nvme-rdma",
        "lnet",
        "iser",
        "fcoib",
    ] {
        arguments.extend(["--disable-protocol", upper].map(OsStr::new));
    }
    for name in &names {
        arguments.extend(["-e", name].map(OsStr::new));
    }
    let lines = run("tshark", "tshark".as_ref(), &arguments);
    assert_eq!(lines.len(), FRAMES);
    for (index, (line, expected)) in lines.iter().zip(&expected).enumerate() {
        let values: Vec<&str> = line.split('\t').collect();
        assert_eq!(values.len(), names.len(), "frame {index}");
        for ((name, value), found) in expected.iter().zip(values) {
            let frame = &sample.frames[index];
            assert_eq!(
                found, value,
                "frame {index}, {name}: tshark's and ours for {frame:?}"
            );
        }
    }
}
