//! Where a module has expressions and assignments. The emitter's subset of Verilog is read; anything else is an error, so that nothing is
//! passed over in silence.

use std::ops::Range;

use thiserror::Error;

use crate::lexer::{tokens, Kind, Token};

/// Text of this project's subset that was expected and is not there.
#[derive(Debug, Error)]
#[error("line {line}: expected {expected}, found {found:?}")]
pub struct SyntaxError {
    line: usize,
    expected: &'static str,
    found: String,
}

/// An expression and its place.
#[derive(Debug)]
pub struct Expression {
    pub span: Range<usize>,
    pub kind: ExpressionKind,
}

#[derive(Debug)]
pub enum ExpressionKind {
    Number,
    /// A name, perhaps with a select, or a call of a system function. What is inside is not looked at: a changed index mostly leaves the
    /// vector.
    Name,
    Unary(Range<usize>, Box<Expression>),
    Binary(Box<Expression>, Range<usize>, Box<Expression>),
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    /// Parentheses, a concatenation or a repetition.
    Group(Vec<Expression>),
}

/// What a module does, as far as mutants are concerned.
#[derive(Debug)]
pub enum Item {
    /// The condition of an `if`.
    Condition(Expression),
    /// An expression elsewhere.
    Value(Expression),
    /// A procedural assignment, with its semicolon.
    Assignment(Range<usize>),
}

/// A module and its items.
#[derive(Debug)]
pub struct Module {
    pub name: String,
    /// From `module` to `endmodule`.
    pub span: Range<usize>,
    /// Where the body begins, behind the ports.
    pub body: usize,
    pub items: Vec<Item>,
}

/// The modules of `text`.
///
/// # Errors
/// [`SyntaxError`] where the text leaves the subset.
pub fn modules(text: &str) -> Result<Vec<Module>, SyntaxError> {
    let tokens = tokens(text);
    let mut reader = Reader {
        text,
        tokens: &tokens,
        at: 0,
        items: vec![],
        checks_at: None,
        has_checks: false,
    };
    let mut found = vec![];
    while reader.at < tokens.len() {
        if reader.is("module") {
            found.push(reader.module()?);
        } else {
            // Compiler directives stand between modules.
            reader.at += 1;
        }
    }
    Ok(found)
}

/// Binary operators by precedence, weakest first.
const BINARY: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^", "~^"],
    &["&"],
    &["==", "!=", "===", "!=="],
    &["<", "<=", ">", ">="],
    &["<<", ">>", "<<<", ">>>"],
    &["+", "-"],
];

struct Reader<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    items: Vec<Item>,
    /// How many items there were before declarations behind all logic.
    checks_at: Option<usize>,
    /// The module ends with the checks of its bundles' rules.
    has_checks: bool,
}

