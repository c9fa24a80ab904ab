//! Code of a gated model that runs only when something it reads has another value.
//!
//! Verilator runs a function whenever one of the clocks before it had an event, whatever came of the event: of two modules side by side, a
//! counter that moves in one makes the other look at all of its inputs again. Here the functions behind events are changed after Verilator
//! wrote them. Each compares what it writes and others read with what was there before, and marks the functions that read what is different;
//! only marked functions run, in Verilator's order. A function gives the same again as long as nothing that it reads changes, so what is left
//! out would have changed nothing. That holds for code of registers too, at the next edge: an edge then needs nobody to say whether it would
//! change anything in a part, and what the text has for that ([`Gate::active`]) is left out.
//!
//! This reads C++ of Verilator 5.006. Where anything is not as expected, the code stays as Verilator wrote it: slower, and as right.

mod blocks;
mod copies;
mod dispatch;
mod marks;
mod rewrite;
mod runner;
mod source;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::cache::io;
use crate::error::BuildError;
use crate::gating::Gating;
use rewrite::Event;
use source::Definition;

/// Everything that decides what becomes of Verilator's code. It is part of the key of cached models. A test checks that no file of this folder is missing.
pub(crate) const RECIPE: &str = concat!(
    include_str!("../gating.rs"),
    include_str!("activity.h"),
    include_str!("blocks.rs"),
    include_str!("copies.rs"),
    include_str!("dispatch.rs"),
    include_str!("marks.rs"),
    include_str!("mod.rs"),
    include_str!("rewrite.rs"),
    include_str!("runner.rs"),
    include_str!("source.rs"),
    include_str!("usage.rs"),
);

/// What the changed code includes, under the name [`HEADER_FILE`].
const HEADER: &str = include_str!("activity.h");
const HEADER_FILE: &str = "activity.h";

/// The state of the model, as Verilator declares it.
const ROOT_HEADER: &str = "Vmodel___024root.h";
/// The files with its code, but for what runs once (`__Slow`).
const CODE_FILES: &str = "Vmodel___024root__DepSet_";

/// Changes the code that Verilator wrote into `directory` for a model with this `gating`. Returns the names of the blocks whose times a profile
/// has, or `None` if the code was not as expected.
pub(crate) fn refine(directory: &Path, gating: &Gating) -> Result<Option<Vec<String>>, BuildError> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|source| io("read", path, source));
    let header_path = directory.join(ROOT_HEADER);
    let mut files = BTreeMap::new();
    let listing = |source| io("list", directory, source);
    for file in fs::read_dir(directory).map_err(listing)? {
        let path = file.map_err(listing)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(CODE_FILES) && name.ends_with(".cpp") && !name.contains("__Slow") {
            files.insert(path.clone(), read(&path)?);
        }
    }
    if !header_path.is_file() {
        return Ok(None);
    }
    let header = read(&header_path)?;
    let Some(changed) = changed(&header, &files, gating) else {
        return Ok(None);
    };
    let write =
        |path: &Path, text: &str| fs::write(path, text).map_err(|source| io("write", path, source));
    write(&header_path, &changed.header)?;
    for (path, text) in &changed.files {
        write(path, text)?;
    }
    write(&directory.join(HEADER_FILE), HEADER)?;
    Ok(Some(changed.blocks))
}

struct Changed {
    blocks: Vec<String>,
    header: String,
    files: BTreeMap<PathBuf, String>,
}

