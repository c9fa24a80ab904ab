//! Tokens of the Verilog that this project emits, with their place in the text.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier or a keyword.
    Word,
    /// A number, with or without a width.
    Number,
    /// A string, an attribute `(* ... *)` or a compiler directive: nothing to mutate.
    Other,
    /// An operator or punctuation.
    Symbol,
}

/// A token of Verilog text.
#[derive(Clone, Debug)]
pub struct Token {
    pub kind: Kind,
    pub span: Range<usize>,
}

/// Symbols of more than one character, longest first.
const SYMBOLS: [&str; 14] = [
    "<<<", ">>>", "===", "!==", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "+:", "~^",
];

/// The tokens of `text` without spaces and comments.
pub fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = vec![];
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        if let Some(blank) = blank(rest) {
            at += blank;
            continue;
        }
        let (kind, length) = token(rest);
        found.push(Token {
            kind,
            span: at..at + length,
        });
        at += length;
    }
    found
}

/// Length of the space or comment that `rest` begins with.
fn blank(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(rest.find("*/").map_or(rest.len(), |end| end + 2));
    }
    let first = rest.chars().next()?;
    first.is_whitespace().then(|| first.len_utf8())
}

fn token(rest: &str) -> (Kind, usize) {
    let first = rest.chars().next().expect("there is a character");
    let run = |wanted: fn(char) -> bool| rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    if first.is_ascii_digit() || first == '\'' {
        // The base and its digits belong to the number.
        return (
            Kind::Number,
            run(|c| c.is_ascii_alphanumeric() || c == '\'' || c == '_'),
        );
    }
    if first.is_ascii_alphabetic() || first == '_' || first == '$' {
        return (
            Kind::Word,
            run(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$'),
        );
    }
    if first == '"' {
        let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
        return (Kind::Other, end);
    }
    if first == '`' {
        return (Kind::Other, rest.find('\n').unwrap_or(rest.len()));
    }
    // `@(*)` is no attribute.
    if rest.starts_with("(*") && !rest.starts_with("(*)") {
        return (
            Kind::Other,
            rest.find("*)").map_or(rest.len(), |end| end + 2),
        );
    }
    let length = SYMBOLS
        .iter()
        .find(|symbol| rest.starts_with(**symbol))
        .map_or(first.len_utf8(), |symbol| symbol.len());
    (Kind::Symbol, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_attributes_and_long_operators_are_one_token() {
        let text = "(* ram_style = \"block\" *) a <= 8'h0f && b[3 +: 2] /* field */; // end\n";
        let found: Vec<&str> = tokens(text)
            .into_iter()
            .map(|token| &text[token.span])
            .collect();
        let expected = [
            "(* ram_style = \"block\" *)",
            "a",
            "<=",
            "8'h0f",
            "&&",
            "b",
            "[",
            "3",
            "+:",
            "2",
            "]",
            ";",
        ];
        assert_eq!(found, expected);
    }
}
