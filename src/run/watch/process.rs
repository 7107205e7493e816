//! What the system says of this process.

use crate::render::watch::metrics::Process;

/// Looks; what the system does not tell is left out.
pub fn look() -> Process {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let files = std::fs::read_dir("/proc/self/fd").ok();
    Process { resident: resident(&status), cpu: cpu(), open_files: files.map(|files| files.count() as u64) }
}

/// The memory in use, in bytes, from what Linux says in kilobytes.
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(unix)]
fn cpu() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let time: std::time::Duration = time.try_into().ok()?;
    Some(time.as_secs_f64())
}

#[cfg(not(unix))]
fn cpu() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_tells_of_this_process() {
        assert_eq!(resident("VmPeak:\t  9 kB\nVmRSS:\t   12 kB\n"), Some(12 * 1024));
        assert_eq!(resident("VmSwap: 1 kB\n"), None);
        if cfg!(target_os = "linux") {
            let process = look();
            assert!(process.resident.is_some_and(|bytes| bytes > 1024 * 1024));
            assert!(process.cpu.is_some_and(|seconds| seconds > 0.0));
            assert!(process.open_files.is_some_and(|files| files >= 3));
        }
    }
}
