//! What the kernel says about this process (Linux's proc file system).

/// CPU time that the calling thread has taken, in seconds; `None` where the kernel does not tell.
pub fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = stat.split(' ').next()?.parse().ok()?;
    Some(nanoseconds as f64 * 1e-9)
}

/// Memory of the process that is resident, in bytes; `None` where the kernel does not tell.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
