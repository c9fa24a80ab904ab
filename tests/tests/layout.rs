//! No test lies where cargo does not run it: what manifests and `main.rs` files switch off or leave out is left out on purpose.

use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn manifest(folder: &Path) -> Table {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse()
        .unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Folders of the crates of the workspace.
fn crates() -> Vec<PathBuf> {
    let workspace = manifest(&root());
    let members = workspace["workspace"]["members"].as_array();
    let members = members.expect("a list of members").iter();
    let folders = members.map(|member| root().join(member.as_str().expect("a folder")));
    folders.collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "rs")
}

/// Every Rust file below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) =
        entries(folder).into_iter().partition(|path| path.is_dir());
    let mut found: Vec<PathBuf> = files.into_iter().filter(|path| is_rust(path)).collect();
    found.extend(folders.iter().flat_map(|folder| rust_files(folder)));
    found
}

/// The value of a switch of a crate's library.
fn library_has(manifest: &Table, switch: &str) -> bool {
    let library = manifest.get("lib").and_then(|lib| lib.get(switch));
    library.and_then(|value| value.as_bool()).unwrap_or(true)
}

/// Every file and folder beside `parent` is a module of it; so on in the folders. Returns how many there are.
fn assert_modules(parent: &Path) -> usize {
    let text = fs::read_to_string(parent).expect("the module is text");
    let folder = parent.parent().expect("a folder");
    let mut modules = 0;
    for path in entries(folder) {
        let inner = path.join("mod.rs");
        if path == parent || !(is_rust(&path) || inner.exists()) {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy();
        assert!(
            text.contains(&format!("mod {name};")),
            "{} does not run: add `mod {name};` to {}",
            path.display(),
            parent.display()
        );
        modules += 1;
        if inner.exists() {
            modules += assert_modules(&inner);
        }
    }
    modules
}

#[test]
fn the_integration_tests_of_a_crate_are_one_program_of_all_its_files() {
    let mut modules = 0;
    for folder in crates() {
        let tests = folder.join("tests");
        if !tests.exists() {
            continue;
        }
        let main = tests.join("main.rs");
        let manifest = manifest(&folder);
        let programs: Vec<PathBuf> = if main.exists() {
            let finds_tests = manifest["package"].get("autotests");
            assert_eq!(
                finds_tests.and_then(|value| value.as_bool()),
                Some(false),
                "{}: with tests/main.rs, `autotests = false` keeps the files beside it from being programs too",
                folder.display()
            );
            vec![main]
        } else {
            let own = |path: PathBuf| match path.join("main.rs") {
                main if main.exists() => Some(main),
                _ => is_rust(&path).then_some(path),
            };
            entries(&tests).into_iter().filter_map(own).collect()
        };
        // `tests/cocotb` beside `tests/tests` is Python's.
        assert!(
            programs.len() <= 1,
            "{}: each program links the whole simulator; make them modules of tests/main.rs",
            folder.display()
        );
        for program in programs.iter().filter(|path| path.ends_with("main.rs")) {
            modules += assert_modules(program);
        }
    }
    assert!(modules > 200, "only {modules} modules were found");
}

#[test]
fn a_library_without_a_test_program_has_no_tests() {
    let mut switched_off = 0;
    for folder in crates() {
        let manifest = manifest(&folder);
        let source = folder.join("src");
        let files = rust_files(&source);
        if !library_has(&manifest, "test") {
            switched_off += 1;
            for file in &files {
                let text = fs::read_to_string(file).expect("the file is text");
                assert!(
                    !text.contains("#[test]") && !text.contains("proptest! {"),
                    "{} has a test, and {}/Cargo.toml says `test = false`",
                    file.display(),
                    folder.display()
                );
            }
        }
        if !library_has(&manifest, "doctest") {
            switched_off += 1;
            for file in &files {
                let text = fs::read_to_string(file).expect("the file is text");
                assert!(
                    examples(&text).next().is_none(),
                    "{} has an example, and {}/Cargo.toml says `doctest = false`",
                    file.display(),
                    folder.display()
                );
            }
        }
    }
    assert!(switched_off > 20, "only {switched_off} switches were found");
}

/// The code blocks of a file's documentation that rustdoc would run.
fn examples(text: &str) -> impl Iterator<Item = &str> {
    let documentation = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or(line.strip_prefix("//!"))
    });
    let fences = documentation.filter_map(|line| line.trim_start().strip_prefix("```"));
    let opening = fences.step_by(2);
    opening.filter(|language| {
        let others = ["text", "ignore", "console", "sh", "verilog", "lua", "toml"];
        !others.iter().any(|other| language.starts_with(other))
    })
}
