//! Attributes from Python, as types of the driver.

use std::net::IpAddr;
use std::time::Duration;

use pyo3::prelude::*;
use stellar_driver::{
    AccessFlags, Connection, DeviceConfig, InitAttributes, PathAttributes, PortAddress,
    RtrAttributes, RtsAttributes, Transport,
};

use crate::world::{invalid, mtu_log2, path_policy};

/// MAC and IP address of a port.
pub type Port = ([u8; 6], String);
/// Those of both ports.
pub type Ports = [Port; 2];

pub fn port((mac, ip): &Port) -> PyResult<PortAddress> {
    let ip: IpAddr = ip
        .parse()
        .map_err(|error| invalid(format!("{ip:?} is no IP address: {error}")))?;
    Ok(PortAddress { mac: *mac, ip })
}

fn port_pair(ports: &Ports) -> PyResult<[PortAddress; 2]> {
    Ok([port(&ports[0])?, port(&ports[1])?])
}

pub fn device_config(
    ports: Ports,
    data_dscp: u8,
    control_dscp: u8,
    event_entries: u32,
    seed: u64,
) -> PyResult<DeviceConfig> {
    Ok(DeviceConfig {
        ports: port_pair(&ports)?,
        data_dscp,
        control_dscp,
        event_entries,
        seed,
    })
}

pub fn access(remote_write: bool) -> AccessFlags {
    AccessFlags {
        remote_write,
        ..AccessFlags::default()
    }
}

/// A queue pair's number, first PSN and ports, for its peer.
pub type Told = (u32, u32, Ports);

pub fn told(connection: &Connection) -> Told {
    let ports = connection.ports.map(|port| (port.mac, port.ip.to_string()));
    (connection.qp, connection.psn, ports)
}

pub fn init(pkey: u16, remote_write: bool) -> InitAttributes {
    InitAttributes { pkey, remote_write }
}

/// The path attributes from Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Rtr {
    mtu: u32,
    base_rtt_ns: u64,
    gbps: u32,
    trimming: bool,
    policy: Option<String>,
    paths: u8,
    profile: u8,
    max_write_imm: u16,
    imm_completions: bool,
    sack_every: Option<u8>,
}

impl Rtr {
    pub fn attributes(&self, peer: Told) -> PyResult<RtrAttributes> {
        let (qp, psn, ports) = peer;
        let peer = Connection {
            qp,
            psn,
            transport: Transport::Mrc,
            ports: port_pair(&ports)?,
        };
        Ok(RtrAttributes {
            path: PathAttributes {
                mtu_log2: mtu_log2(self.mtu)?,
                base_rtt: Duration::from_nanos(self.base_rtt_ns),
                gbps: self.gbps,
                trimming: self.trimming,
                policy: path_policy(self.policy.as_deref(), self.paths)?,
                paths: self.paths,
                profile: self.profile,
                ..PathAttributes::default()
            },
            max_write_imm: self.max_write_imm,
            imm_completions: self.imm_completions,
            sack_every: self.sack_every,
            ..RtrAttributes::new(peer)
        })
    }
}

pub fn rts(
    psn: u32,
    timeout_ns: u64,
    retry_count: u8,
    window: u16,
    early_loss: u16,
) -> RtsAttributes {
    RtsAttributes {
        timeout: Duration::from_nanos(timeout_ns),
        retry_count,
        window,
        early_loss,
        ..RtsAttributes::new(psn)
    }
}
