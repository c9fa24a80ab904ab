//! Socket addresses as command-line arguments.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

/// The socket between a bridge and its peer. The text form is `dgram:LOCAL:REMOTE`, `listen:PATH` or `connect:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkAddress {
    /// UNIX datagram sockets, a frame per datagram: QEMU's `-netdev dgram` with `local.path=REMOTE` and `remote.path=LOCAL`.
    Datagram {
        /// The bridge's own socket.
        local: PathBuf,
        /// The peer's socket.
        remote: PathBuf,
    },
    /// A UNIX stream socket at which the bridge listens: QEMU's `-netdev stream,server=off`. Each frame follows its length in 4 bytes, most significant
    /// byte first.
    Listen(PathBuf),
    /// A UNIX stream socket at which the peer listens, with the same format of frames: QEMU's `-netdev stream,server=on`.
    Connect(PathBuf),
}

/// A text that is not a socket address.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{0}' names no socket; write dgram:LOCAL:REMOTE, listen:PATH or connect:PATH")]
pub struct AddressError(String);

impl LinkAddress {
    /// The socket that the bridge creates, if it creates one.
    pub fn own_path(&self) -> Option<&Path> {
        match self {
            Self::Datagram { local, .. } => Some(local),
            Self::Listen(path) => Some(path),
            Self::Connect(_) => None,
        }
    }

    /// The sockets of both ends.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let (first, second) = match self {
            Self::Datagram { local, remote } => (local, Some(remote)),
            Self::Listen(path) | Self::Connect(path) => (path, None),
        };
        std::iter::once(first).chain(second).map(PathBuf::as_path)
    }
}

impl FromStr for LinkAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let fields: Vec<&str> = text.split(':').collect();
        match fields[..] {
            _ if fields.iter().any(|field| field.is_empty()) => Err(AddressError(text.to_owned())),
            ["dgram", local, remote] if local != remote => Ok(Self::Datagram {
                local: local.into(),
                remote: remote.into(),
            }),
            ["listen", path] => Ok(Self::Listen(path.into())),
            ["connect", path] => Ok(Self::Connect(path.into())),
            _ => Err(AddressError(text.to_owned())),
        }
    }
}

impl fmt::Display for LinkAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Datagram { local, remote } => {
                write!(f, "dgram:{}:{}", local.display(), remote.display())
            }
            Self::Listen(path) => write!(f, "listen:{}", path.display()),
            Self::Connect(path) => write!(f, "connect:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_reads_back() {
        for text in ["dgram:a/x:b/y", "listen:/run/x.sock", "connect:x"] {
            let address: LinkAddress = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_forms_that_are_taken() {
        for text in [
            "",
            "x.sock",
            "dgram:a",
            "dgram:a:",
            "dgram:a:a",
            "listen:",
            "connect:a:b",
            "udp:a:b",
        ] {
            let error = text.parse::<LinkAddress>().unwrap_err().to_string();
            assert!(error.contains("dgram:LOCAL:REMOTE"), "{text}: {error}");
        }
    }
}
