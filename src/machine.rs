//! The memory of this machine, how much of it the control groups around this process allow and what is free, known on Linux only;
//! and the processor time of processes.

use std::fs;
use std::path::Path;

/// Version 1 of control groups writes a number near 2^63 where there is no limit.
const UNLIMITED: u64 = 1 << 60;

/// Bytes in a field of one of Linux' tables that count in kB, as `MemTotal:` of `/proc/meminfo`; `None` where there is no such
/// table or field.
pub fn bytes_in(table: &str, field: &str) -> Option<u64> {
    bytes_in_text(&fs::read_to_string(table).ok()?, field)
}

fn bytes_in_text(table: &str, field: &str) -> Option<u64> {
    let line = table.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Bytes of memory that this process may use: the machine's, or less where a control group limits it; `None` where the
/// system does not say.
pub fn memory() -> Option<u64> {
    let machine = bytes_in("/proc/meminfo", "MemTotal:")?;
    Some(memory_limit().map_or(machine, |limit| limit.min(machine)))
}

/// Bytes of memory that the control groups around this process allow; `None` where nothing limits it.
pub fn memory_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    group_limit(&groups, Path::new("/sys/fs/cgroup"))
}

/// User and system time of all threads of this process, in seconds; `None` where the system does not say.
#[cfg(unix)]
pub fn cpu_seconds() -> Option<f64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    Some(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// The system is not asked.
#[cfg(not(unix))]
pub fn cpu_seconds() -> Option<f64> {
    None
}

/// User and system time of the processes of a process group until now, in seconds, those that have ended and were waited for
/// included; 0 where the system does not say.
pub fn cpu_seconds_of_group(group: u32) -> f64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0.0 };
    let of_it = entries.flatten().filter_map(|entry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        ticks(&fs::read_to_string(entry.path().join("stat")).ok()?, group)
    });
    // Linux counts in hundredths of a second wherever a process can see it.
    of_it.sum::<u64>() as f64 / 100.0
}

/// The ticks in the text of /proc/PID/stat, if the process belongs to the group.
fn ticks(stat: &str, group: u32) -> Option<u64> {
    // The name, in brackets, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    (number(2)? == u64::from(group)).then(|| [11, 12, 13, 14].iter().filter_map(|&at| number(at)).sum())
}

/// Bytes of memory that are free for this process, caches of files included, which go when memory is needed; `None` where the
/// system does not say.
pub fn available() -> Option<u64> {
    let machine = bytes_in("/proc/meminfo", "MemAvailable:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(group_free(&groups, Path::new("/sys/fs/cgroup")).map_or(machine, |free| free.min(machine)))
}

/// Bytes that a user may still write to the file system of a folder; `None` where the system does not say.
#[cfg(unix)]
pub fn free_in(folder: &Path) -> Option<u64> {
    let about = nix::sys::statvfs::statvfs(folder).ok()?;
    // Types differ from system to system.
    #[allow(clippy::useless_conversion, clippy::unnecessary_fallible_conversions)]
    let [blocks, size] =
        [u64::try_from(about.blocks_available()).ok()?, about.fragment_size().try_into().ok()?];
    blocks.checked_mul(size)
}

/// The smallest limit of the groups that `groups`, the text of /proc/self/cgroup, names, and of those above them.
fn group_limit(groups: &str, mounted: &Path) -> Option<u64> {
    smallest(groups, mounted, |_, limit| Some(limit))
}

/// What is free in the fullest of these groups.
fn group_free(groups: &str, mounted: &Path) -> Option<u64> {
    smallest(groups, mounted, |folder, limit| {
        let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
        let used = ["memory.current", "memory.usage_in_bytes"].into_iter().find_map(read)?;
        // What caches hold of files goes when memory is needed.
        let stat = read("memory.stat").unwrap_or_default();
        let of_files =
            |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.parse::<u64>().ok());
        let files: u64 = ["active_file ", "inactive_file "].into_iter().filter_map(of_files).sum();
        Some(limit.saturating_sub(used.trim().parse::<u64>().ok()?.saturating_sub(files)))
    })
}

/// The smallest of what `of` makes of the folder and the limit of each group that has one.
fn smallest(groups: &str, mounted: &Path, of: impl Fn(&Path, u64) -> Option<u64>) -> Option<u64> {
    let found = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?.trim_start_matches('/'));
        // Version 2 has one hierarchy of all controllers, version 1 one for memory.
        let (root, file) = match controllers {
            "" => (mounted.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|controller| controller == "memory") => {
                (mounted.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let limit = |folder: &Path| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
        let of_limited = |folder: &Path| of(folder, limit(folder).filter(|&bytes| bytes < UNLIMITED)?);
        // In a container the group's own path may lie outside of what is mounted; then the root's limit counts.
        let own = root.join(path);
        own.ancestors().take_while(|folder| folder.starts_with(&root)).filter_map(of_limited).min()
    });
    found.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_of_a_group_and_those_above_it_counts() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("a/b/memory.max", "max\n");
        write("a/memory.max", "4096\n");
        write("memory/x/memory.limit_in_bytes", "8192\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let found = |groups: &str| group_limit(groups, folder.path());
        assert_eq!(found("0::/a/b\n"), Some(4096));
        assert_eq!(found("0::/elsewhere\n"), None);
        assert_eq!(found("7:cpu,memory:/x\n3:pids:/a\n"), Some(8192));
        assert_eq!(found("7:memory:/x\n0::/a/b\n"), Some(4096));
        write("memory/free/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(found("7:memory:/free\n"), None, "that is no limit");
        assert_eq!(found(""), None);
    }

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let stat = "7 (a) b) S 1 42 42 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 1 0 5";
        assert_eq!((ticks(stat, 42), ticks(stat, 43)), (Some(100), None));
    }

    #[test]
    fn what_is_free_in_a_group_is_what_its_fullest_group_has_left_and_files_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let free = |groups: &str| group_free(groups, folder.path());
        write("a/b/memory.max", "10000\n");
        write("a/b/memory.current", "3000\n");
        assert_eq!(free("0::/a/b\n"), Some(7000));
        write("a/b/memory.stat", "anon 5\ninactive_file 400\nactive_file 100\n");
        assert_eq!(free("0::/a/b\n"), Some(7500));
        write("a/memory.max", "8000\n");
        write("a/memory.current", "7000\n");
        assert_eq!(free("0::/a/b\n"), Some(1000));
        write("memory/memory.limit_in_bytes", "500\n");
        write("memory/memory.usage_in_bytes", "600\n");
        assert_eq!(free("7:memory:/\n0::/a/b\n"), Some(0));
        assert_eq!(free("0::/elsewhere\n"), None);
    }

    #[test]
    fn the_machines_memory_is_read() {
        assert_eq!(
            bytes_in_text("MemFree: 3 kB\nMemTotal:       24684092 kB\n", "MemTotal:"),
            Some(24_684_092 * 1024)
        );
        assert_eq!(bytes_in_text("nothing", "MemTotal:"), None);
    }
}
