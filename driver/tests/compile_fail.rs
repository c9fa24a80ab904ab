//! What the types forbid: programs that would use memory the card no longer has, or that they no longer have, do not compile.

#[test]
fn use_after_free_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/compile_pass/*.rs");
    cases.compile_fail("tests/compile_fail/*.rs");
}
