//! Parameters that the two ends of a connection exchange out of band.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::open::PortAddress;
use crate::qp::Transport;

/// A queue pair, for its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// The queue pair's number, 24 bits.
    pub qp: u32,
    /// First PSN it sends, 24 bits.
    pub psn: u32,
    /// The queue pair's transport.
    pub transport: Transport,
    /// Addresses of its card's ports, in order of planes. If either card has one port, the first counts.
    pub ports: [PortAddress; 2],
}

/// A memory region, for the peer that writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteRegion {
    /// Address of its first byte.
    pub address: u64,
    /// The region's key.
    pub rkey: u32,
    /// Bytes.
    pub length: u64,
}

/// Why the exchange failed.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The stream.
    #[error("the exchange with the peer failed: {0}")]
    Io(#[from] io::Error),
    /// The message is not of the expected form.
    #[error(
        "the peer sent something else than it should: {0}; both ends must run the same version"
    )]
    Format(#[from] serde_json::Error),
    /// Larger than any parameters.
    #[error("the peer announces {0} bytes of parameters; at most {MOST_BYTES} are taken")]
    TooLong(u32),
}

/// Maximum length of one message in bytes.
const MOST_BYTES: u32 = 1 << 20;

/// Sends `mine` and returns the value that the peer sent. The peer calls the same function at its end. A value is JSON behind its length in 4 bytes,
/// big-endian. `stream` is a `TcpStream` or any other byte stream.
///
/// # Errors
/// [`ConnectError`].
pub fn exchange<T, S>(stream: &mut S, mine: &T) -> Result<T, ConnectError>
where
    T: Serialize + DeserializeOwned,
    S: Read + Write,
{
    let text = serde_json::to_vec(mine)?;
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if length > MOST_BYTES {
        return Err(ConnectError::TooLong(length));
    }
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(&text)?;
    stream.flush()?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > MOST_BYTES {
        return Err(ConnectError::TooLong(length));
    }
    let mut text = vec![0; length as usize];
    stream.read_exact(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn connection(qp: u32) -> Connection {
        let port = |last| PortAddress {
            mac: [2, 0, 0, 0, 0, last],
            ip: [10, 0, 0, last].into(),
        };
        Connection {
            qp,
            psn: 0xff_fff0 + qp,
            transport: Transport::Rc,
            ports: [port(1), port(2)],
        }
    }

    #[test]
    fn two_ends_learn_of_each_other_over_tcp() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let other = std::thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            exchange(&mut stream, &connection(3)).unwrap()
        });
        let (mut stream, _) = listener.accept().unwrap();
        assert_eq!(
            exchange(&mut stream, &connection(2)).unwrap(),
            connection(3)
        );
        assert_eq!(other.join().unwrap(), connection(2));
    }

    /// A peer that sends the bytes `says`.
    struct Peer<'a>(&'a [u8]);

    impl Read for Peer<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.read(into)
        }
    }

    impl Write for Peer<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_peer_that_says_nonsense_is_refused() {
        let ask = |says: &[u8]| exchange(&mut Peer(says), &connection(2)).unwrap_err();
        assert!(matches!(ask(&[]), ConnectError::Io(_)));
        assert!(matches!(
            ask(&[0, 0, 0, 2, b'{', b'}']),
            ConnectError::Format(_)
        ));
        assert!(matches!(ask(&[0xff; 4]), ConnectError::TooLong(u32::MAX)));
    }
}
