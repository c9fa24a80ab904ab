//! Expected texts. A difference is either a fault or a change that the golden file has to follow.

/// Compares a text with the file `name` in `tests/golden`.
pub fn assert_golden(name: &str, text: &str) {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("STELLAR_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        text, golden,
        "if the change is meant, run this test with STELLAR_BLESS=1"
    );
}
