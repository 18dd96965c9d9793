//! What the machine does by itself: its syncs, its load, and how long a process's threads ran.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

/// Cores and load.
pub(crate) fn described() -> String {
    format!("{} cores; {}", std::thread::available_parallelism().map_or(0, usize::from), load())
}

/// How busy the machine was in the last minute.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("load {}", load.split(' ').next().unwrap_or("unknown"))
}

/// The type of the file system that a folder is on.
pub(crate) fn file_system(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap();
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((words.next()?, words.next()?))
    });
    mounts
        .filter(|(place, _)| folder.starts_with(place))
        .max_by_key(|(place, _)| place.len())
        .map_or("unknown".to_owned(), |(_, kind)| kind.to_owned())
}

/// How often in a second a file in the folder is appended to by 4 KiB and synced.
pub(crate) fn syncs_per_second(folder: &Path, during: Duration) -> f64 {
    let path = folder.join("syncs");
    let mut file = File::create(&path).unwrap();
    let page = [0x5a_u8; 4096];
    let begun = Instant::now();
    let mut count = 0_u32;
    while begun.elapsed() < during {
        file.write_all(&page).unwrap();
        file.sync_data().unwrap();
        count += 1;
    }
    let rate = f64::from(count) / begun.elapsed().as_secs_f64();
    fs::remove_file(path).unwrap();
    rate
}

/// How long this process's threads were on a core, in seconds, but for those of that name.
pub(crate) fn cpu_seconds_without(name: &str) -> f64 {
    cpu_seconds(|thread| thread != name)
}

/// How long this process's threads of that name were on a core, in seconds.
pub(crate) fn cpu_seconds_of(name: &str) -> f64 {
    cpu_seconds(|thread| thread == name)
}

fn cpu_seconds(is_counted: impl Fn(&str) -> bool) -> f64 {
    let threads = fs::read_dir("/proc/self/task").unwrap().filter_map(Result::ok);
    let nanoseconds = threads.filter_map(|thread| {
        let name = fs::read_to_string(thread.path().join("comm")).ok()?;
        let ran = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        is_counted(name.trim_end()).then(|| ran.split(' ').next()?.parse::<u64>().ok())?
    });
    nanoseconds.sum::<u64>() as f64 / 1e9
}

/// The memory that a process holds, in bytes.
pub(crate) fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() * 1024
}
