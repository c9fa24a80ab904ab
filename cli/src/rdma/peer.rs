//! The other end of a test, in another process: connection parameters and results over TCP.

use std::cell::Cell;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

use anyhow::{anyhow, bail, ensure, Context};
use serde::de::DeserializeOwned;
use serde::Serialize;
use stellar_driver::exchange;

use super::terms::Terms;

/// Longest time for making a connection, and for the peer's first message.
const GREETING: Duration = Duration::from_secs(10);
/// Only one in this number of calls checks the connection, so that the checks do not disturb a measurement.
const LOOK_EVERY: u8 = 128;

/// A peer process that runs the same test.
pub struct Peer {
    stream: TcpStream,
    name: String,
    calls: Cell<u8>,
}

/// A server that waits for its client.
pub struct Waiting {
    listener: TcpListener,
}

impl Waiting {
    /// Listens on a port; 0 is any free port.
    pub fn on(port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).map_err(|error| {
            anyhow!(
                "cannot wait for a client on port {port}: {error}; name another on both ends, with --port"
            )
        })?;
        Ok(Self { listener })
    }

    /// Prints the port, and waits for the client.
    pub fn client(self, terms: &Terms) -> anyhow::Result<Peer> {
        let port = self.listener.local_addr()?.port();
        let line = format!("* Waiting for client to connect on port {port}... *");
        let stars = "*".repeat(line.len());
        println!("\n{stars}\n{line}\n{stars}");
        std::io::stdout().flush()?;
        let (stream, address) = self.listener.accept().context("waiting for a client")?;
        Peer::greet(stream, format!("client {address}"), terms)
    }
}

impl Peer {
    /// Connects to the server at `host`.
    pub fn dial(host: &str, port: u16, terms: &Terms) -> anyhow::Result<Self> {
        let server = format!("{host}:{port}");
        let addresses = (host, port)
            .to_socket_addrs()
            .map_err(|error| anyhow!("cannot find the host of server {server}: {error}"))?;
        let mut failed = None;
        for address in addresses {
            match TcpStream::connect_timeout(&address, GREETING) {
                Ok(stream) => return Self::greet(stream, format!("server {server}"), terms),
                Err(error) => failed = Some(error),
            }
        }
        let reason = failed.map_or("it has no address".to_owned(), |error| error.to_string());
        bail!("cannot reach server {server}: {reason}; start the same test there without HOST first, with the same --port");
    }

