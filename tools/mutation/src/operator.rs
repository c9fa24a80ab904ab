//! What a mutant changes: one operator, constant, condition or assignment of a module.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::syntax::{Expression, ExpressionKind, Item, Module};

/// Kinds of mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// `+`, `-`, `*`, `<<`, `>>` exchanged.
    Arithmetic,
    /// A comparison with another bound, or the opposite one.
    Comparison,
    /// `&&` and `||`, `&`, `|` and `^` exchanged.
    Logical,
    /// One operand instead of both.
    DroppedOperand,
    /// The operand without its `~`, `!` or `-`, or another reduction.
    Unary,
    /// A constant by one off, or with its lowest bit inverted.
    Constant,
    /// A condition inverted.
    NegatedCondition,
    /// A condition that always or never holds.
    StuckCondition,
    /// An assignment that does not take place.
    DroppedAssignment,
}

/// A change of a module's text.
#[derive(Clone, Debug)]
pub struct Site {
    pub operator: Operator,
    /// What is replaced.
    pub span: Range<usize>,
    /// By what; nothing for a dropped assignment.
    pub mutated: String,
}

/// Every change that the operators make of `module`, in the order of the text.
pub fn sites(text: &str, module: &Module) -> Vec<Site> {
    let mut finder = Finder {
        text,
        sites: vec![],
    };
    for item in &module.items {
        match item {
            Item::Value(value) => finder.expression(value),
            Item::Condition(condition) => finder.condition(condition),
            Item::Assignment(span) => finder.add(Operator::DroppedAssignment, span, String::new()),
        }
    }
    finder
        .sites
        .sort_by_key(|site| (site.span.start, site.span.end));
    finder.sites
}

struct Finder<'a> {
    text: &'a str,
    sites: Vec<Site>,
}

impl Finder<'_> {
    fn add(&mut self, operator: Operator, span: &Range<usize>, mutated: String) {
        self.sites.push(Site {
            operator,
            span: span.clone(),
            mutated,
        });
    }

    fn of(&self, span: &Range<usize>) -> String {
        self.text[span.clone()].to_owned()
    }

    fn condition(&mut self, condition: &Expression) {
        let inverted = format!("!({})", self.of(&condition.span));
        self.add(Operator::NegatedCondition, &condition.span, inverted);
        for stuck in ["1'b1", "1'b0"] {
            self.add(Operator::StuckCondition, &condition.span, stuck.into());
        }
        self.expression(condition);
    }

    fn expression(&mut self, e: &Expression) {
        match &e.kind {
            ExpressionKind::Name => {}
            ExpressionKind::Number => {
                for other in other_numbers(&self.of(&e.span)) {
                    self.add(Operator::Constant, &e.span, other);
                }
            }
            ExpressionKind::Unary(operator, operand) => {
                let inner = self.of(&operand.span);
                let other = match &self.text[operator.clone()] {
                    "|" => format!("&{inner}"),
                    "&" => format!("|{inner}"),
                    "^" => format!("~^{inner}"),
                    _ => inner,
                };
                self.add(Operator::Unary, &e.span, other);
                self.expression(operand);
            }
            ExpressionKind::Binary(left, operator, right) => {
                self.binary(e, left, operator, right);
                self.expression(left);
                self.expression(right);
            }
            ExpressionKind::Choice(test, yes, no) => {
                self.condition(test);
                self.expression(yes);
                self.expression(no);
            }
            ExpressionKind::Group(parts) => parts.iter().for_each(|part| self.expression(part)),
        }
    }

    fn binary(
        &mut self,
        whole: &Expression,
        left: &Expression,
        operator: &Range<usize>,
        right: &Expression,
    ) {
        let symbol = &self.text[operator.clone()];
        let (kind, others): (Operator, &[&str]) = match symbol {
            "+" => (Operator::Arithmetic, &["-"]),
            "-" => (Operator::Arithmetic, &["+"]),
            "*" => (Operator::Arithmetic, &["+"]),
            "<<" => (Operator::Arithmetic, &[">>"]),
            ">>" => (Operator::Arithmetic, &["<<"]),
            "==" => (Operator::Comparison, &["!="]),
            "!=" => (Operator::Comparison, &["=="]),
            "<" => (Operator::Comparison, &["<=", ">="]),
            "<=" => (Operator::Comparison, &["<", ">"]),
            ">" => (Operator::Comparison, &[">=", "<="]),
            ">=" => (Operator::Comparison, &[">", "<"]),
            "&&" => (Operator::Logical, &["||"]),
            "||" => (Operator::Logical, &["&&"]),
            "&" => (Operator::Logical, &["|"]),
            "|" => (Operator::Logical, &["&"]),
            "^" => (Operator::Logical, &["~^", "|"]),
            _ => return,
        };
        let (l, r) = (self.of(&left.span), self.of(&right.span));
        for other in others {
            self.add(kind, &whole.span, format!("{l} {other} {r}"));
        }
        // Of two operands of a shift or a comparison, only one has the width of the result.
        if matches!(symbol, "+" | "-" | "&&" | "||" | "&" | "|" | "^") {
            self.add(Operator::DroppedOperand, &whole.span, l.clone());
            self.add(Operator::DroppedOperand, &whole.span, r);
        }
        if matches!(symbol, "<<" | ">>") {
            self.add(Operator::DroppedOperand, &whole.span, l);
        }
    }
}

