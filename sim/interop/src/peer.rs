//! Remote control of the program `rdma_peer` in the guest, over a serial port.
//!
//! A command is a line of words. The program answers with one line, `ok NAME=VALUE...` or `error TEXT`. Raw bytes follow the command `put` and the answer
//! to `get`.
//! `tools/interop/rdma_peer/main.c` documents the commands.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail, Context};

/// Longest start-up of the guest.
const BOOT: Duration = Duration::from_secs(180);
/// Longest time to an answer, in addition to the time that the command itself may wait.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest time until QEMU has made the serial port's socket.
const SOCKET: Duration = Duration::from_secs(60);

/// Answer of the guest's program to a command.
#[derive(Debug, Default)]
pub struct Answer {
    fields: HashMap<String, String>,
    /// Words that are not of the form NAME=VALUE.
    pub words: Vec<String>,
}

impl Answer {
    fn parse(command: &str, line: &str) -> anyhow::Result<Self> {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("ok") => {}
            Some("error") => {
                let text = line.trim_start_matches("error").trim();
                bail!("the peer could not do '{command}': {text}");
            }
            _ => bail!("the peer answered '{command}' with '{line}'"),
        }
        let mut answer = Self::default();
        for word in words {
            match word.split_once('=') {
                Some((name, value)) => {
                    answer.fields.insert(name.to_owned(), value.to_owned());
                }
                None => answer.words.push(word.to_owned()),
            }
        }
        Ok(answer)
    }

    /// The text of a field.
    pub fn text(&self, name: &str) -> anyhow::Result<&str> {
        let value = self.fields.get(name);
        Ok(value.with_context(|| format!("the peer's answer lacks {name}"))?)
    }

    /// The number of a field, decimal or hexadecimal.
    pub fn number(&self, name: &str) -> anyhow::Result<u64> {
        let text = self.text(name)?;
        let number = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        number.with_context(|| format!("the peer says {name}={text}"))
    }
}

/// A completion at the peer (`struct ibv_wc`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerCompletion {
    /// Work request ID.
    pub wr_id: u64,
    /// Name of the status without `IBV_WC_`.
    pub status: String,
    /// Name of the opcode without `IBV_WC_`. It is valid only if the status is `SUCCESS`.
    pub opcode: String,
    /// Bytes received.
    pub byte_len: u32,
    /// Immediate data.
    pub immediate: Option<u32>,
}

impl PeerCompletion {
    fn parse(word: &str) -> anyhow::Result<Self> {
        let fields: Vec<&str> = word.split(':').collect();
        let [wr_id, status, opcode, byte_len, immediate] = fields[..] else {
            bail!("the peer tells of a completion '{word}'");
        };
        Ok(Self {
            wr_id: wr_id.parse()?,
            status: status.to_owned(),
            opcode: opcode.to_owned(),
            byte_len: byte_len.parse()?,
            immediate: match immediate {
                "-" => None,
                number => Some(number.parse()?),
            },
        })
    }
}

/// The connection to the program.
pub struct Peer {
    stream: UnixStream,
    incoming: Receiver<Vec<u8>>,
    /// Bytes received and not consumed yet.
    buffer: Vec<u8>,
}

/// Advances simulated time by a few hundred clock cycles.
pub type Clock<'a> = &'a dyn Fn();

impl Peer {
    /// Connects to the serial port's socket, and waits until the program answers `hello`.
    pub fn connect(path: &Path, clock: Clock<'_>) -> anyhow::Result<(Self, Answer)> {
        let began = Instant::now();
        let stream = loop {
            match UnixStream::connect(path) {
                Ok(stream) => break stream,
                Err(error) if began.elapsed() > SOCKET => {
                    return Err(error)
                        .with_context(|| format!("{}: the guest's serial port", path.display()));
                }
                Err(_) => clock(),
            }
        };
        let (chunks, incoming) = mpsc::channel();
        let mut reading = stream.try_clone()?;
        thread::Builder::new()
            .name("peer".to_owned())
            .spawn(move || {
                let mut chunk = vec![0; 1 << 16];
                loop {
                    match reading.read(&mut chunk) {
                        Ok(0) => return,
                        Ok(length) => {
                            if chunks.send(chunk[..length].to_vec()).is_err() {
                                return;
                            }
                        }
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(_) => return,
                    }
                }
            })?;
        let mut peer = Self {
            stream,
            incoming,
            buffer: Vec::new(),
        };
        let answer = peer.ask_for("hello", &[], BOOT, clock)?;
        Ok((peer, answer))
    }

