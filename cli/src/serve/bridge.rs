//! Options of `./stellar serve --lone` for its bridge.

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::{ensure, Context};
use hdl_designs::Shape;
use hex::FromHex;
use sim_bridge::{
    BitFlip, Bridge, BridgeConfig, BridgeCounts, HostAddresses, Impairment, LinkAddress, LinkError,
};

/// One card with a bridge.
#[derive(clap::Args)]
pub struct Options {
    /// Serve one card alone, at nic0.sock, with one of its ports bridged to another process
    #[arg(long, requires = "bridge")]
    lone: bool,
    /// Socket to the other process: dgram:LOCAL:REMOTE (UNIX datagram sockets, one made here and one made there), listen:PATH or connect:PATH (a UNIX
    /// stream socket, made here or there)
    #[arg(long, value_name = "SOCKET", requires = "lone")]
    bridge: Option<LinkAddress>,
    /// Bridged port of the card. Frames that leave by the other port are lost
    #[arg(long, value_name = "PORT", requires = "bridge", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    bridge_port: u8,
    /// MAC address of the bridged port. The bridge answers ARP, neighbour discovery and ping for it; the driver must give the card the same address
    #[arg(long, requires = "bridge", default_value = "02:00:00:00:00:01", value_parser = mac)]
    mac: Mac,
    /// IP address of the bridged port, in a network of 24 bits (IPv4) or 64 bits (IPv6); at most two, each with its own --ip
    #[arg(long = "ip", value_name = "ADDRESS", requires = "bridge", default_values = ["10.0.0.1", "fd00::1"])]
    ips: Vec<IpAddr>,
    /// Write the frames that cross the bridge to a file (pcapng), with simulated times
    #[arg(long, value_name = "FILE", requires = "bridge")]
    capture: Option<PathBuf>,
    /// Minimum wall time per simulated time, so that the other process can answer before the card's timers expire; 0: no limit
    #[arg(
        long,
        value_name = "TIMES",
        requires = "bridge",
        default_value_t = 2000
    )]
    pace: u32,
    /// Probability, from 0 to 1, that the bridge drops a RoCEv2 frame, in either direction
    #[arg(long, value_name = "P", requires = "bridge", default_value_t = 0.0, value_parser = probability)]
    drop: f64,
    /// Probability that it duplicates a frame
    #[arg(long, value_name = "P", requires = "bridge", default_value_t = 0.0, value_parser = probability)]
    duplicate: f64,
    /// Probability that it lets later frames overtake a frame
    #[arg(long, value_name = "P", requires = "bridge", default_value_t = 0.0, value_parser = probability)]
    reorder: f64,
    /// Seed of the random decisions to drop, duplicate and reorder frames
    #[arg(long, requires = "bridge", default_value_t = 1)]
    seed: u64,
    /// Invert a header bit of every RoCEv2 frame that the card sends, and correct its iCRC. Byte 0 is the first of the base transport header, bit 7
    /// the most significant
    #[arg(long, value_name = "BYTE.BIT", requires = "bridge")]
    flip: Option<BitFlip>,
}

/// A MAC address.
type Mac = [u8; 6];

/// Parses the argument of `--mac` for clap.
fn mac(text: &str) -> Result<Mac, String> {
    let byte = |text: &str| <[u8; 1]>::from_hex(text).ok().map(|[byte]| byte);
    let bytes: Option<Vec<u8>> = text.split(':').map(byte).collect();
    let mac = bytes.and_then(|bytes| bytes.try_into().ok());
    mac.ok_or_else(|| "write six bytes in hexadecimal, as 02:00:00:00:00:01".to_owned())
}

/// Parses a probability for clap.
fn probability(text: &str) -> Result<f64, String> {
    let found = text.parse().ok().filter(|p| (0.0..=1.0).contains(p));
    found.ok_or_else(|| "a probability is a number from 0 to 1".to_owned())
}

/// The options that an error is about.
fn options(error: &LinkError) -> &'static str {
    match error {
        LinkError::PathTooLong { .. } | LinkError::Exists(_) | LinkError::Socket { .. } => {
            "--bridge"
        }
        LinkError::Capture { .. } => "--capture",
        LinkError::Host(_) => "--mac, --ip",
        LinkError::Impairment(_) => "--drop, --duplicate, --reorder",
        LinkError::Port(_) => "--bridge-port",
    }
}

impl Options {
    /// Checks that a card of this shape has the bridged port.
    pub fn check(&self, shape: Shape) -> anyhow::Result<()> {
        ensure!(
            usize::from(self.bridge_port) < shape.ports(),
            "--bridge-port {}: the card has {} port(s), counted from 0",
            self.bridge_port,
            shape.ports()
        );
        Ok(())
    }

    /// Opens the bridge, if the options contain one.
    pub fn open(&self) -> anyhow::Result<Option<Bridge>> {
        let Some(address) = &self.bridge else {
            return Ok(None);
        };
        let impairment = Impairment {
            drop: self.drop,
            duplicate: self.duplicate,
            reorder: self.reorder,
        };
        let bridge = Bridge::open(&BridgeConfig {
            address: address.clone(),
            port: self.bridge_port.into(),
            host: HostAddresses {
                mac: self.mac,
                ips: self.ips.clone(),
            },
            to_card: impairment,
            to_peer: impairment,
            seed: self.seed,
            flip: self.flip,
            capture: self.capture.clone(),
            pace: self.pace,
        });
        let bridge = bridge.map_err(|error| {
            let options = options(&error);
            anyhow::Error::new(error).context(options)
        })?;
        Ok(Some(bridge))
    }

    /// Prints the bridge's socket.
    pub fn announce(&self) {
        if let Some(address) = &self.bridge {
            println!("port {} is bridged to {address}", self.bridge_port);
        }
    }
}

/// Ends a bridge, and prints how many frames have crossed it.
pub fn end(bridge: &Bridge) -> anyhow::Result<()> {
    let closed = bridge.close();
    let BridgeCounts {
        from_peer,
        from_card,
        dropped,
        duplicated,
        held_back,
        malformed,
        unplugged,
        lost,
    } = bridge.counts();
    println!(
        "bridge: {from_peer} frames from the peer, {from_card} from the card; {dropped} dropped, {duplicated} duplicated and {held_back} held back \
         on purpose; {lost} lost without a peer, {unplugged} at the other port, {malformed} malformed"
    );
    closed.context("--capture: its end cannot be written")
}