    /// Exchanges the test parameters with the peer.
    fn greet(stream: TcpStream, name: String, terms: &Terms) -> anyhow::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GREETING))?;
        let mut peer = Self {
            stream,
            name,
            calls: Cell::new(0),
        };
        let theirs = peer.exchange(terms)?;
        terms.check(&theirs, &peer.name)?;
        // From here on the peer may work for long, so there is no read timeout. If the peer dies, the connection closes.
        peer.stream.set_read_timeout(None)?;
        Ok(peer)
    }

    /// Address of the peer.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends `mine` and returns the peer's.
    pub fn exchange<T: Serialize + DeserializeOwned>(&mut self, mine: &T) -> anyhow::Result<T> {
        exchange(&mut self.stream, mine).with_context(|| {
            let name = &self.name;
            format!("{name} does not go on; what it prints says why, if it is this test at all")
        })
    }

    /// Returns when both ends have called it.
    pub fn meet(&mut self) -> anyhow::Result<()> {
        self.exchange(&())
    }

    /// Whether data of the peer can be read; an error if the connection is closed. Only some calls check.
    pub fn has_spoken(&self) -> anyhow::Result<bool> {
        self.calls.set((self.calls.get() + 1) % LOOK_EVERY);
        if self.calls.get() != 0 {
            return Ok(false);
        }
        self.stream.set_nonblocking(true)?;
        let found = self.stream.peek(&mut [0]);
        self.stream.set_nonblocking(false)?;
        match found {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(false),
            Ok(1..) => Ok(true),
            Ok(0) => bail!("{} has gone in the middle of the test", self.name),
            Err(error) => bail!("{} has gone in the middle of the test: {error}", self.name),
        }
    }

    /// Waits until data of the peer can be read, or the connection is closed.
    pub fn wait(&self) {
        // The next read gets the same error.
        let _ = self.stream.peek(&mut [0]);
    }

    /// An error if the peer sends anything before this end has finished, because then the peer has failed.
    pub fn expect_silence(&self) -> anyhow::Result<()> {
        ensure!(!self.has_spoken()?, "stopped, as {} did", self.name);
        Ok(())
    }

    /// Exchanges the results with the peer. Returns this end's and the peer's.
    pub fn report<T>(&mut self, mine: anyhow::Result<T>) -> anyhow::Result<(T, T)>
    where
        T: Serialize + DeserializeOwned,
    {
        let mine = mine.map_err(|error| format!("{error:#}"));
        let theirs = self.exchange(&mine);
        let name = &self.name;
        match (mine, theirs) {
            (Ok(mine), theirs) => {
                let theirs = theirs?.map_err(|error| anyhow!("{name} failed: {error}"))?;
                Ok((mine, theirs))
            }
            (Err(mine), Ok(Err(theirs))) => bail!("{mine}; {name}: {theirs}"),
            (Err(mine), _) => bail!(mine),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    use stellar_driver::Transport;

    fn terms() -> Terms {
        Terms::new("write_bw", Transport::Mrc, 4096, &[64], 10, 1)
    }

    /// Two connected ends.
    fn ends() -> (Peer, Peer) {
        let waiting = Waiting::on(0).unwrap();
        let port = waiting.listener.local_addr().unwrap().port();
        let client = thread::spawn(move || Peer::dial("127.0.0.1", port, &terms()).unwrap());
        (waiting.client(&terms()).unwrap(), client.join().unwrap())
    }

    fn speaks(peer: &Peer) -> bool {
        (0..=LOOK_EVERY).any(|_| peer.has_spoken().unwrap())
    }

    #[test]
    fn ends_meet_and_tell_each_other_how_it_went() {
        let (mut server, mut client) = ends();
        assert!(client.name().starts_with("server 127.0.0.1:"));
        assert!(!speaks(&server) && !speaks(&client));
        let other = thread::spawn(move || {
            client.meet().unwrap();
            let told = client.report(Ok(5)).unwrap_err().to_string();
            let second = client.report::<u32>(Err(anyhow!("mine"))).unwrap_err();
            (told, second.to_string())
        });
        server.meet().unwrap();
        server.wait();
        assert!(speaks(&server));
        assert!(server.expect_silence().is_ok(), "only some calls look");
        let own = server.report::<u32>(Err(anyhow!("a reason")));
        assert_eq!(own.unwrap_err().to_string(), "a reason");
        assert!(server
            .report(Ok(6))
            .unwrap_err()
            .to_string()
            .ends_with("failed: mine"));
        let (told, second) = other.join().unwrap();
        assert!(told.ends_with("failed: a reason"), "{told}");
        assert_eq!(second, "mine");
    }

    #[test]
    fn a_peer_that_goes_is_noticed() {
        let (mut server, client) = ends();
        drop(client);
        server.wait();
        let looks = (0..=LOOK_EVERY).map(|_| server.has_spoken());
        let errors: Vec<_> = looks.filter_map(Result::err).collect();
        assert_eq!(errors.len(), 1, "only some calls look");
        let error = errors[0].to_string();
        assert!(error.starts_with("client 127.0.0.1:") && error.contains("has gone"));
        let error = format!("{:#}", server.meet().unwrap_err());
        assert!(error.contains("does not go on"), "{error}");
    }

    #[test]
    fn a_server_that_is_not_there_and_a_port_in_use_are_named() {
        let waiting = Waiting::on(0).unwrap();
        let port = waiting.listener.local_addr().unwrap().port();
        let error = Waiting::on(port).err().unwrap().to_string();
        assert!(
            error.contains(&format!("port {port}")) && error.contains("--port"),
            "{error}"
        );
        drop(waiting);
        let error = Peer::dial("127.0.0.1", port, &terms())
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("cannot reach server 127.0.0.1"), "{error}");
        let error = Peer::dial("no.such.host.invalid", port, &terms())
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("no.such.host.invalid"), "{error}");
    }

    #[test]
    fn something_else_that_connects_is_refused() {
        let waiting = Waiting::on(0).unwrap();
        let port = waiting.listener.local_addr().unwrap().port();
        let other = thread::spawn(move || {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            stream
        });
        let error = format!("{:#}", waiting.client(&terms()).err().unwrap());
        assert!(error.contains("if it is this test at all"), "{error}");
        drop(other.join().unwrap());
    }
}
