//! Comments of printed text. The written files show them; simulation models are built without them, so a comment changes no model.

/// Begins a line that is a comment.
const LINE: char = '\u{1}';
/// Begins and ends a comment within a line.
const OPEN: char = '\u{2}';
const CLOSE: char = '\u{3}';

/// A comment line, with its line break.
pub(crate) fn line(indent: &str, text: &str) -> String {
    format!("{LINE}{}\n", format!("{indent}// {text}").trim_end())
}

/// A comment behind a part of an expression.
pub(crate) fn beside(text: &str) -> String {
    format!("{OPEN}{text}{CLOSE}")
}

/// The text with its comments.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            LINE => {}
            OPEN => out += " /* ",
            CLOSE => out += " */",
            other => out.push(other),
        }
    }
    out
}

/// The text without its comments.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n').filter(|l| !l.starts_with(LINE)) {
        let mut inside = false;
        out.extend(line.chars().filter(|c| match *c {
            OPEN => {
                inside = true;
                false
            }
            CLOSE => {
                inside = false;
                false
            }
            _ => !inside,
        }));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_shown_or_left_out() {
        let text = format!("{}  a = b[3]{};\n", line("  ", "stage one"), beside("last"));
        assert_eq!(shown(&text), "  // stage one\n  a = b[3] /* last */;\n");
        assert_eq!(plain(&text), "  a = b[3];\n");
    }
}