impl Reader<'_> {
    fn word(&self) -> &str {
        self.tokens
            .get(self.at)
            .map_or("", |token| &self.text[token.span.clone()])
    }

    fn is(&self, wanted: &str) -> bool {
        self.word() == wanted
    }

    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn begin(&self) -> usize {
        self.tokens
            .get(self.at)
            .map_or(self.text.len(), |token| token.span.start)
    }

    /// End of the last token that was taken.
    fn end(&self) -> usize {
        self.tokens[self.at - 1].span.end
    }

    fn error<T>(&self, expected: &'static str) -> Result<T, SyntaxError> {
        Err(SyntaxError {
            line: self.text[..self.begin()].lines().count(),
            expected,
            found: self.word().to_owned(),
        })
    }

    fn take(&mut self, wanted: &'static str) -> Result<(), SyntaxError> {
        if !self.is(wanted) {
            return self.error(wanted);
        }
        self.at += 1;
        Ok(())
    }

    fn taken(&mut self, wanted: &str) -> bool {
        let there = self.is(wanted);
        self.at += usize::from(there);
        there
    }

    /// Goes behind the next `wanted`.
    fn skip_past(&mut self, wanted: &'static str) -> Result<(), SyntaxError> {
        while !self.is(wanted) {
            if self.at == self.tokens.len() {
                return self.error(wanted);
            }
            self.at += 1;
        }
        self.at += 1;
        Ok(())
    }

    /// Moves behind the bracket that closes the bracket at the current token.
    fn skip_brackets(&mut self, open: &str, close: &'static str) -> Result<(), SyntaxError> {
        let mut depth = 0;
        loop {
            if self.at == self.tokens.len() {
                return self.error(close);
            }
            depth += i32::from(self.is(open)) - i32::from(self.is(close));
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn module(&mut self) -> Result<Module, SyntaxError> {
        let begin = self.begin();
        self.take("module")?;
        let name = self.word().to_owned();
        self.skip_past(";")?;
        let body = self.end();
        self.items.clear();
        self.checks_at = None;
        self.has_checks = false;
        while !self.taken("endmodule") {
            self.module_item()?;
        }
        // The checks are no part of the block: a mutant of them says nothing about its tests.
        if let (true, Some(at)) = (self.has_checks, self.checks_at) {
            self.items.truncate(at);
        }
        Ok(Module {
            name,
            span: begin..self.end(),
            body,
            items: std::mem::take(&mut self.items),
        })
    }

    fn module_item(&mut self) -> Result<(), SyntaxError> {
        match (self.kind(), self.word()) {
            (Some(Kind::Other), _) => self.at += 1,
            (_, "wire" | "reg" | "localparam" | "integer" | "genvar") => {
                self.checks_at.get_or_insert(self.items.len());
                self.skip_past(";")?;
            }
            // Only primitives have them: a memory with byte lanes, a multiplication of polynomials.
            (_, "generate") => self.skip_past("endgenerate")?,
            (_, "function") => self.skip_past("endfunction")?,
            (_, "assign") => {
                self.checks_at = None;
                self.at += 1;
                self.target()?;
                self.take("=")?;
                let value = self.expression(0)?;
                self.items.push(Item::Value(value));
                self.take(";")?;
            }
            (_, "always") => {
                self.at += 1;
                self.take("@")?;
                self.skip_brackets("(", ")")?;
                if self.text[..self.end()].ends_with("(*)") {
                    self.checks_at = None;
                }
                self.statement()?;
            }
            (_, "initial") => {
                self.at += 1;
                // What a memory or a register starts with is not mutated.
                let kept = self.items.len();
                self.statement()?;
                self.items.truncate(kept);
            }
            (Some(Kind::Word), _) => {
                self.checks_at = None;
                self.instance()?;
            }
            _ => return self.error("a declaration, `assign`, `always`, `initial` or an instance"),
        }
        Ok(())
    }

    /// `kind name ( .port(expression), ... );`
    fn instance(&mut self) -> Result<(), SyntaxError> {
        self.at += 2;
        self.take("(")?;
        while !self.taken(")") {
            self.take(".")?;
            self.at += 1;
            self.take("(")?;
            if !self.is(")") {
                let value = self.expression(0)?;
                self.items.push(Item::Value(value));
            }
            self.take(")")?;
            self.taken(",");
        }
        self.take(";")
    }

    fn statement(&mut self) -> Result<(), SyntaxError> {
        match self.word() {
            "begin" => {
                self.at += 1;
                while !self.taken("end") {
                    self.statement()?;
                }
            }
            "if" => {
                self.at += 1;
                self.take("(")?;
                let condition = self.expression(0)?;
                self.items.push(Item::Condition(condition));
                self.take(")")?;
                self.statement()?;
                if self.taken("else") {
                    self.statement()?;
                }
            }
            "case" => {
                self.at += 1;
                self.take("(")?;
                let subject = self.expression(0)?;
                self.items.push(Item::Value(subject));
                self.take(")")?;
                while !self.taken("endcase") {
                    if !self.taken("default") {
                        self.expression(0)?;
                    }
                    self.take(":")?;
                    self.statement()?;
                }
            }
            "for" => {
                self.at += 1;
                self.skip_brackets("(", ")")?;
                self.statement()?;
            }
            "$fatal" => {
                self.has_checks = true;
                self.skip_past(";")?;
            }
            _ => {
                let begin = self.begin();
                self.target()?;
                if !self.taken("<=") {
                    self.take("=")?;
                }
                let value = self.expression(0)?;
                self.take(";")?;
                self.items.push(Item::Assignment(begin..self.end()));
                self.items.push(Item::Value(value));
            }
        }
        Ok(())
    }

    /// A name with selects, or a concatenation of such.
    fn target(&mut self) -> Result<(), SyntaxError> {
        if self.is("{") {
            return self.skip_brackets("{", "}");
        }
        if self.kind() != Some(Kind::Word) {
            return self.error("a name to assign to");
        }
        self.at += 1;
        self.selects()
    }

    fn selects(&mut self) -> Result<(), SyntaxError> {
        while self.is("[") {
            self.skip_brackets("[", "]")?;
        }
        Ok(())
    }

    /// An expression of operators that bind at least as strongly as those of `level`.
    fn expression(&mut self, level: usize) -> Result<Expression, SyntaxError> {
        let Some(operators) = BINARY.get(level) else {
            return self.product();
        };
        let mut left = self.expression(level + 1)?;
        while operators.contains(&self.word()) {
            let operator = self.tokens[self.at].span.clone();
            self.at += 1;
            let right = self.expression(level + 1)?;
            left = binary(left, operator, right);
        }
        if level == 0 && self.taken("?") {
            let yes = self.expression(0)?;
            self.take(":")?;
            let no = self.expression(0)?;
            left = Expression {
                span: left.span.start..no.span.end,
                kind: ExpressionKind::Choice(Box::new(left), Box::new(yes), Box::new(no)),
            };
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, SyntaxError> {
        let mut left = self.operand()?;
        while self.is("*") {
            let operator = self.tokens[self.at].span.clone();
            self.at += 1;
            let right = self.operand()?;
            left = binary(left, operator, right);
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expression, SyntaxError> {
        let begin = self.begin();
        let kind = match (self.kind(), self.word()) {
            (_, "~" | "!" | "-" | "&" | "|" | "^") => {
                let operator = self.tokens[self.at].span.clone();
                self.at += 1;
                ExpressionKind::Unary(operator, Box::new(self.operand()?))
            }
            (_, "(") => {
                self.at += 1;
                let inner = self.expression(0)?;
                self.take(")")?;
                ExpressionKind::Group(vec![inner])
            }
            (_, "{") => ExpressionKind::Group(self.concatenation()?),
            (Some(Kind::Number), _) => {
                self.at += 1;
                ExpressionKind::Number
            }
            (Some(Kind::Word), _) => {
                self.at += 1;
                // A call of a function stays as it is.
                if self.is("(") {
                    self.skip_brackets("(", ")")?;
                } else {
                    self.selects()?;
                }
                ExpressionKind::Name
            }
            _ => return self.error("an operand"),
        };
        Ok(Expression {
            span: begin..self.end(),
            kind,
        })
    }

    fn concatenation(&mut self) -> Result<Vec<Expression>, SyntaxError> {
        self.take("{")?;
        let mut parts = vec![self.expression(0)?];
        if self.is("{") {
            // The count of a repetition is part of a width.
            parts = self.concatenation()?;
        }
        while self.taken(",") {
            parts.push(self.expression(0)?);
        }
        self.take("}")?;
        Ok(parts)
    }
}

fn binary(left: Expression, operator: Range<usize>, right: Expression) -> Expression {
    Expression {
        span: left.span.start..right.span.end,
        kind: ExpressionKind::Binary(Box::new(left), operator, Box::new(right)),
    }
}
