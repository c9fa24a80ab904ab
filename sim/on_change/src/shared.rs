//! Makes one function of two that compute the same for two equal instances.

use std::collections::BTreeSet;

use crate::heads::head;
use crate::plan::{Function, Plan};
use crate::source::{Members, STATE};
use crate::twins::{tokens, Side, Twins, MOVED};

/// The parameters of a shared function: the state as seen from the instance, the state, and the marks as seen from the instance.
pub(crate) const PARAMETERS: &str =
    "Vmodel___024root* vlTwin, Vmodel___024root* vlSelf, uint8_t* vlMarks";
const PARAMETER: &str = "(Vmodel___024root* vlSelf)";
const TWIN: &str = "vlTwin->";
const MARKED: &str = "stellar_marked";
const MARKS: &str = "vlMarks";

/// A function as the others call it.
pub(crate) struct Callee {
    pub name: String,
    /// The instance for which a shared function is called.
    pub side: Option<Side>,
}

impl Callee {
    /// The C++ declaration of the function.
    pub(crate) fn declaration(&self) -> String {
        match self.side {
            Some(_) => format!("void {}({PARAMETERS});", self.name),
            None => format!("void {}{PARAMETER};", self.name),
        }
    }

    /// The C++ call of the function, where the variables of [`locals`] are declared.
    pub(crate) fn call(&self) -> String {
        let arguments = match self.side {
            Some(Side::First) => "vlSelf, vlSelf, marked",
            Some(Side::Second) => "second, vlSelf, marked_second",
            None => "vlSelf",
        };
        format!("{}({arguments});", self.name)
    }
}

/// The local variables that calls need. `any_shared` says whether one of the functions is shared.
pub(crate) fn locals(any_shared: bool) -> String {
    let marked = "    uint8_t* const marked = vlSelf->stellar_marked;\n";
    if !any_shared {
        return marked.into();
    }
    format!("{marked}    uint8_t* const marked_second = marked + 1;\n    Vmodel___024root* const second = {MOVED}(vlSelf);\n")
}

/// What the two functions of a pair are compared with.
pub(crate) struct Sharing<'a> {
    pub twins: &'a Twins,
    /// The first functions of pairs.
    pub pairs: &'a BTreeSet<usize>,
    /// The first marks of pairs.
    pub marks: &'a BTreeSet<usize>,
}