/// The new text of the files, or `None` if one of them has something that is not expected.
fn changed(header: &str, files: &BTreeMap<PathBuf, String>, gating: &Gating) -> Option<Changed> {
    let members = source::members(header);
    let mut definitions: BTreeMap<&str, (&Path, Definition)> = BTreeMap::new();
    let mut dispatcher = None;
    let mut clocks = None;
    let mut parts: BTreeMap<&str, (&Path, Range<usize>)> = BTreeMap::new();
    for (path, text) in files {
        if source::has_other_code(text) {
            return None;
        }
        for definition in source::definitions(text)? {
            definitions.insert(definition.name, (path, definition));
        }
        for (name, body) in source::parts(text) {
            parts.insert(name, (path, body));
        }
        if let Some(body) = source::dispatcher(text) {
            dispatcher = Some((path.as_path(), body));
        }
        clocks = clocks.or_else(|| source::clocks(text));
    }
    let clocks = clocks?.into_iter().map(|clock| event(clock, gating));
    let events = clocks.collect::<Option<Vec<Event>>>()?;
    let (dispatcher_path, dispatcher_body) = dispatcher?;
    let statements = &files[dispatcher_path][dispatcher_body.clone()];
    let part = |name: &str| {
        let (path, body) = parts.get(name)?;
        Some(&files[*path][body.clone()])
    };
    let calls = dispatch::calls(statements, &part)?;
    let called: BTreeSet<&str> = calls.iter().map(|call| call.function).collect();
    if calls.len() != definitions.len() || called.len() != calls.len() {
        return None;
    }
    let body = |call: &dispatch::Call<'_>| {
        let (path, definition) = definitions.get(call.function)?;
        Some(&files[*path][definition.body.clone()])
    };
    let bodies = calls.iter().map(body).collect::<Option<Vec<&str>>>()?;
    let unread = unread(&bodies, gating);
    let mut functions = Vec::new();
    for (call, body) in calls.iter().zip(bodies) {
        let (_, definition) = definitions.get(call.function)?;
        let body = without(body, &unread);
        let of_call = call.events.iter().map(|event| events.get(*event).copied());
        functions.push(rewrite::Function {
            usage: usage::usage(&body, &members)?,
            combinational: definition.combinational,
            wide_locals: definition
                .wide_locals
                .iter()
                .map(|&name| name.to_owned())
                .collect(),
            body,
            events: of_call.collect::<Option<_>>()?,
        });
    }
    let plan = rewrite::Plan::of(&functions, &source::inputs(header));
    let mut replaced: BTreeMap<&Path, Vec<(Range<usize>, String)>> = BTreeMap::new();
    for (index, call) in calls.iter().enumerate() {
        let (path, definition) = &definitions[call.function];
        let body = plan.body(index, &functions[index], &members);
        let of_file = replaced.entry(path).or_default();
        of_file.push((definition.body.clone(), body));
    }
    let names: Vec<&str> = calls.iter().map(|call| call.function).collect();
    let of_file = replaced.entry(dispatcher_path).or_default();
    of_file.push((dispatcher_body, plan.runner(&names, &functions)));
    for (path, body) in parts.into_values() {
        replaced
            .entry(path)
            .or_default()
            .push((body, String::new()));
    }
    Some(Changed {
        blocks: plan.blocks().map(str::to_owned).collect(),
        header: plan.header(header)?,
        files: replaced
            .into_iter()
            .map(|(path, parts)| (path.to_path_buf(), with_parts(&files[path], parts)))
            .collect(),
    })
}

/// What an event of `clock` stands for; `None` if it is no clock of the gating, or there are more inputs than bits for them.
fn event(clock: &str, gating: &Gating) -> Option<Event> {
    if gating.gates.iter().any(|gate| gate.clock == clock) {
        return Some(Event::Edge);
    }
    let input = gating.inputs.iter().position(|held| held.event == clock)?;
    (gating.inputs.len() <= u64::BITS as usize).then_some(Event::Input(input))
}

/// The signals that say whether parts want an edge, but for those that the code in `bodies` needs for something else.
fn unread<'a>(bodies: &[&str], gating: &'a Gating) -> BTreeSet<&'a str> {
    let mut unread: BTreeSet<&str> = gating.gates.iter().map(|gate| &*gate.active).collect();
    loop {
        let rests: Vec<String> = bodies.iter().map(|body| without(body, &unread)).collect();
        let before = unread.len();
        for name in rests.iter().flat_map(|rest| source::names(rest)) {
            unread.remove(name);
        }
        if unread.len() == before {
            return unread;
        }
    }
}

/// `body` without the statements that assign to `signals`.
fn without(body: &str, signals: &BTreeSet<&str>) -> String {
    let assigns = |statement: &source::Statement<'_>| {
        let target = statement.text.strip_prefix(source::STATE);
        let name = target.and_then(|target| target.split_whitespace().next());
        statement.end == Some(';') && name.is_some_and(|name| signals.contains(name))
    };
    let place = |statement: source::Statement<'_>| {
        statement.start..statement.start + statement.text.len() + 1
    };
    let left_out = source::statements(body).filter(assigns).map(place);
    with_parts(body, left_out.map(|place| (place, String::new())).collect())
}

