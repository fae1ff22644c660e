//! The memory of this machine, and how much of it the control groups around this process allow, known on Linux only; and the
//! processor time of this process.

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

/// The smallest limit of the groups that `groups`, the text of /proc/self/cgroup, names, and of those above them.
fn group_limit(groups: &str, mounted: &Path) -> Option<u64> {
    let limits = groups.lines().filter_map(|line| {
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
        // In a container the group's own path may lie outside of what is mounted; then the root's limit counts.
        let own = root.join(path);
        own.ancestors().take_while(|folder| folder.starts_with(&root)).filter_map(limit).min()
    });
    limits.filter(|&bytes| bytes < UNLIMITED).min()
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
    fn the_machines_memory_is_read() {
        assert_eq!(
            bytes_in_text("MemFree: 3 kB\nMemTotal:       24684092 kB\n", "MemTotal:"),
            Some(24_684_092 * 1024)
        );
        assert_eq!(bytes_in_text("nothing", "MemTotal:"), None);
    }
}
