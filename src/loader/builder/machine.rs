//! The memory that this process may use: the machine's, or less in a control group.

use crate::error::{Error, Result};
use std::fs;
use std::path::Path;

/// Refuses buffers that the system could not back: it would end the process while a batch is filled.
pub(super) fn check_memory(row_bytes: usize, rows: usize, buffers: usize) -> Result<()> {
    let Some(has) = memory() else { return Ok(()) };
    let batch = row_bytes as u64 * rows as u64;
    match batch.checked_mul(buffers as u64).filter(|&all| all <= has) {
        Some(_) => Ok(()),
        None => Err(Error::config(format!(
            "{buffers} batches of {rows} samples of {row_bytes} bytes do not fit into the {has} bytes of memory that this \
             process may use: use a smaller batch_size or prefetch"
        ))),
    }
}

/// Bytes of memory; `None` where the system does not say.
fn memory() -> Option<u64> {
    let machine = machine_memory(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(group_memory(&groups, Path::new("/sys/fs/cgroup")).map_or(machine, |group| group.min(machine)))
}

fn machine_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the groups that `groups`, the text of /proc/self/cgroup, names, and of those above them.
fn group_memory(groups: &str, mounted: &Path) -> Option<u64> {
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
    limits.min()
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
        let found = |groups: &str| group_memory(groups, folder.path());
        assert_eq!(found("0::/a/b\n"), Some(4096));
        assert_eq!(found("0::/elsewhere\n"), None);
        assert_eq!(found("7:cpu,memory:/x\n3:pids:/a\n"), Some(8192));
        assert_eq!(found("7:memory:/x\n0::/a/b\n"), Some(4096));
        assert_eq!(found(""), None);
    }

    #[test]
    fn the_machines_memory_is_read() {
        assert_eq!(machine_memory("MemFree: 3 kB\nMemTotal:       24684092 kB\n"), Some(24_684_092 * 1024));
        assert_eq!(machine_memory("nothing"), None);
    }

    #[test]
    fn buffers_beyond_all_memory_are_refused_with_their_sizes() {
        check_memory(1000, 1000, 4).unwrap();
        let Some(has) = memory() else {
            return println!("NOT RUN: the system does not say how much memory it has");
        };
        let error = check_memory(has as usize / 2, 1, 3).unwrap_err().to_string();
        assert!(error.contains(&has.to_string()) && error.contains("batch_size"), "{error}");
    }
}
