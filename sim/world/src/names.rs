//! Suggestions for misspelled names.

/// The up to three names most like `wanted` (Jaro-Winkler similarity), best first, as one phrase.
pub fn closest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut scored: Vec<(f64, &str)> = names
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let best: Vec<&str> = scored.iter().take(3).map(|(_, name)| *name).collect();
    best.join(", ")
}
