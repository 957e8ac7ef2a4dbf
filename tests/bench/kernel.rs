//! What the kernel counts about a process.

use std::error::Error;
use std::time::Duration;

/// The most memory that a process ever had, as the kernel counts it.
pub fn peak_memory_kib(process: u32) -> Result<u64, Box<dyn Error>> {
    status_kib(process, "VmHWM:")
}

/// The memory that a process has now.
pub fn memory_kib(process: u32) -> Result<u64, Box<dyn Error>> {
    status_kib(process, "VmRSS:")
}

/// How long a process has been computing, in the kernel's ticks of ten milliseconds.
pub fn computing_time(process: u32) -> Result<Duration, Box<dyn Error>> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name may hold spaces; it ends with the last bracket. User and system time are the fields 14 and 15.
    let fields = stat.rsplit_once(')').ok_or("the kernel tells no times here")?.1;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks = ticks.sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks.saturating_mul(10)))
}

fn status_kib(process: u32, line: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let found = status.lines().find_map(|text| text.strip_prefix(line));
    let found = found.and_then(|rest| rest.split_whitespace().next());
    Ok(found.ok_or("the kernel counts no memory here")?.parse()?)
}
