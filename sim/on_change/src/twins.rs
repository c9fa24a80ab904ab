//! Equal instances of a module, such as the two lanes of a card: their signals, and where they lie in the model's state.
//!
//! Two instances have the same code, which a processor loads from its second cache if it runs once in a cycle. So the code of one instance serves both. Its
//! signals have the same order for each, so those of the second instance have a fixed distance from those of the first one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::source::{declaration, identifier};
use crate::usage::Usage;

/// The start of the instance names that the emitter writes.
const INSTANCE: &str = "u_";
/// What Verilator puts between the names of a path.
const LEVEL: &str = "__DOT__";

/// The C++ function that moves a pointer to the model's state, so that it reaches the signals of the second instance under the names of the first one's.
pub(crate) const MOVED: &str = "stellar_second";

/// One of two equal instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// The instance with the number 0.
    First,
    /// The instance with the number 1.
    Second,
}

/// Splits `name` around the number of the outermost instance that has the number 0 or 1. Returns which one it is.
fn around(name: &str) -> Option<(&str, Side, &str)> {
    let mut start = 0;
    for level in name.split_inclusive(LEVEL) {
        let end = start + level.len();
        if let Some(instance) = level
            .strip_suffix(LEVEL)
            .filter(|l| l.starts_with(INSTANCE))
        {
            for (suffix, side) in [("_0", Side::First), ("_1", Side::Second)] {
                if instance.ends_with(suffix) {
                    let number = end - LEVEL.len() - 1;
                    return Some((&name[..number], side, &name[number + 1..]));
                }
            }
        }
        start = end;
    }
    None
}

/// Splits the name of a signal between the instances of a module and their surroundings around the number in its last part: `engines_0_ready`.
fn around_number(name: &str) -> Option<(&str, Side, &str)> {
    let start = name.rfind(LEVEL)? + LEVEL.len();
    let numbers = [("_0_", Side::First), ("_1_", Side::Second)];
    let places = numbers.iter().filter_map(|(number, side)| {
        let at = start + name[start..].find(number)? + 1;
        Some((&name[..at], *side, &name[at + 1..]))
    });
    places.min_by_key(|(before, ..)| before.len())
}

/// Returns the name of the same signal of the first instance, and which instance `name` is of. Returns `None` for a signal that is in no numbered instance.
pub(crate) fn of_first(name: &str) -> Option<(String, Side)> {
    let (before, side, behind) = around(name)?;
    Some((format!("{before}0{behind}"), side))
}

/// The signals of equal instances that have the same type.
#[derive(Default)]
pub(crate) struct Twins {
    /// For each signal of a first instance, the one of the second instance.
    second: BTreeMap<String, String>,
    /// For each signal of a first or second instance, its line in the header, and the one of the first instance.
    members: BTreeMap<String, (String, String)>,
}

impl Twins {
    /// Finds the twins among the members that `header` declares. Ports are not among them.
    pub(crate) fn of(header: &str) -> Self {
        let declared: BTreeMap<&str, &str> = header.lines().filter_map(declaration).collect();
        let mut twins = Self::default();
        for (&name, &kind) in &declared {
            let split = around(name).or_else(|| around_number(name));
            let Some((before, Side::First, behind)) = split else {
                continue;
            };
            let second = format!("{before}1{behind}");
            if declared.get(second.as_str()) == Some(&kind) {
                for member in [name, &second] {
                    let line = format!("{kind} {member};");
                    let entry = (line, name.to_owned());
                    twins.members.insert(member.to_owned(), entry);
                }
                twins.second.insert(name.to_owned(), second);
            }
        }
        twins
    }

    /// Whether `first` and `second` are the same signal of two equal instances.
    pub(crate) fn are(&self, first: &str, second: &str) -> bool {
        self.second.get(first).is_some_and(|twin| twin == second)
    }

    /// Returns the name of the same signal of the first instance for a signal that has a twin.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.members.get(name).map(|(_, first)| first.as_str())
    }

    /// Returns the header of the model's state with the signals of each of the two sides in a row. Returns `None` if it has another form than expected.
    pub(crate) fn header(&self, header: &str) -> Option<String> {
        let Some((a, b)) = self.second.first_key_value() else {
            return Some(header.to_owned());
        };
        let is_twin = |line: &&str| {
            declaration(line).is_some_and(|(name, _)| self.members.contains_key(name))
        };
        // Verilator's order is that of the sizes, so the signals of a side have few gaps.
        let names = header.lines().filter(is_twin).filter_map(declaration);
        let firsts = names.filter_map(|(name, _)| self.second.get_key_value(name));
        let (mut first, mut second) = (String::new(), String::new());
        for (of_first, of_second) in firsts {
            let _ = writeln!(first, "        {}", self.members[of_first].0);
            let _ = writeln!(second, "        {}", self.members[of_second].0);
        }
        let rest: String = header
            .split_inclusive('\n')
            .filter(|line| !is_twin(&line.trim_end()))
            .collect();
        let (before, after) = rest.split_once("    // DESIGN SPECIFIC STATE\n")?;
        let (class, end) = after.rsplit_once("\n#endif")?;
        let begins = "    struct alignas(64) {\n";
        Some(format!(
            "{before}    // DESIGN SPECIFIC STATE\n{begins}{first}    }};\n{begins}{second}    }};\n{class}\n\
             static inline Vmodel___024root* {MOVED}(Vmodel___024root* vlSelf) {{\n    \
             char* moved = reinterpret_cast<char*>(vlSelf);\n    \
             moved += reinterpret_cast<char*>(&vlSelf->{b}) - reinterpret_cast<char*>(&vlSelf->{a});\n    \
             // g++ does not know whose members it reaches.\n    \
             asm(\"\" : \"+r\"(moved));\n    return reinterpret_cast<Vmodel___024root*>(moved);\n}}\n\n#endif{end}"
        ))
    }
}

