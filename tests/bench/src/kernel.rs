//! Process statistics from the kernel.

use std::{fs, time::Duration};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::Failure;

/// The kernel counts processor time in ticks of this many milliseconds.
const TICK_MS: u64 = 10;

/// The peak memory of a process, in bytes.
pub fn peak_memory(process: u32) -> Result<u64, Failure> {
    status_bytes(process, "VmHWM:")
}

/// The current memory of a process, in bytes.
pub fn memory(process: u32) -> Result<u64, Failure> {
    status_bytes(process, "VmRSS:")
}

/// The processor time of a process.
pub fn computing_time(process: u32) -> Result<Duration, Failure> {
    Ok(time(Stat::of(process)?.own_ticks))
}

/// The processor time of a process and of all its children, those that have ended included.
pub fn computing_time_of_family(parent: u32) -> Result<Duration, Failure> {
    let stat = Stat::of(parent)?;
    let mut ticks = stat.own_ticks.saturating_add(stat.ticks_of_ended_children);
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let process = name.to_str().and_then(|name| name.parse().ok());
        // A process that has ended since it was listed counts as an ended child at the next reading.
        if let Some(Ok(stat)) = process.map(Stat::of)
            && stat.parent == u64::from(parent)
        {
            ticks = ticks.saturating_add(stat.own_ticks);
        }
    }
    Ok(time(ticks))
}

/// Lets this process, and those that it starts, open as many files as the system allows. A thousand connections need
/// more than the usual 1,024.
pub fn open_many_files() -> Result<(), Failure> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

/// What `/proc/<id>/stat` says about a process.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u64,
    own_ticks: u64,
    ticks_of_ended_children: u64,
}

impl Stat {
    fn of(process: u32) -> Result<Self, Failure> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        Self::read(&stat).ok_or_else(|| "the kernel reports no times here".into())
    }

    fn read(stat: &str) -> Option<Self> {
        // The second field is the name. It may contain spaces, and ends with the last bracket.
        let (_, from_the_third) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = from_the_third.split_whitespace().collect();
        let field = |number: usize| fields.get(number.checked_sub(3)?)?.parse::<u64>().ok();
        Some(Self {
            parent: field(4)?,
            own_ticks: field(14)?.saturating_add(field(15)?),
            ticks_of_ended_children: field(16)?.saturating_add(field(17)?),
        })
    }
}

const fn time(ticks: u64) -> Duration {
    Duration::from_millis(ticks.saturating_mul(TICK_MS))
}

fn status_bytes(process: u32, line: &str) -> Result<u64, Failure> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let found = status.lines().find_map(|text| text.strip_prefix(line));
    let found = found.and_then(|rest| rest.split_whitespace().next());
    let kib: u64 = found.ok_or("the kernel reports no memory here")?.parse()?;
    Ok(kib.saturating_mul(1_024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_a_process_are_counted_from_the_end_of_its_name() {
        let stat = "42 (a name) with (brackets) S 7 42 42 0 -1 4194560 1 2 3 4 500 60 70 8 20 0 1 0 99";
        let expected = Stat { parent: 7, own_ticks: 560, ticks_of_ended_children: 78 };
        assert_eq!(Stat::read(stat), Some(expected));
        assert_eq!(Stat::read("42 (cut) S 7 42"), None);
    }
}
