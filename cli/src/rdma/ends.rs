//! The two ends of a test: both in this process, or one here and one in another process.

use serde::de::DeserializeOwned;
use serde::Serialize;

use super::hosts::{Host, Plan, Told};
use super::peer::{Peer, Waiting};
use super::terms::Terms;
use super::{table, Function, Options, Role};

/// Number of the sender, which decides its addresses.
const SENDER: u8 = 0;
const RECEIVER: u8 = 1;

/// The ends in this process. The client is the end that sends, or sends first.
pub enum Ends {
    /// Sender and receiver.
    Both(Box<[Host; 2]>),
    /// The sender, and the receiver's process.
    Client(Box<End>),
    /// The receiver, and the sender's process.
    Server(Box<End>),
}

/// One end, connected to the other.
pub struct End {
    pub host: Host,
    pub peer: Peer,
    /// The peer's description of itself.
    pub told: Told,
}

impl End {
    /// Brings the card up and connects its queue pairs.
    fn connect(
        function: Function,
        number: u8,
        mut peer: Peer,
        plan: &Plan,
        options: &Options,
    ) -> anyhow::Result<Box<Self>> {
        let host = Host::new(function, number, plan, options)?;
        let told = peer.exchange(&host.told())?;
        host.ready(&told, options)?;
        peer.meet()?;
        host.start()?;
        Ok(Box::new(Self { host, peer, told }))
    }
}

/// Brings up the cards of this process and connects their queue pairs. If the two ends have different `terms`, it fails before that.
pub fn connect(terms: &Terms, plan: &Plan, options: &Options) -> anyhow::Result<Ends> {
    let (function, number, peer) = match options.role()? {
        Role::Both => {
            let [a, b] = options.cards.open()?;
            let hosts = [
                Host::new(a, SENDER, plan, options)?,
                Host::new(b, RECEIVER, plan, options)?,
            ];
            let told = [hosts[0].told(), hosts[1].told()];
            hosts[0].ready(&told[1], options)?;
            hosts[1].ready(&told[0], options)?;
            for host in &hosts {
                host.start()?;
            }
            return Ok(Ends::Both(Box::new(hosts)));
        }
        Role::Server => {
            let [function] = options.cards.open()?;
            let peer = Waiting::on(options.port)?.client(terms)?;
            (function, RECEIVER, peer)
        }
        Role::Client(server) => {
            let [function] = options.cards.open()?;
            (function, SENDER, Peer::dial(server, options.port, terms)?)
        }
    };
    let end = End::connect(function, number, peer, plan, options)?;
    Ok(match number {
        SENDER => Ends::Client(end),
        _ => Ends::Server(end),
    })
}

impl Ends {
    /// Prints test, conditions and both ends.
    pub fn head(&self, test: &str, options: &Options, conditions: &[(&str, String)]) {
        let (local, remote, peer) = match self {
            Self::Both(hosts) => (hosts[0].told(), hosts[1].told(), None),
            Self::Client(end) | Self::Server(end) => {
                (end.host.told(), end.told.clone(), Some(end.peer.name()))
            }
        };
        table::head(test, options, conditions, peer, [&local, &remote]);
    }

    /// Runs a test and returns the results of sender and receiver. If both ends are in this process, it calls `both`. Otherwise each process runs its
    /// own end after they have met, and sends its result to the other.
    pub fn run<T: Serialize + DeserializeOwned>(
        &mut self,
        both: impl FnOnce(&[Host; 2]) -> anyhow::Result<(T, T)>,
        send: impl FnOnce(&mut End) -> anyhow::Result<T>,
        receive: impl FnOnce(&mut End) -> anyhow::Result<T>,
    ) -> anyhow::Result<(T, T)> {
        match self {
            Self::Both(hosts) => both(hosts),
            Self::Client(end) => {
                let sent = send(end);
                end.peer.report(sent)
            }
            Self::Server(end) => {
                let received = receive(end);
                let (received, sent) = end.peer.report(received)?;
                Ok((sent, received))
            }
        }
    }
}
