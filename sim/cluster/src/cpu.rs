//! CPU time.

/// CPU time that the calling thread has taken, in seconds; `None` where the kernel does not tell (`/proc/thread-self/schedstat`).
pub fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = stat.split(' ').next()?.parse().ok()?;
    Some(nanoseconds as f64 * 1e-9)
}
