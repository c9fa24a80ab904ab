//! Comments in the printed text. Verilog files for readers contain them. The text of simulation models does not, so a changed comment does not change
//! a model.

/// Marks the start of a comment line in the internal text.
const LINE: char = '\u{1}';
/// Marks the start and the end of a comment within a line.
const OPEN: char = '\u{2}';
const CLOSE: char = '\u{3}';

/// Returns a comment line with its line break.
pub(crate) fn line(indent: &str, text: &str) -> String {
    format!("{LINE}{}\n", format!("{indent}// {text}").trim_end())
}

/// Returns a comment that follows a part of an expression.
pub(crate) fn beside(text: &str) -> String {
    format!("{OPEN}{text}{CLOSE}")
}

/// Returns the text with its comments.
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

/// Returns the text without its comments.
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