/// `text` with other text in some ranges of it.
fn with_parts(text: &str, mut parts: Vec<(Range<usize>, String)>) -> String {
    parts.sort_by_key(|(range, _)| range.start);
    let mut new = String::with_capacity(text.len() * 2);
    let mut at = 0;
    for (range, part) in parts {
        new += &text[at..range.start];
        new += &part;
        at = range.end;
    }
    new + &text[at..]
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;
    use crate::compile::VERILATE;
    use crate::gating::{Gate, HeldInputs};
    use crate::toolchain::Toolchain;

    /// Two parts with clocks of their own, one with a memory, and logic behind both.
    const PARTS: &str = "
module parts(input wire one, input wire two, input wire [7:0] a, input wire [95:0] b, output reg [95:0] sum, output wire any);
  reg [7:0] held = 0;
  reg [95:0] wide = 0;
  reg [7:0] memory [0:15];
  always @(edge one) begin held <= a; memory[a[3:0]] <= held; end
  always @(edge two) wide <= b;
  always @(*) begin sum = wide + {88'd0, held}; if (wide[0]) sum[7:0] = memory[wide[4:1]]; end
  assign any = |sum;
endmodule
";

    #[test]
    fn every_file_of_the_rewriter_is_part_of_the_cache_key() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/activity");
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            assert!(RECIPE.contains(&text), "RECIPE lacks {}", path.display());
        }
    }

    #[test]
    fn flags_that_other_code_reads_stay() {
        let gate = |active: &str| Gate {
            clock: String::new(),
            active: active.into(),
        };
        let gating = Gating {
            clock: "clock".into(),
            gates: ["one", "two", "three"].map(gate).into(),
            inputs: vec![],
        };
        let bodies = [
            "vlSelf->one = vlSelf->a; vlSelf->two = vlSelf->one; vlSelf->three = vlSelf->two;",
            "if (vlSelf->two) {\n vlSelf->b = 1U;\n }",
        ];
        assert_eq!(unread(&bodies, &gating), ["three"].into());
        let rest = without(bodies[0], &["three"].into());
        assert_eq!(rest, "vlSelf->one = vlSelf->a; vlSelf->two = vlSelf->one; ");
    }

    #[test]
    fn the_code_of_the_known_verilator_is_understood() {
        let tools = Toolchain::find().unwrap();
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("parts.v"), PARTS).unwrap();
        let status = tools
            .verilator()
            .args(VERILATE)
            .args(["--top-module", "parts", "parts.v"])
            .current_dir(directory.path())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        let known = tools.runs_on_change();
        let gating = Gating {
            clock: "clock".into(),
            gates: vec![Gate {
                clock: "one".into(),
                active: "any".into(),
            }],
            inputs: vec![HeldInputs {
                ports: vec![],
                event: "two".into(),
            }],
        };
        let blocks = known.then(|| vec![String::new()]);
        assert_eq!(refine(directory.path(), &gating).unwrap(), blocks);
        if !known {
            return;
        }
        let code = code(directory.path());
        for expected in [
            "{ const bool changed = stellar_copy_differs<3>(vlSelf->",
            "= (stellar_0 != vlSelf->",
            "vlSelf->stellar_marked[2] |= stellar_changed_0;",
            "if (vlSelf->stellar_inputs >> 0 & 1) {",
            "if (marked[0]) { marked[0] = 0; ",
            "functions[number](vlSelf);",
        ] {
            assert!(code.contains(expected), "{expected}: {code}");
        }
        assert!(!code.contains("vlSelf->any = "), "{code}");
        // What is changed already is nothing that Verilator wrote.
        assert_eq!(refine(directory.path(), &gating).unwrap(), None);
    }

    /// The header and what runs behind events.
    fn code(directory: &Path) -> String {
        let files = fs::read_dir(directory)
            .unwrap()
            .map(|file| file.unwrap().path());
        let of_code = |path: &PathBuf| {
            let name = path.to_string_lossy();
            name.ends_with(ROOT_HEADER) || name.contains(CODE_FILES) && !name.contains("__Slow")
        };
        let code = files.filter(of_code);
        code.map(|path| fs::read_to_string(path).unwrap()).collect()
    }
}
