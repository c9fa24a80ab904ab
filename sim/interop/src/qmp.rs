//! QEMU's machine protocol (QMP), as far as stopping and resuming a guest needs it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, Context};
use serde_json::{json, Value};

/// Longest time to an answer of QEMU.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection to QEMU.
pub struct Qmp {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

impl Qmp {
    /// Connects to the socket of `-qmp unix:PATH,server=on`.
    pub fn connect(path: &Path) -> anyhow::Result<Self> {
        let writer = UnixStream::connect(path)
            .with_context(|| format!("{}: QEMU's machine protocol", path.display()))?;
        writer.set_read_timeout(Some(PATIENCE))?;
        let reader = BufReader::new(writer.try_clone()?);
        let mut qmp = Self { reader, writer };
        // QEMU sends a greeting, and accepts no other command before this one.
        qmp.read()?;
        qmp.execute("qmp_capabilities")?;
        Ok(qmp)
    }

    fn read(&mut self) -> anyhow::Result<Value> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            bail!("QEMU has closed the connection of its machine protocol");
        }
        Ok(serde_json::from_str(&line)?)
    }

    /// Executes a command without arguments.
    pub fn execute(&mut self, command: &str) -> anyhow::Result<()> {
        let message = json!({ "execute": command });
        writeln!(self.writer, "{message}")?;
        loop {
            let said = self.read()?;
            if said.get("return").is_some() {
                return Ok(());
            }
            if let Some(error) = said.get("error") {
                bail!("QEMU refuses '{command}': {error}");
            }
            // Everything else is an event. Events may come at any time.
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::thread;

    /// A stand-in for QEMU that answers each command with these lines.
    fn qemu(answers: Vec<&'static str>) -> anyhow::Result<()> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("qmp");
        let listener = UnixListener::bind(&path).unwrap();
        let answering = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            writeln!(stream, r#"{{"QMP": {{}}}}"#).unwrap();
            let mut asked = BufReader::new(stream.try_clone().unwrap()).lines();
            for answer in answers {
                asked.next();
                writeln!(stream, "{answer}").unwrap();
            }
        });
        let result = Qmp::connect(&path).and_then(|mut qmp| qmp.execute("stop"));
        answering.join().unwrap();
        result
    }

    #[test]
    fn events_between_command_and_answer_are_passed_over() {
        let events = "{\"event\": \"STOP\"}\n{\"return\": {}}";
        qemu(vec![r#"{"return": {}}"#, events]).unwrap();
    }

    #[test]
    fn a_refusal_and_a_closed_connection_are_errors() {
        let refused = qemu(vec![r#"{"return": {}}"#, r#"{"error": {"desc": "no"}}"#]);
        assert!(refused.unwrap_err().to_string().contains("refuses 'stop'"));
        assert!(qemu(vec![r#"{"return": {}}"#]).is_err());
    }
}