/// Returns the pairs of functions with these `bodies` that compute the same for two equal instances: the one of the first instance, and the one of the second.
pub(crate) fn pairs(bodies: &[&str]) -> Vec<(usize, usize)> {
    let mut alike: BTreeMap<String, BTreeMap<Side, Vec<usize>>> = BTreeMap::new();
    for (number, body) in bodies.iter().enumerate() {
        if let Some((text, side)) = for_first(body) {
            alike
                .entry(text)
                .or_default()
                .entry(side)
                .or_default()
                .push(number);
        }
    }
    let pair = |sides: BTreeMap<Side, Vec<usize>>| match (
        sides.get(&Side::First)?.as_slice(),
        sides.get(&Side::Second)?.as_slice(),
    ) {
        ([first], [second]) => Some((*first, *second)),
        _ => None,
    };
    alike.into_values().filter_map(pair).collect()
}

/// Returns the pairs of functions that differ, but of which one reads for the first instance what the other one reads for the second. `pairs` are the functions
/// that compute the same: the code of a pair marks its readers by the number of the instance, so they have to be pairs, too.
pub(crate) fn pairs_of_readers(
    usages: &[&Usage],
    pairs: &[(usize, usize)],
    twins: &Twins,
) -> Vec<(usize, usize)> {
    let mut paired: BTreeSet<usize> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let mut readers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, usage) in usages.iter().enumerate() {
        if !paired.contains(&number) {
            for signal in &usage.reads {
                readers.entry(signal).or_default().push(number);
            }
        }
    }
    let mut votes: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for &(first, _) in pairs {
        for signal in usages[first].writes.keys() {
            let second = twins.second.get(signal);
            let of = |signal: &String| readers.get(signal.as_str()).map_or(&[][..], Vec::as_slice);
            let (firsts, seconds) = (of(signal), second.map_or(&[][..], of));
            let differ = |(a, b): &(usize, usize)| !firsts.contains(b) && !seconds.contains(a);
            if firsts.len() == seconds.len() {
                for pair in firsts
                    .iter()
                    .copied()
                    .zip(seconds.iter().copied())
                    .filter(differ)
                {
                    *votes.entry(pair).or_default() += 1;
                }
            }
        }
    }
    let mut votes: Vec<_> = votes.into_iter().collect();
    votes.sort_by_key(|&(pair, votes)| (Reverse(votes), pair));
    let mut found = vec![];
    for ((first, second), _) in votes {
        if !paired.contains(&first) && !paired.contains(&second) {
            paired.extend([first, second]);
            found.push((first, second));
        }
    }
    found
}

/// Returns `body` for the first of two instances, without its white space, and the instance that it is of. Returns `None` if it is of none or of both.
fn for_first(body: &str) -> Option<(String, Side)> {
    let mut text = String::with_capacity(body.len());
    let mut sides = BTreeSet::new();
    let mut temporaries: BTreeMap<&str, usize> = BTreeMap::new();
    for token in tokens(body) {
        if let Some(kind) = TEMPORARIES.iter().find(|kind| token.starts_with(**kind)) {
            let count = temporaries.len();
            let number = *temporaries.entry(token).or_insert(count);
            let _ = write!(text, "{kind}{number}");
        } else if let Some((name, side)) = of_first(token) {
            sides.insert(side);
            text += &name;
        } else {
            text += token.trim();
        }
    }
    let side = sides.pop_first()?;
    sides.is_empty().then_some((text, side))
}

/// The starts of the names of Verilator's temporary variables and indices of constant tables. Their numbers depend on where a function is.
const TEMPORARIES: [&str; 2] = ["__Vtemp_", "__Vtableidx"];