impl Sharing<'_> {
    /// Returns the new texts of `functions`, and how each is called. The second function of a pair that shares its code has no text.
    pub(crate) fn texts(
        &self,
        functions: &[Function],
        plan: &Plan<'_>,
        members: &Members,
    ) -> (Vec<String>, Vec<Callee>) {
        let text = |(number, function): (usize, &Function)| {
            let body = plan.body(number, function, members);
            head(&function.head, &body) + &body + "}\n\n"
        };
        let mut texts: Vec<String> = functions.iter().enumerate().map(text).collect();
        let callee = |function: &Function| Callee {
            name: function.name.clone(),
            side: None,
        };
        let mut callees: Vec<Callee> = functions.iter().map(callee).collect();
        for &first in self.pairs {
            let named = |number: usize| (texts[number].as_str(), functions[number].name.as_str());
            let Some(shared) = self.shared(named(first), named(first + 1)) else {
                continue;
            };
            texts[first] = shared;
            texts[first + 1].clear();
            callees[first].side = Some(Side::First);
            callees[first + 1] = Callee {
                name: functions[first].name.clone(),
                side: Some(Side::Second),
            };
        }
        (texts, callees)
    }

    /// Returns the text of a function that does what `first` does for the first instance and `second` for the second one. They are texts of functions with
    /// these names. Returns `None` if they differ in more than signals of the instances, marks of pairs and the names of local variables.
    fn shared(
        &self,
        (first, first_name): (&str, &str),
        (second, second_name): (&str, &str),
    ) -> Option<String> {
        let (head, first) = first.split_once(PARAMETER)?;
        let (_, second) = second.split_once(PARAMETER)?;
        let mut text = format!("{head}({PARAMETERS})");
        let mut locals: BTreeSet<(&str, &str)> = BTreeSet::new();
        let (mut firsts, mut seconds) = (tokens(first), tokens(second));
        // Signals that are reached from the instance, and signals with a twin that are not.
        let (mut moved, mut fixed) = (BTreeSet::new(), BTreeSet::new());
        let mut marks = false;
        loop {
            let (a, b) = match (firsts.next(), seconds.next()) {
                (Some(a), Some(b)) => (a, b),
                // g++ assumes that two pointers do not reach the same signal by different names.
                (None, None) => {
                    let apart = moved.is_disjoint(&fixed);
                    return (apart && one_to_one(&locals)).then_some(text);
                }
                _ => return None,
            };
            let of_state = text.ends_with(STATE);
            if of_state && self.twins.are(a, b) {
                text.truncate(text.len() - STATE.len());
                text += TWIN;
                text += a;
                moved.insert(a);
            } else if marks {
                // Behind the name of the marks there is a bracket, then the number.
                let number = |text: &str| text.parse::<usize>().ok();
                match (number(a), number(b)) {
                    (Some(a), Some(b)) if a == b => text += &format!("{STATE}{MARKED}[{a}"),
                    (Some(a), Some(b)) if b == a + 1 && self.marks.contains(&a) => {
                        text += &format!("{MARKS}[{a}");
                    }
                    _ => return None,
                }
                marks = false;
            } else if of_state && a == MARKED && b == MARKED {
                if (firsts.next(), seconds.next()) != (Some("["), Some("[")) {
                    return None;
                }
                text.truncate(text.len() - STATE.len());
                marks = true;
            } else if !of_state && is_local(a) && is_local(b) {
                locals.insert((a, b));
                text += a;
            } else if a == b {
                text += a;
                fixed.extend(self.twins.first(a).filter(|_| of_state));
            } else if (a, b) == (first_name, second_name) || is_blank(a, b) {
                text += a;
            } else {
                return None;
            }
        }
    }
}

/// Whether each name has one other name, and no two have the same.
fn one_to_one(names: &BTreeSet<(&str, &str)>) -> bool {
    let firsts: BTreeSet<&str> = names.iter().map(|(a, _)| *a).collect();
    let seconds: BTreeSet<&str> = names.iter().map(|(_, b)| *b).collect();
    firsts.len() == names.len() && seconds.len() == names.len()
}

/// Whether two texts between identifiers differ in white space alone.
fn is_blank(a: &str, b: &str) -> bool {
    let visible = |text: &'_ str| {
        text.chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
    };
    visible(a) == visible(b)
}