    /// Waits for more bytes while the card's clock runs.
    fn fill(&mut self, until: Instant, clock: Clock<'_>) -> anyhow::Result<()> {
        loop {
            match self.incoming.recv_timeout(Duration::ZERO) {
                Ok(chunk) => {
                    self.buffer.extend(chunk);
                    return Ok(());
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => clock(),
                Err(RecvTimeoutError::Timeout) => bail!("the peer does not answer"),
                Err(RecvTimeoutError::Disconnected) => bail!("the guest has ended"),
            }
        }
    }

    fn ask_for(
        &mut self,
        command: &str,
        body: &[u8],
        patience: Duration,
        clock: Clock<'_>,
    ) -> anyhow::Result<Answer> {
        let mut message = format!("{command}\n").into_bytes();
        message.extend_from_slice(body);
        self.stream.write_all(&message)?;
        let until = Instant::now() + patience;
        let end = loop {
            if let Some(end) = self.buffer.iter().position(|&byte| byte == b'\n') {
                break end;
            }
            let waited = self.fill(until, clock);
            waited.with_context(|| format!("after '{command}'"))?;
        };
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        Answer::parse(command, String::from_utf8_lossy(&line).trim_end())
    }

    /// Executes a command.
    pub fn ask(&mut self, command: &str, clock: Clock<'_>) -> anyhow::Result<Answer> {
        self.ask_for(command, &[], PATIENCE, clock)
    }

    /// Writes into a region of the peer.
    pub fn put(
        &mut self,
        region: u32,
        offset: u64,
        bytes: &[u8],
        clock: Clock<'_>,
    ) -> anyhow::Result<()> {
        let command = format!("put {region} {offset} {}", bytes.len());
        self.ask_for(&command, bytes, PATIENCE, clock).map(drop)
    }

    /// Reads from a region of the peer.
    pub fn get(
        &mut self,
        region: u32,
        offset: u64,
        length: usize,
        clock: Clock<'_>,
    ) -> anyhow::Result<Vec<u8>> {
        let command = format!("get {region} {offset} {length}");
        self.ask(&command, clock)?;
        let until = Instant::now() + PATIENCE;
        while self.buffer.len() < length {
            self.fill(until, clock)?;
        }
        Ok(self.buffer.drain(..length).collect())
    }

    /// Waits for `most` completions of a queue pair, at most for `patience`.
    pub fn poll(
        &mut self,
        qp: u32,
        most: usize,
        patience: Duration,
        clock: Clock<'_>,
    ) -> anyhow::Result<Vec<PeerCompletion>> {
        let command = format!("poll {qp} {most} {}", patience.as_millis());
        let answer = self.ask_for(&command, &[], patience + PATIENCE, clock)?;
        let words = answer.words.iter();
        let found: Vec<_> = words
            .map(|word| PeerCompletion::parse(word))
            .collect::<anyhow::Result<_>>()?;
        if found.len() as u64 != answer.number("count")? {
            return Err(anyhow!("the peer counts other completions than it lists"));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_have_fields_and_words() {
        let answer = Answer::parse("mr", "ok address=0x7f00 n=12 1:SUCCESS:SEND:0:-").unwrap();
        assert_eq!(answer.number("address").unwrap(), 0x7f00);
        assert_eq!(answer.number("n").unwrap(), 12);
        assert!(answer.number("rkey").is_err());
        let completion = PeerCompletion::parse(&answer.words[0]).unwrap();
        assert_eq!(
            (completion.status.as_str(), completion.immediate),
            ("SUCCESS", None)
        );
    }

    #[test]
    fn errors_say_what_was_asked() {
        let error = Answer::parse("mr 1", "error ibv_reg_mr: Invalid argument").unwrap_err();
        assert!(error.to_string().contains("'mr 1': ibv_reg_mr"), "{error}");
        assert!(Answer::parse("mr 1", "what?").is_err());
        assert!(PeerCompletion::parse("1:2:3").is_err());
    }
}
