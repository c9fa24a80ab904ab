//! Reads constraints: the part of Tcl that XDC files of this project use.

use thiserror::Error;

/// A command: its name and its arguments. An argument in brackets is a command again, as text without the brackets; one in braces is without the braces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// Line of the file, from 1.
    pub line: usize,
    /// The words, the name first.
    pub words: Vec<String>,
}

/// A line that is not understood.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: {what}")]
pub struct XdcError {
    /// Line of the file, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl Command {
    /// The command's name.
    pub fn name(&self) -> &str {
        &self.words[0]
    }

    /// The word after `option`.
    pub fn option(&self, option: &str) -> Option<&str> {
        let at = self.words.iter().position(|word| word == option)?;
        self.words.get(at + 1).map(String::as_str)
    }

    /// Whether `option` is there.
    pub fn has(&self, option: &str) -> bool {
        self.words.iter().any(|word| word == option)
    }

    /// The objects of the argument that begins with `query`, such as `get_ports`.
    pub fn objects(&self, query: &str) -> Option<&str> {
        self.words.iter().find_map(|word| objects(word, query))
    }
}

/// The objects of `get_ports {a b}`.
pub fn objects<'a>(word: &'a str, query: &str) -> Option<&'a str> {
    let rest = word.strip_prefix(query)?.strip_prefix(' ')?.trim();
    let inner = rest
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    Some(inner.unwrap_or(rest))
}

/// Reads the commands of a file.
///
/// # Errors
/// [`XdcError`]: brackets or braces that do not close on their line.
pub fn read(text: &str) -> Result<Vec<Command>, XdcError> {
    let mut commands = vec![];
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words = words(line).ok_or_else(|| XdcError {
            line: line_number,
            what: format!("brackets that do not close in {line:?}"),
        })?;
        commands.push(Command {
            line: line_number,
            words,
        });
    }
    Ok(commands)
}

fn words(line: &str) -> Option<Vec<String>> {
    let mut words = vec![];
    let mut rest = line;
    while !rest.is_empty() {
        let (word, after) = if rest.starts_with(['{', '[']) {
            let end = closing(rest)?;
            (&rest[1..end], &rest[end + 1..])
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            (&rest[..end], &rest[end..])
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    Some(words)
}

/// The place of the bracket that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}