/// Whether `name` is a local variable of Verilator's or of the rewriter's.
fn is_local(name: &str) -> bool {
    name.starts_with("__V") || name.starts_with("stellar_") || name.contains("__DOT__")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "    CData/*0:0*/ t__DOT__u_port_0__DOT__a;\n    CData/*0:0*/ t__DOT__u_port_0__DOT__b;\n    \
                          CData/*0:0*/ t__DOT__u_port_1__DOT__a;\n    CData/*0:0*/ t__DOT__u_port_1__DOT__b;\n    CData/*0:0*/ t__DOT__all;\n";

    /// A function `name` of the instance `number` with these statements.
    fn function(name: &str, number: usize, body: &str) -> String {
        let body = body.replace('#', &number.to_string());
        format!("VL_INLINE_OPT void {name}(Vmodel___024root* vlSelf) {{\n    VL_DEBUG_IF(VL_DBG_MSGF(\"+    {name}\\n\"); );\n{body}}}\n\n")
    }

    /// What becomes of the bodies of two functions, of which those with the numbers 4 and 6 are the first ones of pairs.
    fn shared(first: &str, second: &str) -> Option<String> {
        let twins = Twins::of(HEADER);
        let sharing = Sharing {
            twins: &twins,
            pairs: &[4, 6].into(),
            marks: &[4, 6].into(),
        };
        let (first, second) = (function("f", 0, first), function("g", 1, second));
        sharing.shared((&first, "f"), (&second, "g"))
    }

    #[test]
    fn one_function_serves_both_instances() {
        let first = "    const CData stellar_0 = vlSelf->t__DOT__u_port_#__DOT__b;\n    __Vtemp_7 = vlSelf->t__DOT__all;\n    \
                     vlSelf->t__DOT__u_port_#__DOT__b = (__Vtemp_7 & vlSelf->t__DOT__u_port_#__DOT__a);\n    \
                     bool changed = (stellar_0 != vlSelf->t__DOT__u_port_#__DOT__b); vlSelf->stellar_marked[4] |= changed; vlSelf->stellar_marked[9] |= changed;\n";
        let second = first
            .replace("__Vtemp_7", "__Vtemp_8")
            .replace("stellar_0", "stellar_3")
            .replace("[4]", "[5]")
            .replace(" = (", " \n        = (");
        let expected = "VL_INLINE_OPT void f(Vmodel___024root* vlTwin, Vmodel___024root* vlSelf, uint8_t* vlMarks) {\n    \
                        VL_DEBUG_IF(VL_DBG_MSGF(\"+    f\\n\"); );\n    \
                        const CData stellar_0 = vlTwin->t__DOT__u_port_0__DOT__b;\n    __Vtemp_7 = vlSelf->t__DOT__all;\n    \
                        vlTwin->t__DOT__u_port_0__DOT__b = (__Vtemp_7 & vlTwin->t__DOT__u_port_0__DOT__a);\n    \
                        bool changed = (stellar_0 != vlTwin->t__DOT__u_port_0__DOT__b); vlMarks[4] |= changed; vlSelf->stellar_marked[9] |= changed;\n}\n\n";
        assert_eq!(shared(first, &second).as_deref(), Some(expected));
    }

    #[test]
    fn a_signal_of_the_same_instance_stays() {
        let body = "    vlSelf->t__DOT__all = vlSelf->t__DOT__u_port_1__DOT__a;\n";
        let text = shared(body, body).unwrap();
        assert!(text.contains(body), "{text}");
    }

    #[test]
    fn a_signal_is_reached_by_one_pointer() {
        for fixed in ["port_0__DOT__a", "port_1__DOT__a"] {
            let body =
                format!("    vlSelf->t__DOT__u_port_#__DOT__a = vlSelf->t__DOT__u_{fixed};\n");
            assert_eq!(shared(&body, &body), None, "{fixed}");
        }
    }

    #[test]
    fn functions_that_differ_stay_apart() {
        let body = "    __Vtemp_1 = 1U; __Vtemp_2 = 2U; vlSelf->t__DOT__all = (__Vtemp_1 & __Vtemp_2); vlSelf->stellar_marked[4] = 1;\n";
        assert!(shared(body, &body.replace("[4]", "[5]")).is_some());
        for (from, to) in [
            ("[4]", "[6]"),
            ("[4]", "[8]"),
            ("2U", "3U"),
            ("& __Vtemp_2", "& __Vtemp_1"),
            ("__Vtemp_2", "__Vtemp_1"),
            ("vlSelf->t__DOT__all", "vlSelf->t__DOT__u_port_1__DOT__a"),
            (" & ", " | "),
            ("vlSelf->stellar_marked[4] = 1;", ""),
        ] {
            let other = body
                .replace("[4]", "[5]")
                .replace(&from.replace("[4]", "[5]"), to);
            assert_eq!(shared(body, &other), None, "{from} {to}");
        }
        // The second function of one pair and the first of the next are no pair.
        assert_eq!(
            shared(&body.replace("[4]", "[5]"), &body.replace("[4]", "[6]")),
            None
        );
    }

    #[test]
    fn calls_say_for_which_instance() {
        let callee = |side| Callee {
            name: "f".into(),
            side,
        };
        let call = |side| callee(side).call();
        assert_eq!(call(None), "f(vlSelf);");
        assert_eq!(call(Some(Side::First)), "f(vlSelf, vlSelf, marked);");
        assert_eq!(
            call(Some(Side::Second)),
            "f(second, vlSelf, marked_second);"
        );
        assert_eq!(
            callee(None).declaration(),
            "void f(Vmodel___024root* vlSelf);"
        );
        assert_eq!(locals(false).lines().count(), 1);
        assert_eq!(locals(true).lines().count(), 3);
    }
}