/// Splits `text` into identifiers (and numbers), and what is between them.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = match identifier(rest) {
            0 => rest.find(of_name).unwrap_or(rest.len()),
            length => length,
        };
        let (token, behind) = rest.split_at(length);
        rest = behind;
        (!token.is_empty()).then_some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::members;
    use crate::usage::usage;

    const HEADER: &str = "#ifndef A\n#define A\nclass Vmodel___024root final {\n  public:\n    // DESIGN SPECIFIC STATE\n    struct {\n        \
                          VL_IN8(t__DOT__u_port_0__DOT__in,0,0);\n        VL_IN8(t__DOT__u_port_1__DOT__in,0,0);\n        \
                          CData/*0:0*/ t__DOT__u_port_1__DOT__a;\n        CData/*0:0*/ t__DOT__all;\n        CData/*0:0*/ t__DOT__u_port_0__DOT__a;\n        \
                          CData/*1:0*/ t__DOT__u_port_0__DOT__size;\n        CData/*2:0*/ t__DOT__u_port_1__DOT__size;\n        CData/*0:0*/ t__DOT__port_0_ready;\n    };\n    \
                          CData/*0:0*/ t__DOT__port_1_ready;\n    VlUnpacked<VlWide<3>/*76:0*/, 16> t__DOT__u_port_0__DOT__u_banks_1__DOT__rows;\n    \
                          VlUnpacked<VlWide<3>/*76:0*/, 16> t__DOT__u_port_1__DOT__u_banks_1__DOT__rows;\n};\n\n#endif  // guard\n";

    #[test]
    fn the_outermost_instance_decides() {
        let name = "t__DOT__u_port_1__DOT__u_banks_0__DOT__row_1";
        let first = "t__DOT__u_port_0__DOT__u_banks_0__DOT__row_1";
        assert_eq!(of_first(name), Some((first.to_owned(), Side::Second)));
        assert_eq!(of_first(first), Some((first.to_owned(), Side::First)));
        for other in [
            "t__DOT__u_port_2__DOT__a",
            "t__DOT__row_1",
            "t__DOT__u_port_1",
            "u_port_10__DOT__a",
        ] {
            assert_eq!(of_first(other), None, "{other}");
        }
    }

    #[test]
    fn signals_of_a_side_lie_in_a_row() {
        let twins = Twins::of(HEADER);
        assert!(twins.are("t__DOT__u_port_0__DOT__a", "t__DOT__u_port_1__DOT__a"));
        assert!(twins.are("t__DOT__port_0_ready", "t__DOT__port_1_ready"));
        assert!(!twins.are("t__DOT__u_port_1__DOT__a", "t__DOT__u_port_0__DOT__a"));
        for other in ["in", "size"] {
            let name = |number| format!("t__DOT__u_port_{number}__DOT__{other}");
            assert!(!twins.are(&name(0), &name(1)), "{other}");
        }
        let header = twins.header(HEADER).unwrap();
        let side = |number: usize| {
            format!(
                "    struct alignas(64) {{\n        CData/*0:0*/ t__DOT__u_port_{number}__DOT__a;\n        CData/*0:0*/ t__DOT__port_{number}_ready;\n        \
                 VlUnpacked<VlWide<3>/*76:0*/, 16> t__DOT__u_port_{number}__DOT__u_banks_1__DOT__rows;\n    }};\n"
            )
        };
        assert!(header.contains(&(side(0) + &side(1))), "{header}");
        assert_eq!(members(&header), members(HEADER));
        assert!(header.ends_with("\n#endif  // guard\n"), "{header}");
        let without = "    // DESIGN SPECIFIC STATE\n    CData/*0:0*/ a;\n";
        assert_eq!(Twins::of(without).header(without).as_deref(), Some(without));
    }

    #[test]
    fn functions_of_two_instances_are_pairs() {
        let body = "__Vtableidx43 = 0;vlSelf->t__DOT__u_port_0__DOT__a = (__Vtemp_3 & t__DOT__u_port_0__DOT__all);";
        let second = body
            .replace("port_0", "port_1")
            .replace("__Vtableidx43", "__Vtableidx96")
            .replace("__Vtemp_3", "__Vtemp_9");
        let wrapped = second.replace(" = ", " \n    = ");
        let both = body.replacen("port_0", "port_1", 1);
        let other = body.replace('&', "|");
        assert_eq!(pairs(&[&wrapped, body, &other, &both]), [(1, 0)]);
        assert_eq!(pairs(&[body, &second, &second]), [], "three are no pair");
        assert_eq!(pairs(&["vlSelf->t__DOT__all = 1U;"; 2]), []);
    }

    #[test]
    fn readers_of_a_pair_are_a_pair() {
        let twins = Twins::of(HEADER);
        let members = members(HEADER);
        let bodies = [
            "vlSelf->t__DOT__u_port_0__DOT__a = 1U;",
            "vlSelf->t__DOT__u_port_1__DOT__a = 1U;",
            "vlSelf->t__DOT__all = vlSelf->t__DOT__u_port_1__DOT__a;",
            "vlSelf->t__DOT__all = (1U & vlSelf->t__DOT__u_port_0__DOT__a);",
            "vlSelf->t__DOT__all = (vlSelf->t__DOT__u_port_0__DOT__a & vlSelf->t__DOT__u_port_1__DOT__a);",
        ];
        let usages = bodies.map(|body| usage(body, &members).unwrap());
        let usages: Vec<&Usage> = usages.iter().collect();
        assert_eq!(pairs_of_readers(&usages[..4], &[(0, 1)], &twins), [(3, 2)]);
        // A function that reads both sides is marked by its own number.
        assert_eq!(pairs_of_readers(&usages[..], &[(0, 1)], &twins), [(3, 2)]);
    }
}
