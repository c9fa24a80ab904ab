//! Where the text of a module uses its reset.

use std::collections::BTreeMap;

/// The reset port of a module.
pub(crate) const RESET: &str = "reset";

/// A part of a module's text, and how it uses the reset.
pub(crate) struct Item {
    pub text: String,
    pub is: Use,
    /// Bits that the reset clears or changes.
    bits: usize,
}

pub(crate) enum Use {
    None,
    /// In logic.
    Logic,
    /// In the last statement of the logic of a vector, which clears it. `clear` is what is assigned.
    Vector {
        width: usize,
        clear: String,
    },
    /// As the reset of an instance; `plain`: it is nothing else.
    Instance {
        kind: String,
        plain: bool,
    },
}

impl Item {
    /// Loads of the reset, with those of the modules below.
    pub fn loads(&self, of_modules: &BTreeMap<String, usize>) -> usize {
        match &self.is {
            Use::None => 0,
            Use::Instance { kind, plain: true } => of_modules.get(kind).copied().unwrap_or(0),
            Use::Instance { plain: false, .. } => 1,
            Use::Logic | Use::Vector { .. } => self.bits,
        }
    }
}

/// The text that clears a vector, if nothing else is cleared with it.
pub(crate) fn lone_reset(vector: &str, width: usize) -> String {
    format!("    if ({RESET}) begin\n      {vector} = {width}'h0;\n    end\n")
}

/// Splits a module's text: blocks, instances, and the lines between them. The header with the ports is an item without a use.
pub(crate) fn items(text: &str) -> Vec<Item> {
    let end = text.find("\n);\n").map_or(0, |at| at + "\n);\n".len());
    let (head, body) = text.split_at(end);
    let mut items = vec![Item {
        text: head.into(),
        is: Use::None,
        bits: 0,
    }];
    let widths = widths(text);
    let mut open: Option<(String, &str)> = None;
    for line in body.split_inclusive('\n') {
        let (mut part, closes) = match open.take() {
            Some(open) => open,
            None if line.starts_with("  always @") => (String::new(), "  end\n"),
            None if line.starts_with("  ") && line.ends_with(" (\n") => (String::new(), "  );\n"),
            None => (String::new(), line),
        };
        part += line;
        if line == closes {
            items.push(item(part, &widths));
        } else {
            open = Some((part, closes));
        }
    }
    items.extend(open.map(|(part, _)| item(part, &widths)));
    items
}

fn item(text: String, widths: &BTreeMap<String, usize>) -> Item {
    let first = text.lines().next().unwrap_or_default();
    let mut bits = places(&code(&text), RESET).count();
    let is = if first.ends_with(" (") {
        let connected = (text.split_once(".reset(")).and_then(|(_, rest)| rest.split_once(")"));
        match connected {
            Some((net, _)) => Use::Instance {
                kind: first.split_whitespace().next().unwrap_or_default().into(),
                plain: net == RESET,
            },
            None if has_word(&text, RESET) => Use::Logic,
            None => Use::None,
        }
    } else if first.trim_start().starts_with("//") || !has_word(&code(&text), RESET) {
        Use::None
    } else {
        let target = target(&text);
        bits = target
            .and_then(|name| widths.get(name).copied())
            .unwrap_or(bits);
        match target {
            Some(name) if text.ends_with(&format!("{}  end\n", lone_reset(name, bits))) => {
                Use::Vector {
                    width: bits,
                    clear: name.into(),
                }
            }
            _ => Use::Logic,
        }
    };
    Item { text, is, bits }
}

/// The text without lines that are comments.
fn code(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect()
}

/// The signal that a block or an `assign` drives: the first that is assigned in it.
fn target(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let line = line.trim_start();
        let (name, _) = line
            .strip_prefix("assign ")
            .unwrap_or(line)
            .split_once(" = ")?;
        let name = name.split('[').next()?;
        name.chars().all(is_of_word).then_some(name)
    })
}

/// Widths of the vectors that a module declares.
fn widths(text: &str) -> BTreeMap<String, usize> {
    let declared = |line: &str| {
        let line = line.trim_start().trim_start_matches("output ");
        let rest = line.strip_prefix("reg ").or(line.strip_prefix("wire "))?;
        let (width, rest) = match rest.strip_prefix('[') {
            Some(range) => {
                let (high, rest) = range.split_once(":0] ")?;
                (high.parse::<usize>().ok()? + 1, rest)
            }
            None => (1, rest),
        };
        let name: String = rest.chars().take_while(|c| is_of_word(*c)).collect();
        Some((name, width))
    };
    text.lines().filter_map(declared).collect()
}

/// Whether a module has this input of one bit.
pub(crate) fn has_input(text: &str, name: &str) -> bool {
    [",\n", "\n"]
        .iter()
        .any(|end| text.contains(&format!("  input wire {name}{end}")))
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// Where `word` stands by itself, and not as the name of a port.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            !before.is_some_and(|c| is_of_word(c) || c == '.') && !after.is_some_and(is_of_word)
        })
}

/// Whether `word` stands somewhere by itself.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    places(text, word).next().is_some()
}

/// Returns `text` with another word in the place of `word`; comments stay.
pub(crate) fn with_word(text: &str, word: &str, other: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("//") {
            out += line;
            continue;
        }
        let mut end = 0;
        for at in places(line, word) {
            out += &line[end..at];
            out += other;
            end = at + word.len();
        }
        out += &line[end..];
    }
    out
}