/// Returns numbers of the same width that differ from `number`: the next larger one, and one with the lowest bit inverted.
fn other_numbers(number: &str) -> Vec<String> {
    let digits = |base: u32, text: &str| u64::from_str_radix(&text.replace('_', ""), base).ok();
    let Some((width, rest)) = number.split_once('\'') else {
        return vec![];
    };
    let Some(base) = rest.chars().next() else {
        return vec![];
    };
    let radix = match base {
        'b' => 2,
        'h' => 16,
        'd' => 10,
        _ => return vec![],
    };
    let (Some(width), Some(value)) = (digits(10, width), digits(radix, &rest[1..])) else {
        return vec![];
    };
    if !(1..=63).contains(&width) {
        return vec![];
    }
    let more = (value + 1) & ((1 << width) - 1);
    let mut others = vec![more, value ^ 1];
    others.dedup();
    others
        .into_iter()
        .map(|other| format!("{width}'d{other}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax;

    fn changes(text: &str) -> Vec<String> {
        let module = &syntax::modules(text).unwrap()[0];
        sites(text, module)
            .into_iter()
            .map(|site| format!("{} -> {}", &text[site.span], site.mutated))
            .collect()
    }

    #[test]
    fn an_expression_has_the_changes_of_each_of_its_operators() {
        let found = changes("module m(input a);\n  assign x = (a[3:0] < 4'd9) && ~b;\nendmodule\n");
        let expected = [
            "(a[3:0] < 4'd9) && ~b -> (a[3:0] < 4'd9) || ~b",
            "(a[3:0] < 4'd9) && ~b -> (a[3:0] < 4'd9)",
            "(a[3:0] < 4'd9) && ~b -> ~b",
            "a[3:0] < 4'd9 -> a[3:0] <= 4'd9",
            "a[3:0] < 4'd9 -> a[3:0] >= 4'd9",
            "4'd9 -> 4'd10",
            "4'd9 -> 4'd8",
            "~b -> b",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn statements_have_conditions_and_assignments_and_initial_blocks_have_none() {
        let found = changes(
            "module m(input a);\n  initial x = 1'b0;\n  always @(posedge c) begin\n    if (a) x <= y; else x <= 1'b1;\n  end\nendmodule\n",
        );
        let expected = [
            "a -> !(a)",
            "a -> 1'b1",
            "a -> 1'b0",
            "x <= y; -> ",
            "x <= 1'b1; -> ",
            "1'b1 -> 1'd0",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_checks_of_bundles_at_the_end_of_a_module_are_left_alone() {
        let found = changes(
            "module m(input a);\n  wire b;\n  assign b = ~a;\n  reg waits = 1'b0;\n  always @(posedge c) waits <= a & ~b;\n  wire broken = waits | 1'b0;\n  always @(posedge c) begin\n    if (broken & ~b) if (!$test$plusargs(\"ignore_bundle_rules\")) $fatal(1, \"%m: a fell\");\n  end\nendmodule\n",
        );
        assert_eq!(found, ["~a -> a"]);
    }

    #[test]
    fn a_constant_wraps_within_its_width() {
        assert_eq!(other_numbers("4'd15"), ["4'd0", "4'd14"]);
        assert_eq!(other_numbers("1'b1"), ["1'd0"]);
        assert!(other_numbers("80'h1").is_empty() && other_numbers("3").is_empty());
    }
}
