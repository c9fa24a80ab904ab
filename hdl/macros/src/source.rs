//! Comments of the source file around a kernel: what the block is, what its ports are, what its stages do. Macros get tokens, which have no
//! comments, so the file is read again. Without a file (an editor's preview, a test) there are no comments.
use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::quote;

/// The lines of a source file.
pub struct Source {
    lines: Vec<String>,
}

impl Source {
    /// The file that `place` is in.
    pub fn of(place: Span) -> Option<Self> {
        if !proc_macro::is_available() {
            return None;
        }
        let text = std::fs::read_to_string(place.unwrap().local_file()?).ok()?;
        Some(Self::from_text(&text))
    }

    fn from_text(text: &str) -> Self {
        Self {
            lines: text.lines().map(|line| line.trim().to_string()).collect(),
        }
    }

    /// Returns the comments above the struct whose kernel is at `place`, and above each of its public fields.
    pub fn block(&self, place: Span) -> TokenStream {
        let comments = self.comments_of_block(place.unwrap().line());
        let comments = comments.iter().map(|(port, text)| match port {
            None => comment("@about", text),
            Some(port) => comment(&format!("@port {port}"), text),
        });
        quote!(#(#comments)*)
    }

    /// Returns the comment above the statement that begins at `place`.
    pub fn statement(&self, place: Span) -> TokenStream {
        let above = self.above(place.unwrap().line() - 1);
        let comments = above.iter().map(|text| comment("@note", text));
        quote!(#(#comments)*)
    }

    /// Comments with the field they belong to, `None` for the struct of the `impl Logic for` before line `line` (from 1).
    fn comments_of_block(&self, line: usize) -> Vec<(Option<String>, String)> {
        let mut found = vec![];
        let Some(name) = (0..line).rev().find_map(|at| self.implementor(at)) else {
            return found;
        };
        let is_head = |l: &&String| {
            let rest = l.strip_prefix("pub ").unwrap_or(l).strip_prefix("struct ");
            rest.is_some_and(|rest| identifier(rest) == name)
        };
        let Some(head) = self.lines.iter().position(|l| is_head(&l)) else {
            return found;
        };
        found.extend(self.above(head).into_iter().map(|text| (None, text)));
        for (at, line) in self.lines.iter().enumerate().skip(head + 1) {
            if line == "}" {
                break;
            }
            if let Some(field) = line.strip_prefix("pub ") {
                let port = identifier(field);
                let above = self.above(at).into_iter();
                found.extend(above.map(|text| (Some(port.to_string()), text)));
            }
        }
        found
    }

    /// The type of an `impl Logic for Type` with its name in line `at` (from 0). A long list of parameters breaks the line.
    fn implementor(&self, at: usize) -> Option<&str> {
        let line = self.lines[at].as_str();
        let name = match line.strip_prefix("for ") {
            Some(name) if at > 0 && self.lines[at - 1].ends_with("Logic") => name,
            _ if line.starts_with("impl") || line.starts_with("> Logic") => {
                line.split_once("Logic for ")?.1
            }
            _ => return None,
        };
        Some(identifier(name))
    }

    /// The comment lines that end above line `at` (from 0); attributes between them and the line do not matter.
    fn above(&self, at: usize) -> Vec<String> {
        let mut text: Vec<String> = self.lines[..at]
            .iter()
            .rev()
            .skip_while(|line| line.starts_with("#["))
            .map_while(|line| line.strip_prefix("//"))
            .map(|line| line.trim_start_matches(['/', '!']).trim().to_string())
            .collect();
        text.reverse();
        text
    }
}

/// The identifier that `text` begins with.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Code that leaves a comment for the emitter.
fn comment(kind: &str, text: &impl Display) -> TokenStream {
    let text = format!("{kind} {text}");
    quote!(__statements.push(::hdl_macros_support::core::ast::VerilogStatement::Comment(
        ::std::string::String::from(#text)
    ));)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "
/// Adds up.
#[derive(LogicBlock, Default)]
pub struct Adder<const N: usize> {
    pub clock: Signal<In, Clock>,
    // To the host.
    /// The sum.
    pub sum: Signal<Out, Bits<N>>,
    /// A register.
    total: DFF<Bits<N>>,
}

impl<const N: usize> Logic for Adder<N> {
    #[hdl]
    fn update(&mut self) {
        // add: one more
        self.total.d.next = self.total.q.val() + 1;
    }
}";

    #[test]
    fn comments_of_a_block_its_ports_and_its_stages_are_found() {
        let source = Source::from_text(FILE);
        let port = Some("sum".to_string());
        let expected = [
            (None, "Adds up.".to_string()),
            (port.clone(), "To the host.".to_string()),
            (port, "The sum.".to_string()),
        ];
        let kernel = FILE.lines().position(|l| l.contains("fn update")).unwrap();
        assert_eq!(source.comments_of_block(kernel), expected);
        // As rustfmt breaks long lines.
        for broken in [
            "impl<const N: usize> Logic\n    for Adder<N>",
            "impl<\n const N: usize,\n> Logic for Adder<N>",
        ] {
            let file = FILE.replace("impl<const N: usize> Logic for Adder<N>", broken);
            let kernel = file.lines().position(|l| l.contains("fn update")).unwrap();
            assert_eq!(Source::from_text(&file).comments_of_block(kernel), expected);
        }
        assert_eq!(source.above(kernel + 2), ["add: one more"]);
        assert_eq!(source.above(kernel + 1), [""; 0]);
    }
}
