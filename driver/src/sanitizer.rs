//! Proves that `./stellar sanitize` finds an invalid access.

use std::process::Command;

use stellar_wire::host::config_space::Bar;
use vm_memory::VolatileSlice;

use crate::device::{Access, Width};
use crate::vfio::bar;

/// Name of the test that the child process runs, which makes an invalid access on purpose.
const CULPRIT: &str = "sanitizer::reads_beyond_a_mapping";

/// Reads from a BAR whose mapping is shorter than its stated length. The VFIO back end would do this if it trusted a length without a check.
#[test]
#[ignore = "undefined behaviour, on purpose: only the test below runs it, as a process of its own"]
#[allow(unsafe_code)]
fn reads_beyond_a_mapping() {
    let mut memory = vec![0; 4096];
    // SAFETY: none; the memory is shorter.
    let bar = unsafe { VolatileSlice::new(memory.as_mut_ptr(), Bar::Registers.length() as usize) };
    let beyond = Access::new(Bar::Registers, 4096, Width::Eight).unwrap();
    bar::load(&bar, beyond);
}

#[test]
#[ignore = "needs a sanitized build: ./stellar sanitize"]
fn a_bad_access_is_reported() {
    let culprit = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CULPRIT, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&culprit.stderr);
    assert!(
        !culprit.status.success() && said.contains("AddressSanitizer: heap-buffer-overflow"),
        "the bad access went through, so this build is not sanitized: {said}"
    );
}
