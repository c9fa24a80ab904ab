//! One Verilog text for many mutants. Each changed place tests which mutant is selected, so a model is built once for all of them.

use std::ops::Range;

use crate::operator::{Operator, Site};
use crate::syntax::Module;

/// The environment variable that names the mutant which runs, when the model starts; none runs without it.
pub const SELECTOR: &str = "STELLAR_MUTANT";

/// The signal in each module that holds the mutant's number.
const SIGNAL: &str = "stellar_mutant";

/// A mutant that shall be in the text.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'a> {
    pub number: u32,
    pub site: &'a Site,
}

/// `text` with the mutants `chosen`, each with its module.
pub fn instrument(text: &str, chosen: &[(&Module, Vec<Chosen>)]) -> String {
    let mut out = String::new();
    let mut at = 0;
    let mut modules: Vec<&(&Module, Vec<Chosen>)> = chosen
        .iter()
        .filter(|(_, mutants)| !mutants.is_empty())
        .collect();
    modules.sort_by_key(|(module, _)| module.span.start);
    for (module, mutants) in modules {
        out += &text[at..module.body];
        out += &selector();
        let mut mutants = mutants.clone();
        // Outer places first.
        mutants.sort_by_key(|m| {
            (
                m.site.span.start,
                std::cmp::Reverse(m.site.span.end),
                m.number,
            )
        });
        out += &render(text, module.body..module.span.end, &mutants);
        at = module.span.end;
    }
    out + &text[at..]
}

/// Declares the signal. `$c32` is Verilator's: C++ with 32 bits as its value.
fn selector() -> String {
    let get = format!("std::getenv(\\\"{SELECTOR}\\\")");
    format!(
        "\n  reg [31:0] {SIGNAL};\n  initial {SIGNAL} = $c32(\"({get} ? std::atoi({get}) : 0)\");"
    )
}

/// The text of `range` with the mutants in it, which are sorted.
fn render(text: &str, range: Range<usize>, mutants: &[Chosen]) -> String {
    let mut out = String::new();
    let mut at = range.start;
    let mut rest = mutants;
    while let Some(first) = rest.first() {
        let place = first.site.span.clone();
        let same = rest.iter().take_while(|m| m.site.span == place).count();
        let inside = rest[same..]
            .iter()
            .take_while(|m| m.site.span.end <= place.end)
            .count();
        let original = render(text, place.clone(), &rest[same..same + inside]);
        out += &text[at..place.start];
        out += &rest[..same]
            .iter()
            .fold(original, |otherwise, m| choice(m, &otherwise));
        at = place.end;
        rest = &rest[same + inside..];
    }
    out + &text[at..range.end]
}

fn choice(mutant: &Chosen, otherwise: &str) -> String {
    let number = mutant.number;
    if mutant.site.operator == Operator::DroppedAssignment {
        return format!("begin if ({SIGNAL} != 32'd{number}) begin {otherwise} end end");
    }
    let mutated = &mutant.site.mutated;
    format!("(({SIGNAL} == 32'd{number}) ? ({mutated}) : ({otherwise}))")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::sites;
    use crate::syntax::modules;

    #[test]
    fn places_inside_each_other_and_at_one_place_are_all_there() {
        let text = "module m(input a);\n  assign x = a + (b - c);\n  assign y = d;\nendmodule\n";
        let module = modules(text).unwrap().remove(0);
        let sites = sites(text, &module);
        let chosen: Vec<Chosen> = sites
            .iter()
            .filter(|site| site.operator == Operator::Arithmetic)
            .zip(7..)
            .map(|(site, number)| Chosen { number, site })
            .collect();
        let found = instrument(text, &[(&module, chosen)]);
        let inner = "((stellar_mutant == 32'd8) ? (b + c) : (b - c))";
        let expected =
            format!("assign x = ((stellar_mutant == 32'd7) ? (a - (b - c)) : (a + ({inner})));");
        assert!(found.contains(&expected), "{found}");
        assert!(found.ends_with("\n  assign y = d;\nendmodule\n"), "{found}");
    }

    #[test]
    fn modules_without_mutants_stay_as_they_are() {
        let text = "module m(input a);\n  assign x = a;\nendmodule\n";
        let module = modules(text).unwrap().remove(0);
        assert_eq!(instrument(text, &[(&module, vec![])]), text);
    }
}
