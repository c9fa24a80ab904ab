//! The files and blocks that the pages in `docs/` name exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Markdown pages of a folder of the repository.
fn pages(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(folder)).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect()
}

/// Targets of the links `[text](target)` of a page.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("](").map(|(at, found)| at + found.len());
    starts.filter_map(move |at| text[at..].split_once(')').map(|(target, _)| target))
}

#[test]
fn links_between_pages_lead_to_files() {
    let mut checked = 0;
    for folder in [".", "docs", "docs/decisions"] {
        for page in pages(folder) {
            let text = fs::read_to_string(&page).expect("the page is text");
            for target in links(&text) {
                let file = target.split('#').next().expect("a part before #");
                if file.is_empty() || file.contains("://") {
                    continue;
                }
                let path = page.parent().expect("a folder").join(file);
                assert!(path.exists(), "{} links to {target}", page.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 50, "only {checked} links were found");
}

/// Names of the Rust files below a folder.
fn modules(folder: &Path, into: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            modules(&path, into);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let name = path.file_stem().expect("a name").to_string_lossy();
            into.insert(name.into_owned());
        }
    }
}

/// The text of all Rust files below a folder.
fn source(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            source(&path, into);
        } else if path.extension().is_some_and(|end| end == "rs") {
            *into += &fs::read_to_string(&path).expect("the file is text");
        }
    }
}

#[test]
fn names_of_the_glossary_are_in_the_code() {
    let mut code = String::new();
    for folder in ["hdl", "wire/src"] {
        source(&root().join(folder), &mut code);
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = code.split(|c| !is_part(c)).collect();
    let page = fs::read_to_string(root().join("docs/glossary.md")).expect("the page is text");
    let mut in_table = false;
    let mut checked = 0;
    for line in page.lines() {
        if !line.starts_with('|') {
            in_table = false;
        } else if line.contains("| name in the code |") {
            in_table = true;
        } else if in_table {
            let column = line.split('|').nth(2).expect("a second column");
            let names = column.split('`').skip(1).step_by(2);
            for name in names.filter(|name| !name.contains('/')) {
                let found = match name.strip_suffix('*') {
                    Some(start) => words
                        .range(start..)
                        .next()
                        .is_some_and(|w| w.starts_with(start)),
                    None => words.contains(name),
                };
                assert!(
                    found,
                    "docs/glossary.md names {name}, which is not in the code"
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 30, "only {checked} names were found");
}

#[test]
fn hardware_blocks_of_the_transmit_side_have_files_of_their_names() {
    let mut blocks = BTreeSet::new();
    modules(&root().join("hdl"), &mut blocks);
    let text = fs::read_to_string(root().join("docs/transmit.md")).expect("the page is text");
    let table = text.lines().skip_while(|line| *line != "## Blocks");
    let rows = table
        .skip_while(|line| !line.starts_with("|---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    let mut checked = 0;
    for row in rows {
        let column = row.split('|').nth(1).expect("a first column");
        // Every second part is between backquotes. Names with a slash are folders.
        let names = column.split('`').skip(1).step_by(2);
        for name in names.filter(|name| !name.contains('/')) {
            assert!(blocks.contains(name), "no file in hdl is called {name}.rs");
            checked += 1;
        }
    }
    assert!(checked > 10, "only {checked} blocks were found");
}

/// The lines of all Rust files below a folder.
fn lines(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(lines(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).expect("sources are text");
            found.extend(text.lines().map(str::to_owned));
        }
    }
    found
}

#[test]
fn hardware_blocks_that_the_reference_names_have_files_of_their_names() {
    let mut blocks = BTreeSet::new();
    modules(&root().join("hdl"), &mut blocks);
    let mut checked = 0;
    for line in lines(&root().join("transport/src")) {
        let Some((_, named)) = line.split_once("(hardware block") else {
            continue;
        };
        for name in named.split('`').skip(1).step_by(2) {
            assert!(blocks.contains(name), "no file in hdl is called {name}.rs");
            checked += 1;
        }
    }
    assert!(checked > 15, "only {checked} blocks were found");
}
