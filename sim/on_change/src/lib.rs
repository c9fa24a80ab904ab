//! Makes the code of a gated model run only when something it reads has another value.
//!
//! Verilator runs a function whenever one of the clocks before it had an event, whatever came of the event: of two modules side by side, a
//! counter that moves in one makes the other look at all of its inputs again. This crate changes the functions behind events after Verilator
//! wrote them. Each compares what it writes and others read with what was there before, and marks the functions that read what is different;
//! only marked functions run, in Verilator's order. A function gives the same again as long as nothing that it reads changes, so what is left
//! out would have changed nothing. That holds for code of registers too, at the next edge: an edge then needs nobody to say whether it would
//! change anything in a part, and the code for that ([`GatePorts::flags`]) is removed.
//!
//! The crate reads the C++ of one version of Verilator ([`VERILATOR`]). A caller asks [`supports`] first, and never tries another version.
//! [`rewrite`] refuses code that has anything unexpected, and leaves the files as they are then.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

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
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use include_dir::{include_dir, Dir};
use rewrite::Event;
use source::Definition;
use thiserror::Error;

/// The version of Verilator whose C++ is known.
pub const VERILATOR: &str = "5.006";

/// This crate's own source: all of it decides what becomes of Verilator's code, so all of it belongs in the key of a cached model.
pub static SOURCES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src");

/// What the changed code includes, under the name [`HEADER_FILE`].
const HEADER: &str = include_str!("on_change.h");
const HEADER_FILE: &str = "on_change.h";

/// The state of the model, as Verilator declares it.
const ROOT_HEADER: &str = "Vmodel___024root.h";
/// The files with its code, but for what runs once (`__Slow`).
const CODE_FILES: &str = "Vmodel___024root__DepSet_";

/// Whether the C++ of a Verilator is known. `version` is the first line that its `--version` prints.
pub fn supports(version: &str) -> bool {
    version.split_whitespace().nth(1) == Some(VERILATOR)
}

/// The ports of a gated model's top module that only its clocks need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatePorts {
    /// Inputs that toggle when a part of the design gets an edge.
    pub clocks: BTreeSet<String>,
    /// Outputs that say whether a part needs an edge.
    pub flags: BTreeSet<String>,
    /// Inputs that toggle when held inputs have other values. An event's place in the list is its number.
    pub events: Vec<String>,
}

/// Why code was not rewritten.
#[derive(Debug, Error)]
pub enum Refusal {
    /// There is something in it that this crate does not know. The files are as Verilator wrote them.
    #[error("its C++ has something that is not expected of Verilator {VERILATOR}")]
    UnknownCode,
    /// A file of the model could not be used.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Changes the code that Verilator wrote into `directory` with the prefix `Vmodel`. Returns the names of the blocks whose times a profile has.
///
/// # Errors
/// [`Refusal`].
pub fn rewrite(directory: &Path, ports: &GatePorts) -> Result<Vec<String>, Refusal> {
    let failed = |action, path: &Path, source| Refusal::Io {
        action,
        path: path.to_path_buf(),
        source,
    };
    let read =
        |path: &Path| fs::read_to_string(path).map_err(|source| failed("read", path, source));
    let header_path = directory.join(ROOT_HEADER);
    let mut files = BTreeMap::new();
    let listing = |source| failed("list", directory, source);
    for file in fs::read_dir(directory).map_err(listing)? {
        let path = file.map_err(listing)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(CODE_FILES) && name.ends_with(".cpp") && !name.contains("__Slow") {
            files.insert(path.clone(), read(&path)?);
        }
    }
    if !header_path.is_file() {
        return Err(Refusal::UnknownCode);
    }
    let header = read(&header_path)?;
    let changed = changed(&header, &files, ports).ok_or(Refusal::UnknownCode)?;
    let write = |path: &Path, text: &str| {
        fs::write(path, text).map_err(|source| failed("write", path, source))
    };
    write(&header_path, &changed.header)?;
    for (path, text) in &changed.files {
        write(path, text)?;
    }
    write(&directory.join(HEADER_FILE), HEADER)?;
    Ok(changed.blocks)
}

struct Changed {
    blocks: Vec<String>,
    header: String,
    files: BTreeMap<PathBuf, String>,
}

/// The new text of the files, or `None` if one of them has something that is not expected.
fn changed(header: &str, files: &BTreeMap<PathBuf, String>, ports: &GatePorts) -> Option<Changed> {
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
    let clocks = clocks?.into_iter().map(|clock| event(clock, ports));
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
    let unread = unread(&bodies, &ports.flags);
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
fn event(clock: &str, ports: &GatePorts) -> Option<Event> {
    if ports.clocks.contains(clock) {
        return Some(Event::Edge);
    }
    let input = ports.events.iter().position(|event| event == clock)?;
    (ports.events.len() <= u64::BITS as usize).then_some(Event::Input(input))
}

/// The `flags` that say whether parts want an edge, but for those that the code in `bodies` needs for something else.
fn unread<'a>(bodies: &[&str], flags: &'a BTreeSet<String>) -> BTreeSet<&'a str> {
    let mut unread: BTreeSet<&str> = flags.iter().map(String::as_str).collect();
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
    use super::*;

    #[test]
    fn one_version_of_verilator_is_known() {
        assert!(supports("Verilator 5.006 2023-01-22 rev (Debian 5.006-3)"));
        for other in ["Verilator 5.0061 2023", "Verilator 5.020 2024", "5.006", ""] {
            assert!(!supports(other), "{other}");
        }
    }

    #[test]
    fn every_source_file_is_part_of_the_cache_key() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let embedded = SOURCES.get_file(path.file_name().unwrap());
            let embedded = embedded.map(include_dir::File::contents);
            let text = fs::read(&path).unwrap();
            assert_eq!(embedded, Some(text.as_slice()), "{}", path.display());
        }
    }

    #[test]
    fn flags_that_other_code_reads_stay() {
        let flags = ["one", "two", "three"].map(str::to_owned).into();
        let bodies = [
            "vlSelf->one = vlSelf->a; vlSelf->two = vlSelf->one; vlSelf->three = vlSelf->two;",
            "if (vlSelf->two) {\n vlSelf->b = 1U;\n }",
        ];
        assert_eq!(unread(&bodies, &flags), ["three"].into());
        let rest = without(bodies[0], &["three"].into());
        assert_eq!(rest, "vlSelf->one = vlSelf->a; vlSelf->two = vlSelf->one; ");
    }

    #[test]
    fn a_directory_without_a_model_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let refused = rewrite(directory.path(), &GatePorts::default()).unwrap_err();
        assert!(matches!(refused, Refusal::UnknownCode), "{refused}");
        let missing = directory.path().join("missing");
        let refused = rewrite(&missing, &GatePorts::default()).unwrap_err();
        assert!(refused.to_string().contains("cannot list"), "{refused}");
    }
}
