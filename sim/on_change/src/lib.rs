//! Rewrites the C++ of a gated model so that a function runs only when a signal that it reads has changed.
//!
//! Verilator runs a function at every event of the clocks in front of it, even if the event changed nothing that the function reads. For example, a
//! counter that moves in one module causes its neighbour to evaluate all of its inputs again. This crate rewrites the functions that run at events,
//! after Verilator wrote them. A rewritten function compares each signal that it writes with the previous value, and marks the functions that read a
//! changed signal. Only marked functions run, in Verilator's order.
//!
//! The results are the same: a function whose inputs have not changed computes the same values again. This holds for the code of registers too, which
//! runs at the next edge after it was marked. The model then does not need the code that decides whether a part of the design needs an edge
//! ([`GatePorts::flags`]), so the rewriter removes it.
//!
//! The crate knows the C++ of one version of Verilator ([`VERILATOR`]). A caller checks [`supports`] first and does not try other versions.
//! [`rewrite`] refuses code with anything that it does not know, and then leaves the files unchanged.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod batches;
mod blocks;
mod carried;
mod copies;
mod dispatch;
mod flags;
mod heads;
mod locals;
mod marks;
mod order;
mod plan;
mod restless;
mod rewrite;
mod runner;
mod schedule;
mod shared;
mod source;
mod split;
mod twins;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use include_dir::{include_dir, Dir};
use plan::{Event, Function, Plan};
use shared::Sharing;
use source::Definition;
use thiserror::Error;
use twins::Twins;

/// The version of Verilator whose C++ is known.
pub const VERILATOR: &str = "5.006";

/// The source files of this crate. All of them decide how Verilator's code is rewritten, so all of them are part of a cached model's key.
pub static SOURCES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src");

/// The header that rewritten code includes under the name [`HEADER_FILE`].
const HEADER: &str = include_str!("on_change.h");
const HEADER_FILE: &str = "on_change.h";

/// The file in which Verilator declares the model's state.
const ROOT_HEADER: &str = "Vmodel___024root.h";
/// The prefix of the files that contain the model's code. Files with `__Slow` in their name are not read: their code runs only once.
const CODE_FILES: &str = "Vmodel___024root__DepSet_";

/// Whether this crate knows the C++ of a Verilator. `version` is the first line that `verilator --version` prints.
pub fn supports(version: &str) -> bool {
    version.split_whitespace().nth(1) == Some(VERILATOR)
}

/// The ports of a gated model's top module that exist only for the gated clocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatePorts {
    /// Inputs that toggle when a part of the design gets an edge.
    pub clocks: BTreeSet<String>,
    /// Outputs that are high when a part needs an edge.
    pub flags: BTreeSet<String>,
    /// Inputs that toggle when a held input changes. Their position in this list is the number of the event.
    pub events: Vec<String>,
}

/// The reason why code was not rewritten.
#[derive(Debug, Error)]
pub enum Refusal {
    /// The code contains something that this crate does not know. The files are unchanged.
    #[error("its C++ has something that is not expected of Verilator {VERILATOR}")]
    UnknownCode,
    /// A file of the model could not be used.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason that the operating system gives.
        source: io::Error,
    },
}

/// Rewrites the code that Verilator wrote into `directory` with the prefix `Vmodel`. Returns the names of the blocks for which a profile has times.
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

/// Returns the new texts of the files, or `None` if one of the files contains something unexpected.
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
    let unread = flags::unread(&bodies, &ports.flags);
    let everywhere = locals::mentions(files.values().map(String::as_str));
    let ports = source::ports(header);
    let (mut functions, mut parts_of) = (vec![], vec![]);
    for (call, body) in calls.iter().zip(bodies) {
        let (path, definition) = definitions.get(call.function)?;
        let body = flags::without(body, &unread);
        let private =
            |text: &str, usage: &usage::Usage| locals::private(text, usage, &everywhere, &ports);
        let whole = split::Whole {
            private: private(&body, &usage::usage(&body, &members)?),
            head: &files[*path][definition.head.clone()],
            combinational: definition.combinational,
            body: &body,
        };
        let of_call = call.events.iter().map(|event| events.get(*event).copied());
        let of_call: Vec<Event> = of_call.collect::<Option<_>>()?;
        let first = functions.len();
        for (part, body) in split::split(&whole, &members).into_iter().enumerate() {
            let usage = usage::usage(&body, &members)?;
            let name = split::name(call.function, part);
            functions.push(Function {
                head: whole.head.replace(call.function, &name),
                name,
                private: private(&body, &usage),
                usage,
                combinational: definition.combinational,
                wide_locals: definition
                    .wide_locals
                    .iter()
                    .map(|&name| name.to_owned())
                    .collect(),
                body,
                events: of_call.clone(),
            });
        }
        parts_of.push(first..functions.len());
    }
    let twins = Twins::of(header);
    let (functions, schedule) = schedule::scheduled(functions, &twins);
    let plan = Plan::of(
        &functions,
        &source::inputs(header),
        &members,
        &schedule.pairs,
    );
    let sharing = Sharing {
        twins: &twins,
        pairs: &schedule.pairs,
        marks: &plan.batches.pairs,
    };
    let (texts, callees) = sharing.texts(&functions, &plan, &members);
    let mut place_of = vec![0; functions.len()];
    for (place, &number) in schedule.order.iter().enumerate() {
        place_of[number] = place;
    }
    let mut replaced: BTreeMap<&Path, Vec<(Range<usize>, String)>> = BTreeMap::new();
    for (call, numbers) in calls.iter().zip(parts_of) {
        let (path, definition) = &definitions[call.function];
        let parts = place_of[numbers].iter().map(|&place| texts[place].as_str());
        let of_file = replaced.entry(path).or_default();
        of_file.push((definition.whole(), parts.collect()));
    }
    let of_file = replaced.entry(dispatcher_path).or_default();
    of_file.push((dispatcher_body, plan.runner(&callees, &functions)));
    for (path, body) in parts.into_values() {
        replaced
            .entry(path)
            .or_default()
            .push((body, String::new()));
    }
    Some(Changed {
        blocks: plan.blocks().map(str::to_owned).collect(),
        header: plan.header(&twins.header(header)?)?,
        files: replaced
            .into_iter()
            .map(|(path, parts)| (path.to_path_buf(), with_parts(&files[path], parts)))
            .collect(),
    })
}

/// Returns the event that `clock` stands for. Returns `None` if `clock` is not a gated clock, or if there are more input events than bits in the
/// model's event word.
fn event(clock: &str, ports: &GatePorts) -> Option<Event> {
    if ports.clocks.contains(clock) {
        return Some(Event::Edge);
    }
    let input = ports.events.iter().position(|event| event == clock)?;
    (ports.events.len() <= u64::BITS as usize).then_some(Event::Input(input))
}

/// Returns `text` with some of its ranges replaced by other text.
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
    fn a_directory_without_a_model_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let refused = rewrite(directory.path(), &GatePorts::default()).unwrap_err();
        assert!(matches!(refused, Refusal::UnknownCode), "{refused}");
        let missing = directory.path().join("missing");
        let refused = rewrite(&missing, &GatePorts::default()).unwrap_err();
        assert!(refused.to_string().contains("cannot list"), "{refused}");
    }
}
